//! The DevTools protocol over a pair of pipes: JSON messages that end with a zero byte.
//!
//! A pipe has no port that other users of the machine could connect to, and the browser ends with it.

use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot};

use crate::RenderError;

/// Bytes of a message of the browser: the tree of a page is one.
const MOST_BYTES: u64 = 256 << 20;

/// Events of a page that may wait. A page with more of them is given up.
const MOST_EVENTS: usize = 10_000;

/// Something that happened in a page.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) method: String,
    pub(crate) params: Value,
    /// The session that it came from: the page itself, or something that it has begun.
    pub(crate) session: String,
}

/// A connection to a browser.
pub(crate) struct Connection {
    next: AtomicU64,
    outgoing: mpsc::UnboundedSender<Vec<u8>>,
    shared: Mutex<Shared>,
}

#[derive(Default)]
struct Shared {
    is_closed: bool,
    /// Commands without a reply.
    open: FxHashMap<u64, oneshot::Sender<Result<Value, String>>>,
    /// Who listens to each session.
    listeners: FxHashMap<String, mpsc::Sender<Event>>,
}

impl Connection {
    /// Begins to read and write. Both end when the browser does.
    pub(crate) fn start(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Arc<Connection> {
        let (outgoing, waiting) = mpsc::unbounded_channel();
        let connection = Arc::new(Connection { next: AtomicU64::new(1), outgoing, shared: Mutex::default() });
        tokio::spawn(write(writer, waiting));
        tokio::spawn(read(reader, Arc::clone(&connection)));
        connection
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the browser has ended.
    pub(crate) fn is_closed(&self) -> bool {
        self.shared().is_closed
    }

    /// Sends a command whose reply says nothing.
    pub(crate) fn tell(&self, session: Option<&str>, method: &'static str, params: Value) {
        let _ = self.send(session, method, params);
    }

    fn send(&self, session: Option<&str>, method: &'static str, params: Value) -> u64 {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let mut message = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        let _ = self.outgoing.send(bytes);
        id
    }

    /// Sends a command and waits for its reply.
    pub(crate) async fn call(
        &self,
        session: Option<&str>,
        method: &'static str,
        params: Value,
    ) -> Result<Value, RenderError> {
        let (reply, replied) = oneshot::channel();
        {
            // Under one lock with the sending: the reply must find who waits for it.
            let mut shared = self.shared();
            if shared.is_closed {
                return Err(RenderError::Gone);
            }
            let id = self.send(session, method, params);
            shared.open.insert(id, reply);
        }
        match replied.await {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(reason)) => Err(RenderError::Protocol { method, reason }),
            Err(_) => Err(RenderError::Gone),
        }
    }

    /// The events of a session, and of what it begins.
    pub(crate) fn listen(&self, session: &str) -> mpsc::Receiver<Event> {
        let (sender, receiver) = mpsc::channel(MOST_EVENTS);
        self.shared().listeners.insert(session.to_owned(), sender);
        receiver
    }

    /// Drops who listens to this session and to what it has begun.
    pub(crate) fn forget(&self, session: &str) {
        let mut shared = self.shared();
        if let Some(listener) = shared.listeners.remove(session) {
            shared.listeners.retain(|_, other| !other.same_channel(&listener));
        }
    }

    fn take(&self, message: Value) {
        let mut shared = self.shared();
        if let Some(id) = message["id"].as_u64() {
            if let Some(reply) = shared.open.remove(&id) {
                let _ = reply.send(reply_of(message));
            }
            return;
        }
        let Some(session) = message["sessionId"].as_str().map(str::to_owned) else { return };
        let Some(listener) = shared.listeners.get(&session).cloned() else { return };
        if message["method"] == "Target.attachedToTarget"
            && let Some(begun) = message["params"]["sessionId"].as_str()
            && let Entry::Vacant(place) = shared.listeners.entry(begun.to_owned())
        {
            place.insert(listener.clone());
        }
        let Value::Object(mut message) = message else { return };
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
        let params = message.remove("params").unwrap_or_default();
        if listener.try_send(Event { method, params, session }).is_err() {
            shared.listeners.retain(|_, other| !other.same_channel(&listener));
        }
    }

    fn close(&self) {
        let mut shared = self.shared();
        shared.is_closed = true;
        shared.open.clear();
        shared.listeners.clear();
    }
}

fn reply_of(mut message: Value) -> Result<Value, String> {
    match message.get("error") {
        Some(error) => Err(error["message"].as_str().unwrap_or("no reason given").to_owned()),
        None => Ok(message["result"].take()),
    }
}

async fn write(mut writer: impl AsyncWrite + Unpin, mut waiting: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(message) = waiting.recv().await {
        if writer.write_all(&message).await.is_err() || writer.flush().await.is_err() {
            return;
        }
    }
}

async fn read(reader: impl AsyncRead + Unpin, connection: Arc<Connection>) {
    let mut reader = BufReader::with_capacity(1 << 16, reader);
    let mut message = Vec::new();
    loop {
        message.clear();
        let end = (&mut reader).take(MOST_BYTES).read_until(0, &mut message).await;
        if end.is_err() || message.pop() != Some(0) {
            return connection.close();
        }
        if let Ok(message) = serde_json::from_slice(&message) {
            connection.take(message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A connection, and the browser's ends of its pipes.
    fn connected() -> (Arc<Connection>, tokio::io::DuplexStream) {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (reader, writer) = tokio::io::split(ours);
        (Connection::start(reader, writer), theirs)
    }

    async fn next_message(browser: &mut tokio::io::DuplexStream) -> Value {
        let mut message = Vec::new();
        loop {
            match browser.read_u8().await.unwrap() {
                0 => return serde_json::from_slice(&message).unwrap(),
                byte => message.push(byte),
            }
        }
    }

    #[tokio::test]
    async fn replies_find_their_commands_in_any_order() {
        let (connection, mut browser) = connected();
        let (one, other) = (Arc::clone(&connection), Arc::clone(&connection));
        let one = tokio::spawn(async move { one.call(None, "One", json!({})).await });
        let first = next_message(&mut browser).await;
        let other = tokio::spawn(async move { other.call(Some("s"), "Other", json!({ "a": 1 })).await });
        let second = next_message(&mut browser).await;
        assert_eq!((&second["sessionId"], &second["params"]["a"]), (&json!("s"), &json!(1)));
        let replies = format!(
            "{{\"id\":{},\"error\":{{\"message\":\"no\"}}}}\0{{\"id\":{},\"result\":{{\"b\":2}}}}\0",
            second["id"], first["id"]
        );
        browser.write_all(replies.as_bytes()).await.unwrap();
        assert_eq!(one.await.unwrap(), Ok(json!({ "b": 2 })));
        let refused = RenderError::Protocol { method: "Other", reason: "no".into() };
        assert_eq!(other.await.unwrap(), Err(refused));
    }

    #[tokio::test]
    async fn what_a_page_begins_is_heard_with_the_page() {
        let (connection, mut browser) = connected();
        let mut events = connection.listen("page");
        let attached = r#"{"method":"Target.attachedToTarget","sessionId":"page","params":{"sessionId":"worker"}}"#;
        let paused = r#"{"method":"Fetch.requestPaused","sessionId":"worker","params":{"requestId":"7"}}"#;
        let other = r#"{"method":"Fetch.requestPaused","sessionId":"stranger","params":{}}"#;
        browser.write_all(format!("{attached}\0{other}\0{paused}\0not json\0").as_bytes()).await.unwrap();
        assert_eq!(events.recv().await.unwrap().method, "Target.attachedToTarget");
        let event = events.recv().await.unwrap();
        assert_eq!((event.session.as_str(), &event.params["requestId"]), ("worker", &json!("7")));
        connection.forget("page");
        assert!(events.recv().await.is_none());
    }

    #[tokio::test]
    async fn an_end_of_the_browser_is_told_to_all_who_wait() {
        let (connection, browser) = connected();
        let mut events = connection.listen("page");
        drop(browser);
        assert!(events.recv().await.is_none());
        assert_eq!(connection.call(None, "Any", json!({})).await, Err(RenderError::Gone));
        assert!(connection.is_closed());
    }
}
