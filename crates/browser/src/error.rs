//! Why a page could not be rendered.

/// Why a page could not be rendered.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum RenderError {
    /// The program cannot be started, or it ended before it answered.
    #[error("the browser `{program}` cannot be started: {reason}")]
    Start {
        /// The program.
        program: String,
        /// What the system or the program says.
        reason: String,
    },
    /// The whole browser has ended.
    #[error("the browser has ended")]
    Gone,
    /// The process of the page has ended.
    #[error("the page has crashed, or needed more memory than render.memory")]
    Crashed,
    /// Its scripts did not come to an end.
    #[error("its scripts have worked for {seconds} s without an end (render.patience)")]
    Hung {
        /// The limit.
        seconds: u64,
    },
    /// The tree is too large.
    #[error("its tree has {nodes} elements, more than render.nodes")]
    TooManyNodes {
        /// Its elements.
        nodes: usize,
    },
    /// The tree as HTML is too long.
    #[error("its tree as HTML is longer than {limit} bytes (fetch.max_bytes)")]
    TooLong {
        /// The limit.
        limit: usize,
    },
    /// The browser did not do as asked: another version, or a defect of ours.
    #[error("the browser refuses {method}: {reason}")]
    Protocol {
        /// The command of the DevTools protocol.
        method: &'static str,
        /// What the browser says.
        reason: String,
    },
}

impl RenderError {
    /// Whether the browser is to be started again.
    pub fn ends_browser(&self) -> bool {
        matches!(self, RenderError::Gone)
    }
}
