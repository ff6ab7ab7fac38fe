//! Conversion between days and dates of the civil calendar in UTC. Reads no clock.

/// Days since 1 January 1970 (after Howard Hinnant's `days_from_civil`).
pub fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year - era * 400;
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Year, month and day of a number of days since 1970.
pub(crate) fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days - era * 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// The days since 1970 of a date such as `2026-11-22`.
pub fn day_number(date: &str) -> Option<i64> {
    let mut parts = date.split('-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let days = days_since_1970(year, month, day);
    (parts.next().is_none() && civil(days) == (year, month, day)).then_some(days)
}

/// Days since 1970 as a date such as `2026-11-22`.
pub fn iso_day(days: i64) -> String {
    let (year, month, day) = civil(days);
    format!("{year:04}-{month:02}-{day:02}")
}

/// The year of a Unix time in milliseconds.
pub fn year(ms: i64) -> i64 {
    civil(ms.div_euclid(86_400_000)).0
}

/// A Unix time in milliseconds as `2026-11-21T10:47:51Z`.
pub fn iso_8601(ms: i64) -> String {
    let (year, month, day) = civil(ms.div_euclid(86_400_000));
    let seconds = ms.div_euclid(1000).rem_euclid(86_400);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// A Unix time in milliseconds as the 14-digit timestamp of web archives.
pub fn digits(ms: i64) -> String {
    iso_8601(ms).chars().filter(char::is_ascii_digit).collect()
}

/// A time as sitemaps have it (W3C, Date and Time Formats): `2026-11-28T02:00:00+01:00`, with or without seconds, or a
/// day, which stands for its end. Unix milliseconds.
pub fn w3c_time(text: &str) -> Option<i64> {
    const DAY: i64 = 86_400_000;
    let (date, time) = match text.trim().split_once(['T', ' ']) {
        Some((date, time)) => (date, Some(time)),
        None => (text.trim(), None),
    };
    let part = |text: &str, digits: usize, most: i64| {
        let is_number = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<i64>().ok().filter(|n| is_number && *n <= most)
    };
    let mut parts = date.split('-');
    let (year, month) = (part(parts.next()?, 4, 9999)?, part(parts.next()?, 2, 12)?);
    let days = days_since_1970(year, month, part(parts.next()?, 2, 31)?) * DAY;
    let Some(time) = time else { return Some(days + DAY - 1) };
    let (clock, zone) = time.find(['Z', '+', '-']).map_or((time, ""), |at| time.split_at(at));
    let minutes = |text: &str| {
        let (hours, rest) = text.split_once(':')?;
        Some(part(hours, 2, 24)? * 60 + part(rest.get(..2)?, 2, 59)?)
    };
    let offset = match zone.as_bytes().first() {
        Some(b'+') => minutes(&zone[1..])?,
        Some(b'-') => -minutes(&zone[1..])?,
        _ => 0,
    };
    let seconds = clock.get(6..8).map_or(Some(0), |seconds| part(seconds, 2, 60))?;
    Some(days + (minutes(clock)? - offset) * 60_000 + seconds * 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_go_both_ways() {
        assert_eq!(iso_8601(0), "1970-01-01T00:00:00Z");
        assert_eq!(iso_8601(1_795_258_071_999), "2026-11-21T10:47:51Z");
        assert_eq!(digits(1_795_258_071_000), "20261121104751");
        assert_eq!(iso_8601(-1), "1969-12-31T23:59:59Z");
        for day in [-800_000, -1, 0, 59, 60, 365, 11_016, 20_778, 2_000_000] {
            let (year, month, day_of_month) = civil(day);
            assert_eq!(days_since_1970(year, month, day_of_month), day);
        }
        assert_eq!(year(1_795_258_071_000), 2026);
    }

    #[test]
    fn times_of_sitemaps_are_read() {
        let day = days_since_1970(2026, 11, 28) * 86_400_000;
        assert_eq!(w3c_time("2026-11-28"), Some(day + 86_399_999));
        assert_eq!(w3c_time(" 2026-11-28T02:00:30.5+01:00 "), Some(day + 3_630_000));
        assert_eq!(w3c_time("2026-11-28T02:00Z"), Some(day + 7_200_000));
        assert_eq!(w3c_time("2026-11-28 02:00:00-05:30"), Some(day + 27_000_000));
        for wrong in ["", "2026", "2026-13-01", "28.11.2026", "2026-11-28T25", "2026-11-28Tx:y", "2026-11-28T02:00+é"]
        {
            assert_eq!(w3c_time(wrong), None, "{wrong}");
        }
    }
}
