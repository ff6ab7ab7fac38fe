//! What scripts of a run have asked for: answers that are known, and those that are waited for.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use rustc_hash::FxHashMap;
use tokio::sync::oneshot;

use crate::request::Subresource;

/// Bytes of answers that are kept. The oldest go first.
const MOST_BYTES: usize = 64 << 20;

/// An answer to a script.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ScriptAnswer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Bytes,
}

/// Where an answer is sent; `None` means that there is none.
pub(crate) type Reply = oneshot::Sender<Option<Arc<ScriptAnswer>>>;

/// What is known of something that a script asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// It was answered at once.
    Answered,
    /// It was asked for already, and will be answered.
    Awaited,
    /// Nothing: it is to be requested.
    No,
}

/// Answers by what was asked for.
#[derive(Default)]
pub(crate) struct Answers {
    known: FxHashMap<Subresource, Arc<ScriptAnswer>>,
    /// What is known, oldest first.
    order: VecDeque<Subresource>,
    n_bytes: usize,
    waiting: FxHashMap<Subresource, Vec<Reply>>,
}

impl Answers {
    /// Sends the answer where it is known, or when it comes.
    pub(super) fn wait_for(&mut self, wanted: &Subresource, reply: Reply) -> Known {
        if let Some(answer) = self.known.get(wanted) {
            let _ = reply.send(Some(Arc::clone(answer)));
            return Known::Answered;
        }
        let is_awaited = self.waiting.contains_key(wanted);
        self.waiting.entry(wanted.clone()).or_default().push(reply);
        if is_awaited { Known::Awaited } else { Known::No }
    }

    /// Sends an answer to all who wait for it, and keeps it, unless it is an error that may pass.
    pub(crate) fn answer(&mut self, wanted: &Subresource, answer: Option<Arc<ScriptAnswer>>) {
        for reply in self.waiting.remove(wanted).unwrap_or_default() {
            let _ = reply.send(answer.clone());
        }
        let Some(answer) = answer.filter(|answer| answer.status < 500 && answer.status != 429) else { return };
        self.n_bytes += answer.body.len();
        if let Some(former) = self.known.insert(wanted.clone(), answer) {
            self.n_bytes -= former.body.len();
        } else {
            self.order.push_back(wanted.clone());
        }
        while self.n_bytes > MOST_BYTES
            && let Some(oldest) = self.order.pop_front()
        {
            self.n_bytes -= self.known.remove(&oldest).map_or(0, |answer| answer.body.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use dehusk_html::PageUrl;

    use super::*;

    fn wanted(path: &str) -> Subresource {
        Subresource { url: PageUrl::parse(&format!("http://s.test/{path}")).unwrap(), headers: Vec::new() }
    }

    fn answer(status: u16, n_bytes: usize) -> Arc<ScriptAnswer> {
        Arc::new(ScriptAnswer { status, headers: Vec::new(), body: vec![0; n_bytes].into() })
    }

    fn ask(answers: &mut Answers, path: &str) -> (Known, oneshot::Receiver<Option<Arc<ScriptAnswer>>>) {
        let (reply, received) = oneshot::channel();
        (answers.wait_for(&wanted(path), reply), received)
    }

    #[test]
    fn what_two_pages_ask_for_is_requested_once() {
        let mut answers = Answers::default();
        let (first, mut one) = ask(&mut answers, "a.js");
        let (second, mut other) = ask(&mut answers, "a.js");
        assert_eq!((first, second), (Known::No, Known::Awaited));
        answers.answer(&wanted("a.js"), Some(answer(200, 3)));
        assert_eq!(one.try_recv().unwrap().unwrap().body.len(), 3);
        assert!(other.try_recv().unwrap().is_some());
        assert_eq!(ask(&mut answers, "a.js").0, Known::Answered);
        let with_header = Subresource { headers: vec![("accept".into(), "text/plain".into())], ..wanted("a.js") };
        assert_eq!(answers.wait_for(&with_header, oneshot::channel().0), Known::No);
    }

    #[test]
    fn errors_that_may_pass_are_not_kept_and_the_oldest_go_first() {
        let mut answers = Answers::default();
        for (path, status, kept) in [("a", 503, Known::No), ("b", 404, Known::Answered), ("c", 429, Known::No)] {
            ask(&mut answers, path).1.close();
            answers.answer(&wanted(path), Some(answer(status, 10)));
            assert_eq!(ask(&mut answers, path).0, kept, "{path}");
        }
        for path in ["d", "e", "f"] {
            answers.answer(&wanted(path), Some(answer(200, MOST_BYTES / 2)));
        }
        let known = ["b", "d", "e", "f"].map(|path| ask(&mut answers, path).0 == Known::Answered);
        assert_eq!(known, [false, false, true, true]);
        assert_eq!(answers.n_bytes, MOST_BYTES);
    }
}
