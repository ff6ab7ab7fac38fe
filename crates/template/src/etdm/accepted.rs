//! The accepted pairs of a mapping of two child lists, and the pairs that can still be accepted.

/// Accepted pairs, ascending by left index. If order is kept, the right indices ascend too.
pub(super) struct Accepted {
    /// Left index, right index.
    pub(super) pairs: Vec<(u32, u32)>,
    /// For each right index, whether it is mapped.
    taken: Vec<bool>,
    n_left: usize,
    keep_order: bool,
}

impl Accepted {
    pub(super) fn new(n_left: usize, n_right: usize, keep_order: bool) -> Accepted {
        Accepted { pairs: Vec::new(), taken: vec![false; n_right], n_left, keep_order }
    }

    /// Accepts a pair if both indices are free. If order is kept, the pair must also cross no accepted pair.
    pub(super) fn offer(&mut self, i: u32, k: u32) {
        let Err(at) = self.pairs.binary_search_by_key(&i, |pair| pair.0) else { return };
        let in_order = (at == 0 || self.pairs[at - 1].1 < k) && self.pairs.get(at).is_none_or(|next| k < next.1);
        if !self.taken[k as usize] && (in_order || !self.keep_order) {
            self.taken[k as usize] = true;
            self.pairs.insert(at, (i, k));
        }
    }

    /// The pairs that can still be accepted.
    pub(super) fn room(&self) -> Room<'_> {
        let end = self.taken.len() as u32;
        let mut open = Vec::with_capacity(self.n_left);
        let (mut from, mut next) = (0, self.pairs.iter().peekable());
        for i in 0..self.n_left as u32 {
            let range = match next.peek() {
                Some((mapped, k)) if *mapped == i => {
                    from = k + 1;
                    next.next();
                    (0, 0)
                }
                _ if !self.keep_order => (0, end),
                Some((_, k)) => (from, *k),
                None => (from, end),
            };
            open.push(range);
        }
        Room { open, taken: &self.taken, keep_order: self.keep_order }
    }
}

/// For each left index, the range of right indices that it can still be mapped to.
pub(super) struct Room<'a> {
    open: Vec<(u32, u32)>,
    taken: &'a [bool],
    keep_order: bool,
}

impl Room<'_> {
    /// Whether this pair can be accepted.
    pub(super) fn fits(&self, i: u32, k: u32) -> bool {
        let (from, to) = self.open[i as usize];
        (from..to).contains(&k) && !self.taken[k as usize]
    }

    /// Whether any pair of a left index in `x` and a right index in `y` (ascending) can be accepted.
    pub(super) fn is_between(&self, x: &[u32], y: &[u32]) -> bool {
        if !self.keep_order && y.iter().all(|k| self.taken[*k as usize]) {
            return false;
        }
        x.iter().any(|i| {
            let (from, to) = self.open[*i as usize];
            // If order is kept, no right index between two consecutive accepted pairs is taken.
            y.get(y.partition_point(|k| *k < from)).is_some_and(|k| *k < to)
        })
    }
}
