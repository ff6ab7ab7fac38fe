//! Statements that another thread ends.

use super::Store;
use super::sql::Connection;

/// Ends the statement that a connection runs. On a server, statements have a time limit instead.
pub struct Interrupt(Option<rusqlite::InterruptHandle>);

impl Interrupt {
    /// Ends what runs now, with an error; does nothing where nothing runs.
    pub fn interrupt(&self) {
        if let Some(handle) = &self.0 {
            handle.interrupt();
        }
    }
}

impl Store {
    /// What ends a statement of this connection.
    pub fn interrupt(&self) -> Interrupt {
        Interrupt(match &self.connection {
            Connection::Sqlite(connection) => Some(connection.0.get_interrupt_handle()),
            #[cfg(feature = "postgres")]
            Connection::Postgres(_) => None,
        })
    }

    /// Runs a statement that never ends by itself, so that tests can interrupt it.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when it is interrupted.
    #[doc(hidden)]
    pub fn run_without_end(&self) -> Result<(), super::StoreError> {
        self.batch("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n")
    }
}
