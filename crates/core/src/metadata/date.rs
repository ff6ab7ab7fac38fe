//! Days in the forms in which pages write them.

use std::fmt;

/// A day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Date {
    /// Year, 1990 to 2099: the web is no older.
    pub year: u16,
    /// Month, from 1.
    pub month: u8,
    /// Day, from 1.
    pub day: u8,
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl Date {
    /// Whether it is the same day as the other, or the one before or after.
    pub(super) fn is_next_to(self, other: Date) -> bool {
        let next = |date: Date| {
            let (year, month, day) = (u64::from(date.year), u64::from(date.month), u64::from(date.day));
            let of_month = Date::new(year, month, day + 1);
            of_month.or_else(|| Date::new(year, month + 1, 1)).or_else(|| Date::new(year + 1, 1, 1))
        };
        self == other || next(self) == Some(other) || next(other) == Some(self)
    }

    fn new(year: u64, month: u64, day: u64) -> Option<Date> {
        let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let n_days = match month {
            2 if is_leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return None,
        };
        ((1990..2100).contains(&year) && (1..=n_days).contains(&day)).then_some(Date {
            year: year as u16,
            month: month as u8,
            day: day as u8,
        })
    }
}

/// Names of the months, and their abbreviations, in the languages of Latin, Cyrillic, Greek, Arabic and Hebrew script
/// that most pages of the web are in. Lower case; a name counts from its first three letters on where no other month
/// begins so.
#[rustfmt::skip]
const MONTHS: [&[&str]; 12] = [
    &["january", "jan", "januar", "jänner", "janvier", "janv", "enero", "ene", "gennaio", "gen", "januari", "janeiro", "styczeń", "stycznia", "января", "янв", "januára", "ledna", "ocak", "ιανουαρίου", "ianuarie", "tammikuuta", "január", "січня", "يناير", "януари", "ינואר", "בינואר", "sausio", "jaanuar", "gener", "siječnja"],
    &["february", "feb", "februar", "februari", "février", "févr", "fév", "febrero", "febbraio", "fevereiro", "fev", "luty", "lutego", "февраля", "фев", "února", "şubat", "φεβρουαρίου", "februarie", "helmikuuta", "február", "лютого", "فبراير", "февруари", "פברואר", "בפברואר", "vasario", "veebruar", "febrer", "veljače"],
    &["march", "mar", "märz", "mär", "mrz", "mars", "marzo", "maart", "mrt", "março", "marzec", "marca", "марта", "мар", "března", "mart", "μαρτίου", "martie", "maaliskuuta", "március", "березня", "marts", "مارس", "март", "maret", "מרץ", "במרץ", "kovo", "märts", "març", "ožujka"],
    &["april", "apr", "avril", "avr", "abril", "abr", "aprile", "kwiecień", "kwietnia", "апреля", "апр", "dubna", "nisan", "απριλίου", "aprilie", "huhtikuuta", "április", "квітня", "أبريل", "ابريل", "април", "אפריל", "באפריל", "balandžio", "aprill", "travnja"],
    &["may", "mai", "mayo", "maggio", "mag", "mei", "maio", "maj", "maja", "мая", "май", "května", "mayıs", "μαΐου", "toukokuuta", "május", "травня", "مايو", "מאי", "במאי", "gegužės", "maig", "svibnja"],
    &["june", "jun", "juni", "juin", "junio", "giugno", "giu", "junho", "czerwiec", "czerwca", "июня", "июн", "června", "haziran", "ιουνίου", "iunie", "kesäkuuta", "június", "червня", "يونيو", "юни", "יוני", "ביוני", "birželio", "juuni", "juny", "lipnja"],
    &["july", "jul", "juli", "juillet", "juil", "julio", "luglio", "lug", "julho", "lipiec", "lipca", "июля", "июл", "července", "temmuz", "ιουλίου", "iulie", "heinäkuuta", "július", "липня", "يوليو", "юли", "יולי", "ביולי", "liepos", "juuli", "juliol", "srpnja"],
    &["august", "aug", "août", "aout", "agosto", "ago", "augustus", "sierpień", "sierpnia", "августа", "авг", "srpna", "ağustos", "αυγούστου", "elokuuta", "augusztus", "серпня", "augusti", "أغسطس", "اغسطس", "август", "agustus", "אוגוסט", "באוגוסט", "rugpjūčio", "agost", "kolovoza", "avgust"],
    &["september", "sep", "sept", "septembre", "septiembre", "settembre", "set", "setembro", "wrzesień", "września", "сентября", "сен", "září", "eylül", "σεπτεμβρίου", "septembrie", "syyskuuta", "szeptember", "вересня", "سبتمبر", "септември", "ספטמבר", "בספטמבר", "rugsėjo", "setembre", "rujna", "septembar"],
    &["october", "oct", "oktober", "okt", "octobre", "octubre", "ottobre", "ott", "outubro", "out", "październik", "października", "октября", "окт", "října", "ekim", "οκτωβρίου", "octombrie", "lokakuuta", "október", "жовтня", "أكتوبر", "اكتوبر", "октомври", "אוקטובר", "באוקטובר", "spalio", "oktoober", "oktobar"],
    &["november", "nov", "novembre", "noviembre", "novembro", "listopad", "listopada", "ноября", "ноя", "kasım", "νοεμβρίου", "noiembrie", "marraskuuta", "листопада", "نوفمبر", "ноември", "נובמבר", "בנובמבר", "lapkričio", "studenoga", "novembar"],
    &["december", "dec", "dezember", "dez", "décembre", "déc", "diciembre", "dic", "dicembre", "dezembro", "grudzień", "grudnia", "декабря", "дек", "prosince", "aralık", "δεκεμβρίου", "decembrie", "joulukuuta", "грудня", "desember", "ديسمبر", "декември", "דצמבר", "בדצמבר", "gruodžio", "detsember", "desembre", "prosinca", "decembar"],
];

/// Number of the month with this name, from 1.
fn month(word: &str) -> Option<u64> {
    let word = word.trim_end_matches('.').to_lowercase();
    MONTHS.iter().position(|names| names.contains(&word.as_str())).map(|at| at as u64 + 1)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Token<'t> {
    /// A number of this many digits.
    Number(u64, usize),
    Word(&'t str),
    /// What stands between; white space alone is ' '.
    Mark(char),
}

/// The first day that a text names.
///
/// Read are ISO 8601 with or without a time, `20240131`, day and month in words in about thirty languages, East Asian
/// dates, and numbers with the year first or last. With the year last and no word, `.` and `-` mean day before month;
/// `/` does, too, unless the first number is a month and the second cannot be one.
pub fn find_date(text: &str) -> Option<Date> {
    let tokens = tokens(text);
    (0..tokens.len()).find_map(|at| date_at(&tokens[at..]))
}

/// Number of tokens that are looked at: a date stands at the start of what names one.
const MOST_TOKENS: usize = 200;

fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next().filter(|_| tokens.len() < MOST_TOKENS) {
        let is_same = |other: char| match c {
            c if c.is_ascii_digit() => other.is_ascii_digit(),
            // Each of these is a word by itself, in a row without blanks.
            '年' | '月' | '日' | '년' | '월' | '일' => false,
            c if c.is_alphabetic() => {
                other.is_alphabetic() && !matches!(other, '年' | '月' | '日' | '년' | '월' | '일')
            }
            c if c.is_whitespace() => other.is_whitespace(),
            _ => false,
        };
        let n = rest.char_indices().skip(1).find(|(_, other)| !is_same(*other)).map_or(rest.len(), |(at, _)| at);
        let (token, after) = rest.split_at(n);
        rest = after;
        tokens.push(match c {
            c if c.is_ascii_digit() => Token::Number(token.parse().unwrap_or(u64::MAX), token.len()),
            c if c.is_alphabetic() => Token::Word(token),
            c if c.is_whitespace() => Token::Mark(' '),
            c => Token::Mark(c),
        });
    }
    tokens
}

fn date_at(tokens: &[Token<'_>]) -> Option<Date> {
    use Token::{Mark, Number, Word};
    match *tokens {
        [Number(all, 8), ..] | [Number(all, 14), ..] => {
            let day = if all > 100_000_000 { all / 1_000_000 } else { all };
            Date::new(day / 10_000, day / 100 % 100, day % 100)
        }
        [Number(y, 4), Mark(a @ ('-' | '/' | '.')), Number(m, 1..=2), Mark(b), Number(d, 1..=2), ..] if a == b => {
            Date::new(y, m, d)
        }
        [Number(y, 4), Word("年" | "년"), ..] => east_asian(y, &tokens[2..]),
        // A year of two digits is read only with dots: 31.01.24.
        [Number(d, 2), Mark('.'), Number(m, 2), Mark('.'), Number(y, 2), ..] => Date::new(2000 + y, m, d),
        [Number(one, 1..=2), Mark(a @ ('-' | '/' | '.')), Number(two, 1..=2), Mark(b), Number(y, 4), ..] if a == b => {
            match a {
                '/' if two > 12 => Date::new(y, one, two),
                _ => Date::new(y, two, one),
            }
        }
        [Number(one, 1..=2), ..] => day_month_year(one, &tokens[1..]),
        [Number(y, 4), ..] => {
            let (name, rest) = word(skip(&tokens[1..]))?;
            let (d, _) = number(skip(rest))?;
            Date::new(y, month(name)?, d)
        }
        [Word(name), ..] => {
            let (d, rest) = number(skip(&tokens[1..]))?;
            let m = month(name)?;
            let (y, _) = number(skip(ordinal(rest)))?;
            Date::new(y, m, d)
        }
        _ => None,
    }
}

fn east_asian(year: u64, tokens: &[Token<'_>]) -> Option<Date> {
    let (month, rest) = number(skip(tokens))?;
    let rest = match rest {
        [Token::Word("月" | "월"), rest @ ..] => rest,
        _ => return None,
    };
    let (day, _) = number(skip(rest))?;
    Date::new(year, month, day)
}

fn day_month_year(day: u64, tokens: &[Token<'_>]) -> Option<Date> {
    let (name, rest) = word(skip(ordinal(tokens)))?;
    // "de" stands between in Spanish and Portuguese, "of" in English.
    let (name, rest) = if matches!(name, "de" | "of" | "di" | "d") { word(skip(rest))? } else { (name, rest) };
    let month = month(name)?;
    let rest = skip(rest);
    let rest = match rest {
        [Token::Word("de" | "del"), rest @ ..] => skip(rest),
        rest => rest,
    };
    let (year, _) = number(rest)?;
    Date::new(year, month, day)
}

/// What follows `th`, `º` and the like after a day.
fn ordinal<'a, 't>(tokens: &'a [Token<'t>]) -> &'a [Token<'t>] {
    match tokens {
        [Token::Word("st" | "nd" | "rd" | "th" | "er" | "º" | "e"), rest @ ..] => rest,
        tokens => tokens,
    }
}

/// What follows blanks and marks.
fn skip<'a, 't>(tokens: &'a [Token<'t>]) -> &'a [Token<'t>] {
    let n = tokens
        .iter()
        .take(3)
        .take_while(|t| matches!(t, Token::Mark(' ' | ',' | '.' | '-' | '/' | 'º' | '\'')))
        .count();
    &tokens[n..]
}

fn word<'a, 't>(tokens: &'a [Token<'t>]) -> Option<(&'t str, &'a [Token<'t>])> {
    match tokens {
        [Token::Word(word), rest @ ..] => Some((word, rest)),
        _ => None,
    }
}

fn number<'a, 't>(tokens: &'a [Token<'t>]) -> Option<(u64, &'a [Token<'t>])> {
    match tokens {
        [Token::Number(number, _), rest @ ..] => Some((*number, rest)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::find_date;

    #[test]
    fn dates_in_many_forms() {
        for text in [
            "2024-01-31",
            "2024-01-31T10:00:00+0100",
            "2024/1/31",
            "20240131",
            "20240131102030",
            "Posted 31.1.2024",
            "31.01.24",
            "31/01/2024",
            "01/31/2024",
            "31-01-2024",
            "January 31, 2024",
            "Jan. 31st, 2024",
            "Wed, 31 Jan 2024 10:00:00 GMT",
            "31 January 2024",
            "31st of January 2024",
            "31. Januar 2024",
            "le 31 janvier 2024",
            "31 de enero de 2024",
            "31 stycznia 2024",
            "31 января 2024 г.",
            "2024年1月31日",
            "2024년 1월 31일",
            "10:20, 31 Jan 2024",
            "2024 Jan 31",
            "31-Jan-2024",
        ] {
            assert_eq!(find_date(text).map(|date| date.to_string()).as_deref(), Some("2024-01-31"), "{text}");
        }
    }

    #[test]
    fn no_dates() {
        for text in
            ["", "Version 2.1.30", "2024-02-30", "1899-01-01", "3 of 5", "May the 4th", "192.168.10.20", "10/20"]
        {
            assert_eq!(find_date(text), None, "{text}");
        }
    }
}
