//! Edit distance up to a limit.

/// Number of insertions, deletions and replacements between two strings; `None` if it exceeds `most`. Only a band of
/// the table of that width is filled (Ukkonen 1985).
pub(super) fn edit_distance(a: &[u64], b: &[u64], most: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > most {
        return None;
    }
    let far = most + 1;
    let mut row: Vec<usize> = (0..=b.len()).map(|y| y.min(far)).collect();
    for (x, token) in a.iter().enumerate() {
        let (from, to) = ((x + 1).saturating_sub(most).max(1), (x + 1 + most).min(b.len()));
        let mut diagonal = row[from - 1];
        row[from - 1] = if from == 1 { (x + 1).min(far) } else { far };
        for y in from..=to {
            let above = if y == x + 1 + most { far } else { row[y] };
            let replaced = diagonal + usize::from(*token != b[y - 1]);
            diagonal = row[y];
            row[y] = replaced.min(above + 1).min(row[y - 1] + 1).min(far);
        }
    }
    Some(row[b.len()]).filter(|distance| *distance <= most)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_band_is_the_table(
            a in proptest::collection::vec(0..3_u64, 0..12), b in proptest::collection::vec(0..3_u64, 0..12), most in 0..14_usize,
        ) {
            let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
            for x in 0..=a.len() {
                for y in 0..=b.len() {
                    table[x][y] = match (x, y) {
                        (0, _) | (_, 0) => x + y,
                        _ => (table[x - 1][y - 1] + usize::from(a[x - 1] != b[y - 1]))
                            .min(table[x - 1][y] + 1)
                            .min(table[x][y - 1] + 1),
                    };
                }
            }
            let whole = table[a.len()][b.len()];
            prop_assert_eq!(edit_distance(&a, &b, most), (whole <= most).then_some(whole));
        }
    }
}
