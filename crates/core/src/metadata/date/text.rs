//! The days that a text names.

use super::Date;
use super::months::{era, month, solar_hijri_month};
use super::tokens::{Token, tokens};
use Token::{Mark, Number, Word};

/// How numbers are read that can mean several days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::metadata) struct DateForms {
    /// Whether 1/2/2024 is the second of January.
    pub(in crate::metadata) month_first: bool,
    /// Whether 1403/5/12 is of the Solar Hijri calendar.
    pub(in crate::metadata) solar_hijri: bool,
}

/// What follows a date that was read, with the date.
type Found<'a, 't> = Option<(Date, &'a [Token<'t>])>;

/// The first day that a text names.
///
/// Read are ISO 8601 with or without a time, `20240131`, day and month in words in about thirty languages, East Asian
/// dates with Japanese eras, Thai years, the Solar Hijri calendar in words, and numbers with the year first or last.
/// With the year last and no word, `.` and `-` mean day before month; `/` does, too, unless the first number is a month
/// and the second cannot be one.
pub fn find_date(text: &str) -> Option<Date> {
    find_dates(text, DateForms::default()).next().map(|(date, _)| date)
}

/// The days that a text names, each with the byte at which it begins.
pub(in crate::metadata) fn find_dates(text: &str, forms: DateForms) -> impl Iterator<Item = (Date, usize)> {
    let (tokens, starts) = tokens(text);
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < tokens.len() {
            let start = at;
            at += 1;
            if let Some((date, rest)) = date_at(&tokens[start..], forms) {
                at = tokens.len() - rest.len();
                return Some((date, starts[start]));
            }
        }
        None
    })
}

fn date_at<'a, 't>(tokens: &'a [Token<'t>], forms: DateForms) -> Found<'a, 't> {
    let found = |date: Option<Date>, rest: &'a [Token<'t>]| date.map(|date| (date, rest));
    match *tokens {
        [Number(all, 8), ref rest @ ..] | [Number(all, 14), ref rest @ ..] => {
            let day = if all > 100_000_000 { all / 1_000_000 } else { all };
            found(Date::new(day / 10_000, day / 100 % 100, day % 100), rest)
        }
        [Number(y, 4), Mark(a @ ('-' | '/' | '.')), Number(m, 1..=2), Mark(b), Number(d, 1..=2), ref rest @ ..]
            if a == b =>
        {
            found(year_month_day(y, m, d, forms), rest)
        }
        [Number(y, 4), Mark(' '), Number(m, 2), Mark(' '), Number(d, 2), ref rest @ ..] => {
            found(Date::new(y, m, d), rest)
        }
        [Number(y, 4), Word("年" | "년"), ref rest @ ..] => east_asian(y, rest),
        // A year of two digits is read only with dots: 31.01.24.
        [Number(d, 2), Mark('.'), Number(m, 2), Mark('.'), Number(y, 2), ref rest @ ..] => {
            found(Date::new(2000 + y, m, d), rest)
        }
        [Number(one, 1..=2), Mark(a @ ('-' | '/' | '.')), Number(two, 1..=2), Mark(b), Number(y, 4), ref rest @ ..]
            if a == b =>
        {
            let month_first = a == '/' && (two > 12 || (forms.month_first && one <= 12));
            let (d, m) = if month_first { (two, one) } else { (one, two) };
            found(Date::new(common_era(y), m, d), rest)
        }
        [Number(one, 1..=2), ref rest @ ..] => day_month_year(one, rest),
        [Number(y, 4), ref rest @ ..] => {
            // "m." and "gada" mean year in Lithuanian and Latvian.
            let (name, rest) = word(skip(rest))?;
            let (name, rest) = match name {
                "m" => word(skip(rest))?,
                "gada" => return found_day_month(y, rest),
                name => (name, rest),
            };
            let (d, rest) = number(skip(rest))?;
            found(Date::new(y, month(name)?, d), rest)
        }
        [Word(name), ref rest @ ..] => {
            if let Some((before, after)) = era(name) {
                return year_of_era(before, after, rest);
            }
            let (d, rest) = number(skip(rest))?;
            let m = month(name)?;
            let (y, rest) = number(skip(ordinal(rest)))?;
            found(Date::new(common_era(y), m, d), rest)
        }
        _ => None,
    }
}

fn year_month_day(year: u64, month: u64, day: u64, forms: DateForms) -> Option<Date> {
    let solar_hijri = || Date::of_solar_hijri(year, month, day).filter(|_| forms.solar_hijri);
    Date::new(common_era(year), month, day).or_else(solar_hijri)
}

/// A year of Thailand counts from 543 before our era.
fn common_era(year: u64) -> u64 {
    if (2533..2643).contains(&year) { year - 543 } else { year }
}

/// 令和8年3月9日. The first year of an era has a word instead of a number.
fn year_of_era<'a, 't>(before: u64, after: &str, tokens: &'a [Token<'t>]) -> Found<'a, 't> {
    let (year, rest) = match (after, tokens) {
        ("元", rest) => (1, rest),
        ("", [Number(year, 1..=2), rest @ ..]) => (*year, rest),
        _ => return None,
    };
    match rest {
        [Word("年"), rest @ ..] => east_asian(before + year, rest),
        _ => None,
    }
}

fn east_asian<'a, 't>(year: u64, tokens: &'a [Token<'t>]) -> Found<'a, 't> {
    let (month, rest) = number(skip(tokens))?;
    let [Word("月" | "월"), rest @ ..] = rest else { return None };
    let (day, rest) = number(skip(rest))?;
    Date::new(year, month, day).map(|date| (date, rest))
}

fn day_month_year<'a, 't>(day: u64, tokens: &'a [Token<'t>]) -> Found<'a, 't> {
    let (name, rest) = word(skip(ordinal(tokens)))?;
    // "de" stands between in Spanish and Portuguese, "of" in English.
    let (name, rest) = if matches!(name, "de" | "of" | "di" | "d") { word(skip(rest))? } else { (name, rest) };
    // Vietnamese counts the months: "9 tháng 3 năm 2026".
    let (named, rest) =
        if name == "tháng" { number(skip(rest)).map(|(m, rest)| (Some(m), rest))? } else { (None, rest) };
    let solar_hijri = solar_hijri_month(name);
    let month = named.or(solar_hijri).or_else(|| month(name))?;
    let rest = match skip(rest) {
        [Word("de" | "del" | "năm" | "พ.ศ." | "ค.ศ."), rest @ ..] => skip(rest),
        rest => rest,
    };
    let (year, rest) = number(rest)?;
    let date = if solar_hijri.is_some() {
        Date::of_solar_hijri(year, month, day)
    } else {
        Date::new(common_era(year), month, day)
    };
    date.map(|date| (date, rest))
}

/// "18. janvārī", after its year.
fn found_day_month<'a, 't>(year: u64, tokens: &'a [Token<'t>]) -> Found<'a, 't> {
    let (day, rest) = number(skip(tokens))?;
    let (name, rest) = word(skip(rest))?;
    Date::new(year, month(name)?, day).map(|date| (date, rest))
}

/// What follows `th`, `º` and the like after a day.
fn ordinal<'a, 't>(tokens: &'a [Token<'t>]) -> &'a [Token<'t>] {
    match tokens {
        [Word("st" | "nd" | "rd" | "th" | "er" | "º" | "e"), rest @ ..] => rest,
        tokens => tokens,
    }
}

/// What follows blanks and marks.
fn skip<'a, 't>(tokens: &'a [Token<'t>]) -> &'a [Token<'t>] {
    let is_mark = |token: &&Token<'_>| matches!(token, Mark(' ' | ',' | '.' | '-' | '/' | 'º' | '\''));
    let n = tokens.iter().take(3).take_while(is_mark).count();
    &tokens[n..]
}

fn word<'a, 't>(tokens: &'a [Token<'t>]) -> Option<(&'t str, &'a [Token<'t>])> {
    match tokens {
        [Word(word), rest @ ..] => Some((word, rest)),
        _ => None,
    }
}

fn number<'a, 't>(tokens: &'a [Token<'t>]) -> Option<(u64, &'a [Token<'t>])> {
    match tokens {
        [Number(number, _), rest @ ..] => Some((*number, rest)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str, forms: DateForms) -> Option<String> {
        find_dates(text, forms).next().map(|(date, _)| date.to_string())
    }

    #[test]
    fn dates_in_many_forms() {
        for text in [
            "2024-01-31",
            "2024-01-31T10:00:00+0100",
            "2024/1/31",
            "2024 01 31",
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
            "2024 m. sausio 31 d.",
            "2024. gada 31. janvārī",
            "ngày 31 tháng 1 năm 2024",
            "31 जनवरी 2024",
            "३१ जनवरी २०२४",
            "31 มกราคม 2567",
            "31 ม.ค. 2567",
            "31 มกราคม พ.ศ. 2567",
            "31/01/2567",
            "۱۱ بهمن ۱۴۰۲",
            "٣١ يناير ٢٠٢٤",
            "2024年1月31日",
            "令和6年1月31日",
            "2024년 1월 31일",
            "10:20, 31 Jan 2024",
            "2024 Jan 31",
            "31-Jan-2024",
        ] {
            assert_eq!(day(text, DateForms::default()).as_deref(), Some("2024-01-31"), "{text}");
        }
        assert_eq!(day("平成元年5月1日", DateForms::default()), None, "1989 is before the web");
        assert_eq!(day("令和元年5月1日", DateForms::default()).as_deref(), Some("2019-05-01"));
    }

    #[test]
    fn numbers_are_read_by_the_forms_of_the_page() {
        let forms = |month_first, solar_hijri| DateForms { month_first, solar_hijri };
        assert_eq!(day("3/4/2024", forms(false, false)).as_deref(), Some("2024-04-03"));
        assert_eq!(day("3/4/2024", forms(true, false)).as_deref(), Some("2024-03-04"));
        assert_eq!(day("13/4/2024", forms(true, false)).as_deref(), Some("2024-04-13"));
        assert_eq!(day("3.4.2024", forms(true, false)).as_deref(), Some("2024-04-03"));
        assert_eq!(day("1403/01/01", forms(false, false)), None);
        assert_eq!(day("۱۴۰۳/۰۱/۰۱", forms(false, true)).as_deref(), Some("2024-03-20"));
    }

    #[test]
    fn all_dates_of_a_line_are_found_where_they_begin() {
        let text = "Published: March 2, 2026 | Updated: 9 March 2026";
        let found: Vec<(String, &str)> =
            find_dates(text, DateForms::default()).map(|(date, at)| (date.to_string(), &text[at..at + 3])).collect();
        assert_eq!(found, [("2026-03-02".to_owned(), "Mar"), ("2026-03-09".to_owned(), "9 M")]);
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
