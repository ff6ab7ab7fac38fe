//! Which of the days in a line is that of publication, and which that of the last change, by the words beside them.

use super::date::Date;
use super::found::DateReader;

/// What a day in a text is, as its words say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DateLabel {
    Published,
    Changed,
}

/// What stands beside a day of publication, as lower-case parts of words.
#[rustfmt::skip]
const PUBLISHED: [&str; 35] = [
    "published", "posted on", "created on", "released on", "first published", "veröffentlicht", "publiziert",
    "erschienen", "erstellt am", "publié le", "paru le", "publicado", "publicada", "publicat", "pubblicato",
    "gepubliceerd", "geplaatst", "опубликован", "опубліковано", "opublikowan", "publicerad", "publisert", "udgivet",
    "julkaistu", "yayınlan", "đăng", "เผยแพร่", "प्रकाशित", "منتشر", "نشر", "发布", "發布", "公開", "投稿", "입력",
];

/// What stands beside the day of the last change.
#[rustfmt::skip]
const CHANGED: [&str; 32] = [
    "updated", "modified", "last edited", "last change", "revised", "geändert", "änderung", "aktualisiert",
    "mis à jour", "mise à jour", "modifié", "actualizado", "actualitzat", "atualizado", "aggiornat", "bijgewerkt",
    "gewijzigd", "обновлен", "оновлено", "zaktualizowan", "uppdaterad", "oppdatert", "opdateret", "päivitetty",
    "güncelle", "cập nhật", "อัปเดต", "अपडेट", "به‌روز", "更新", "수정", "編集",
];

/// The days of a text with what its words say of each. A word belongs to the day behind it; one that has no day behind
/// it, to the day before.
pub(super) fn labeled_dates(text: &str, reader: &DateReader) -> Vec<(Date, Option<DateLabel>)> {
    let dates = reader.all(text);
    let mut labeled = Vec::new();
    for (number, &(date, start)) in dates.iter().enumerate() {
        let before = number.checked_sub(1).map_or(0, |before| dates[before].1);
        let after = dates.get(number + 1).map_or(text.len(), |(_, start)| *start);
        let ahead = last_label(&text[before..start]);
        let behind = || last_label(&text[start..after]).filter(|_| number + 1 == dates.len() && number == 0);
        labeled.push((date, ahead.or_else(behind)));
    }
    labeled
}

/// Whether a text begins with what stands beside a day.
pub(super) fn begins_with_label(text: &str) -> bool {
    let lower = text.to_lowercase();
    PUBLISHED.iter().chain(&CHANGED).any(|word| lower.starts_with(word))
}

/// The label that stands last in a text.
fn last_label(text: &str) -> Option<DateLabel> {
    let lower = text.to_lowercase();
    let last = |words: &[&str]| words.iter().filter_map(|word| lower.rfind(word)).max();
    match (last(&PUBLISHED), last(&CHANGED)) {
        (Some(published), Some(changed)) if published > changed => Some(DateLabel::Published),
        (_, Some(_)) => Some(DateLabel::Changed),
        (Some(_), None) => Some(DateLabel::Published),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::date::DateForms;

    #[test]
    fn words_say_which_day_it_is() {
        let reader = DateReader { forms: DateForms::default(), latest: None };
        let labels = |text: &str| labeled_dates(text, &reader).into_iter().map(|(_, label)| label).collect::<Vec<_>>();
        use DateLabel::{Changed, Published};
        assert_eq!(labels("Published: 2 March 2026 | Updated: 9 March 2026"), [Some(Published), Some(Changed)]);
        assert_eq!(labels("2 March 2026 (updated 9 March 2026)"), [None, Some(Changed)]);
        assert_eq!(labels("2026年3月9日 更新"), [Some(Changed)]);
        assert_eq!(labels("最終更新 2026年3月9日 公開 2026年3月2日"), [Some(Changed), Some(Published)]);
        assert_eq!(labels("9 March 2026"), [None]);
    }
}
