//! Numbers and times as people read them.

use dehusk_core::calendar::iso_8601;

/// A number with its thousands apart.
pub(super) fn count(n: i64) -> String {
    let digits = n.unsigned_abs().to_string();
    let mut out = if n < 0 { "-".to_owned() } else { String::new() };
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Minute of a time in Unix milliseconds, UTC.
pub(super) fn minute(unix_ms: i64) -> String {
    iso_8601(unix_ms).chars().take(16).collect::<String>().replace('T', " ")
}

/// A length of time.
pub(super) fn duration(ms: i64) -> String {
    match ms / 1000 {
        0 => format!("{ms} ms"),
        seconds @ 1..=119 => format!("{seconds} s"),
        seconds @ 120..=7199 => format!("{} min", seconds / 60),
        seconds => format!("{:.1} h", seconds as f64 / 3600.0),
    }
}

/// A number of bytes.
pub(super) fn bytes(n: i64) -> String {
    match n {
        0..=999 => format!("{n} B"),
        1000..=999_999 => format!("{:.1} kB", n as f64 / 1e3),
        1_000_000..=999_999_999 => format!("{:.1} MB", n as f64 / 1e6),
        _ => format!("{:.1} GB", n as f64 / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_at_a_glance() {
        assert_eq!((count(1_234_567), count(-12), count(0)), ("1,234,567".into(), "-12".into(), "0".into()));
        assert_eq!(
            (duration(80), duration(90_000), duration(7_200_000)),
            ("80 ms".into(), "90 s".into(), "2.0 h".into())
        );
        assert_eq!((bytes(12), bytes(1500), bytes(2_500_000_000)), ("12 B".into(), "1.5 kB".into(), "2.5 GB".into()));
        assert_eq!(minute(0), "1970-01-01 00:00");
    }
}
