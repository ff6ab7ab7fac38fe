//! Maps two child lists (thesis, definition 3.3.1).
//!
//! The definition takes the best pair above the threshold, then recursively maps the lists before and after it. The
//! greedy form here visits pairs best first and accepts each one that keeps order with the accepted pairs. The result
//! is the same (the tests check it): a pair keeps order with the accepted pairs exactly if it is inside one block of
//! the recursion. `dp` computes the heaviest order-preserving matching instead.

use super::accepted::Accepted;
use super::anchors::{anchors, fix};
use super::best_first::{self, BestFirst};
use super::equality::{Equality, Side};
use super::options::ChildMap;
use super::options::EtdmOptions;
use super::pair::Pair;

/// Window size. Gaps that are too large even after anchoring are mapped window by window.
const WINDOW: usize = 512;

/// Up to this number of pairs, listing and sorting all of them is cheapest.
const SHORT: usize = 256;

/// The mapping of two child lists, ascending on the left. Sets `approximate` if the lists are too long for the exact
/// algorithm.
pub fn map_children(
    equality: &Equality<'_>,
    left: &[usize],
    right: &[usize],
    options: &EtdmOptions,
    approximate: &mut bool,
) -> Vec<Pair> {
    let sides = |shape, list: &[usize]| -> Vec<Side> { list.iter().map(|n| Side::new(shape, *n)).collect() };
    let (a, b) = (sides(equality.left.shape, left), sides(equality.right.shape, right));
    let mut pairs = Vec::new();
    if a.len().saturating_mul(b.len()) <= options.large_pairs {
        map_block(equality, &a, &b, options, &mut pairs);
    } else {
        *approximate = true;
        map_anchored(equality, &a, &b, options, &mut pairs);
    }
    pairs.sort_unstable();
    pairs
}

fn map_block(equality: &Equality<'_>, a: &[Side], b: &[Side], options: &EtdmOptions, out: &mut Vec<Pair>) {
    match options.child_map {
        ChildMap::Greedy => greedy(equality, a, b, options.keep_order, out),
        ChildMap::Dp => heaviest(equality, a, b, out),
    }
}

fn greedy(equality: &Equality<'_>, a: &[Side], b: &[Side], keep_order: bool, out: &mut Vec<Pair>) {
    let mut accepted = Accepted::new(a.len(), b.len(), keep_order);
    if a.len() * b.len() <= SHORT {
        let mut found = best_first::all(equality, a, b);
        found.sort_unstable();
        found.iter().for_each(|candidate| accepted.offer(candidate.i(), candidate.k));
    } else {
        let mut found = BestFirst::new(equality, a, b);
        while let Some(candidate) = found.next(&accepted) {
            accepted.offer(candidate.i(), candidate.k);
        }
    }
    out.extend(accepted.pairs.iter().map(|(i, k)| (a[*i as usize].node, b[*k as usize].node)));
}

/// The order-preserving matching with the highest sum of probabilities, then the smallest sum of displacements.
fn heaviest(equality: &Equality<'_>, a: &[Side], b: &[Side], out: &mut Vec<Pair>) {
    let found = best_first::all(equality, a, b);
    let width = b.len() + 1;
    let mut best = vec![(0.0_f64, 0_i64); (a.len() + 1) * width];
    let mut next = found.iter().peekable();
    for i in 1..=a.len() {
        for k in 1..=b.len() {
            let skip = heavier(best[(i - 1) * width + k], best[i * width + k - 1]);
            best[i * width + k] = match next.peek() {
                Some(c) if (c.i() as usize + 1, c.k as usize + 1) == (i, k) => {
                    let before = best[(i - 1) * width + k - 1];
                    let step = (c.p(), -i64::from(c.off()));
                    next.next();
                    heavier(skip, (before.0 + step.0, before.1 + step.1))
                }
                _ => skip,
            };
        }
    }
    let (mut i, mut k) = (a.len(), b.len());
    while i > 0 && k > 0 {
        let here = best[i * width + k];
        if here == best[(i - 1) * width + k] {
            i -= 1;
        } else if here == best[i * width + k - 1] {
            k -= 1;
        } else {
            out.push((a[i - 1].node, b[k - 1].node));
            i -= 1;
            k -= 1;
        }
    }
}

fn heavier(x: (f64, i64), y: (f64, i64)) -> (f64, i64) {
    if x.0.total_cmp(&y.0).then(x.1.cmp(&y.1)).is_ge() { x } else { y }
}

/// Maps lists whose product of lengths exceeds `large_pairs`. Anchors are nodes that are equal and unique on both sides
/// (by id, then by whole subtree). The longest ascending chain of anchors is mapped, then the gaps; gaps that are still
/// too large are cut into windows. The authors' HybEx packs such lists into artificial elements, which changes the
/// tree.
fn map_anchored(equality: &Equality<'_>, a: &[Side], b: &[Side], options: &EtdmOptions, out: &mut Vec<Pair>) {
    let (left, right) = (equality.left, equality.right);
    let by_id = anchors(a, b, |s| left.fields.id[s.node], |s| right.fields.id[s.node]);
    for (gap_a, gap_b) in fix(a, b, &by_id, out) {
        let by_hash = anchors(gap_a, gap_b, |s| left.hashes.full[s.node], |s| right.hashes.full[s.node]);
        for (small_a, small_b) in fix(gap_a, gap_b, &by_hash, out) {
            map_gap(equality, small_a, small_b, options, out);
        }
    }
}

fn map_gap(equality: &Equality<'_>, a: &[Side], b: &[Side], options: &EtdmOptions, out: &mut Vec<Pair>) {
    if a.len().saturating_mul(b.len()) <= options.large_pairs {
        map_block(equality, a, b, options, out);
        return;
    }
    // Windows are paired from the left, as the tie rule of the exact algorithm pairs equal nodes.
    for (x, y) in a.chunks(WINDOW).zip(b.chunks(WINDOW)) {
        map_block(equality, x, y, options, out);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::equality_weights::EqualityWeights;
    use crate::learn_options::Preset;
    use dehusk_html::ParseOptions;
    use dehusk_html::{Tree, parse};

    fn body(html: &str) -> (Tree, Vec<usize>) {
        let tree = parse(html, &ParseOptions::default());
        let list = tree.shape.children(tree.body().unwrap()).collect();
        (tree, list)
    }

    fn map(a: &str, b: &str, learn: &EtdmOptions) -> (Vec<(usize, usize)>, bool) {
        let ((a, left), (b, right)) = (body(a), body(b));
        let equality = Equality::new(a.compared(), b.compared(), learn);
        let mut approximate = false;
        let pairs = map_children(&equality, &left, &right, learn, &mut approximate);
        let at = |list: &[usize], n: usize| list.iter().position(|x| *x == n).unwrap();
        (pairs.iter().map(|(x, y)| (at(&left, *x), at(&right, *y))).collect(), approximate)
    }

    /// Definition 3.3.1 literally: the best pair, then the lists before it, then the lists after it.
    fn literal(equality: &Equality<'_>, a: &[Side], b: &[Side], out: &mut Vec<Pair>) {
        let mut found = best_first::all(equality, a, b);
        found.sort();
        let Some(best) = found.first() else { return };
        let (i, k) = (best.i() as usize, best.k as usize);
        literal(equality, &a[..i], &b[..k], out);
        out.push((a[i].node, b[k].node));
        literal(equality, &a[i + 1..], &b[k + 1..], out);
    }

    /// Weight of the heaviest matching, by trying all of them.
    fn best_sum(equality: &Equality<'_>, a: &[Side], b: &[Side]) -> f64 {
        let (Some((x, rest)), false) = (a.split_first(), b.is_empty()) else { return 0.0 };
        let mut best = best_sum(equality, rest, b);
        for (k, y) in b.iter().enumerate() {
            if let Some(p) = equality.score_above_threshold(*x, *y) {
                best = best.max(p + best_sum(equality, rest, &b[k + 1..]));
            }
        }
        best
    }

    fn soup(tags: &[usize]) -> String {
        const TAGS: [&str; 7] = [
            "<div class=a>x</div>",
            "<div class='a b'></div>",
            "<div></div>",
            "<p id=i>1</p>",
            "<p>2</p>",
            "<ul><li>1<li>2</ul>",
            "<div class='a c' title=t></div>",
        ];
        tags.iter().map(|t| TAGS[*t]).collect()
    }

    proptest! {
        #[test]
        fn the_sorted_pass_equals_the_recursion(
            a in proptest::collection::vec(0..7_usize, 1..9), b in proptest::collection::vec(0..7_usize, 1..9),
        ) {
            let learn = EtdmOptions::thesis2014();
            let ((a, left), (b, right)) = (body(&soup(&a)), body(&soup(&b)));
            let equality = Equality::new(a.compared(), b.compared(), &learn);
            let fast = map_children(&equality, &left, &right, &learn, &mut false);
            let sides = |shape, list: &[usize]| -> Vec<Side> { list.iter().map(|n| Side::new(shape, *n)).collect() };
            let mut slow = Vec::new();
            literal(&equality, &sides(&a.shape, &left), &sides(&b.shape, &right), &mut slow);
            prop_assert_eq!(fast, slow);
        }

        #[test]
        fn best_first_equals_all_candidates_sorted(
            a in proptest::collection::vec((0..7_usize, 1..9_usize), 1..30),
            b in proptest::collection::vec((0..7_usize, 1..9_usize), 1..30),
            preset in 0..3_usize,
            keep_order: bool,
            gone in 1..6_usize,
        ) {
            let preset = [Preset::Thesis2014, Preset::Hybex2020, Preset::Dehusk][preset];
            let learn = EtdmOptions { keep_order, ..preset.learn().etdm };
            // Runs of similar nodes, so that some kinds are large.
            let runs = |list: &[(usize, usize)]| -> Vec<usize> {
                list.iter().flat_map(|(tag, n)| std::iter::repeat_n(*tag, n * n / 4 + 1)).collect()
            };
            let ((a, mut left), (b, right)) = (body(&soup(&runs(&a))), body(&soup(&runs(&b))));
            // A stored template lacks some children; the others keep their positions.
            left.retain(|n| gone == 1 || n % gone != 0);
            let equality = Equality::new(a.compared(), b.compared(), &learn);
            let sides = |shape, list: &[usize]| -> Vec<Side> { list.iter().map(|n| Side::new(shape, *n)).collect() };
            let (x, y) = (sides(&a.shape, &left), sides(&b.shape, &right));
            let mut accepted = Accepted::new(x.len(), y.len(), keep_order);
            let mut found = best_first::all(&equality, &x, &y);
            found.sort();
            found.iter().for_each(|candidate| accepted.offer(candidate.i(), candidate.k));
            let want: Vec<_> = accepted.pairs.iter().map(|(i, k)| (left[*i as usize], right[*k as usize])).collect();
            prop_assert_eq!(map_children(&equality, &left, &right, &learn, &mut false), want);
        }

        #[test]
        fn dp_is_the_heaviest_matching(
            a in proptest::collection::vec(0..7_usize, 1..6), b in proptest::collection::vec(0..7_usize, 1..6),
        ) {
            let learn = EtdmOptions { child_map: ChildMap::Dp, ..EtdmOptions::thesis2014() };
            let ((a, left), (b, right)) = (body(&soup(&a)), body(&soup(&b)));
            let equality = Equality::new(a.compared(), b.compared(), &learn);
            let sides = |shape, list: &[usize]| -> Vec<Side> { list.iter().map(|n| Side::new(shape, *n)).collect() };
            let sum: f64 = map_children(&equality, &left, &right, &learn, &mut false)
                .iter()
                .map(|(x, y)| equality.score(Side::new(&a.shape, *x), Side::new(&b.shape, *y)))
                .sum();
            let want = best_sum(&equality, &sides(&a.shape, &left), &sides(&b.shape, &right));
            prop_assert!((sum - want).abs() < 1e-9, "{} against {}", sum, want);
        }

        #[test]
        fn equal_child_lists_map_by_identity(tags in proptest::collection::vec(0..7_usize, 1..12)) {
            let learn = EtdmOptions::thesis2014();
            let html = soup(&tags);
            let (pairs, _) = map(&html, &html, &learn);
            prop_assert_eq!(pairs, (0..tags.len()).map(|i| (i, i)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn greedy_takes_the_best_pair_and_dp_the_best_sum() {
        // P(x1,y2) is the highest, but the pairs (x1,y1) and (x2,y2) have a higher sum.
        let a = "<div class='a b c d e'></div><div class='f g h a b c d e'></div>";
        let b = "<div class='a b c d x'></div><div class='a b c d e'></div>";
        let thesis = EtdmOptions::thesis2014();
        let weights = EqualityWeights { threshold: 0.3, ..thesis.weights };
        let greedy = EtdmOptions { weights, ..thesis };
        let dp = EtdmOptions { child_map: ChildMap::Dp, ..greedy.clone() };
        assert_eq!(map(a, b, &greedy).0, [(0, 1)]);
        assert_eq!(map(a, b, &dp).0, [(0, 0), (1, 1)]);
    }

    #[test]
    fn long_lists_are_anchored_and_say_so() {
        let learn = EtdmOptions::thesis2014();
        let rows = |from: usize| (from..from + 800).map(|i| format!("<p>row {i}</p>")).collect::<String>();
        let (pairs, approximate) = map(&rows(0), &rows(1), &learn);
        assert!(approximate);
        assert_eq!(pairs.len(), 799, "row 0 is gone, the others are anchored");
        assert!(pairs.iter().all(|(i, k)| *i == k + 1));
        let same = |n: usize| "<p>x</p>".repeat(n);
        let (pairs, approximate) = map(&same(3000), &same(2000), &learn);
        assert!(approximate);
        assert_eq!(pairs, (0..2000).map(|i| (i, i)).collect::<Vec<_>>());
        assert!(!map(&same(500), &same(500), &learn).1);
    }
}
