//! Days in the forms in which pages write them.

mod months;
mod text;
mod tokens;

use std::fmt;

use crate::calendar::civil;
pub(crate) use months::month;
pub use text::find_date;
pub(super) use text::{DateForms, find_dates};

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
    /// The day of a moment in Unix milliseconds, in UTC.
    pub(super) fn of_ms(ms: i64) -> Option<Date> {
        Date::of_days(ms.div_euclid(86_400_000))
    }

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

    /// A number of days since 1 January 1970.
    fn of_days(days: i64) -> Option<Date> {
        let (year, month, day) = civil(days);
        Date::new(u64::try_from(year).ok()?, month.unsigned_abs(), day.unsigned_abs())
    }

    /// A day of the Solar Hijri calendar, by its cycle of 33 years, which holds from 1799 to 2093.
    fn of_solar_hijri(year: u64, month: u64, day: u64) -> Option<Date> {
        let n_days = if month <= 6 { 31 } else { 30 };
        if !(1360..1480).contains(&year) || !(1..=12).contains(&month) || !(1..=n_days).contains(&day) {
            return None;
        }
        let (year, month, day) = (year as i64 + 1595, month as i64, day as i64);
        let before_month = if month <= 7 { (month - 1) * 31 } else { (month - 7) * 30 + 186 };
        let leap_days = year / 33 * 8 + (year % 33 + 3) / 4;
        // Days since the beginning of year 0 of the Gregorian calendar, which is 719,528 days before 1970.
        Date::of_days(-355_668 + 365 * year + leap_days + before_month + day - 719_528)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_of_the_solar_hijri_calendar() {
        let day = |year, month, day| Date::of_solar_hijri(year, month, day).map(|date| date.to_string());
        assert_eq!(day(1403, 1, 1).as_deref(), Some("2024-03-20"));
        assert_eq!(day(1403, 12, 30).as_deref(), Some("2025-03-20"));
        assert_eq!(day(1404, 7, 1).as_deref(), Some("2025-09-23"));
        assert_eq!(day(1404, 13, 1), None);
        assert_eq!(day(1300, 1, 1), None);
    }

    #[test]
    fn days_beside_each_other() {
        let date = |text| find_date(text).unwrap();
        assert!(date("2024-02-29").is_next_to(date("2024-03-01")));
        assert!(date("2023-12-31").is_next_to(date("2024-01-01")));
        assert!(!date("2024-01-01").is_next_to(date("2024-01-03")));
        assert_eq!(Date::of_ms(1_795_258_071_000), Some(date("2026-11-21")));
    }
}
