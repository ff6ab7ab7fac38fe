//! A connection to PostgreSQL.
//!
//! The store runs on threads of its own, so each connection has a small runtime that runs while it is waited for.

use std::cell::{Cell, RefCell};
use std::error::Error;
use std::future::Future;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::SinkExt;
use rustc_hash::FxHashMap;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Client, Statement};

use super::{Row, SqlError, SqlResult, Value};
use crate::StoreError;
use crate::postgres::Address;

/// A connection to a server. It must not be dropped within a runtime of tokio.
pub(crate) struct PostgresConnection {
    runtime: Runtime,
    client: RefCell<Client>,
    address: Address,
    /// Prepared statements by their text.
    statements: RefCell<FxHashMap<String, Statement>>,
    /// Longest wait for an answer, if there is one.
    limit: Cell<Option<Duration>>,
    /// Whether an answer did not come in time.
    is_broken: Cell<bool>,
}

impl From<tokio_postgres::Error> for SqlError {
    fn from(error: tokio_postgres::Error) -> SqlError {
        SqlError::Postgres(error)
    }
}

impl PostgresConnection {
    pub(crate) fn open(address: &Address) -> Result<PostgresConnection, StoreError> {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(StoreError::NoThread)?;
        let client = runtime.block_on(address.connect())?;
        Ok(PostgresConnection {
            runtime,
            client: RefCell::new(client),
            address: address.clone(),
            statements: RefCell::default(),
            limit: Cell::new(None),
            is_broken: Cell::new(false),
        })
    }

    /// Where it leads.
    pub(crate) fn address(&self) -> &Address {
        &self.address
    }

    /// Answers that take longer break the connection: a network that swallows packets ends none.
    pub(crate) fn set_limit(&self, limit: Duration) {
        self.limit.set(Some(limit));
    }

    /// Opens the connection anew where it is broken.
    pub(crate) fn restore(&self) -> Result<(), StoreError> {
        if self.is_broken.get() || self.client.borrow().is_closed() {
            let client = self.runtime.block_on(self.address.connect())?;
            self.statements.borrow_mut().clear();
            *self.client.borrow_mut() = client;
            self.is_broken.set(false);
        }
        Ok(())
    }

    fn wait<T>(&self, answer: impl Future<Output = Result<T, tokio_postgres::Error>>) -> SqlResult<T> {
        if self.is_broken.get() {
            return Err(SqlError::Unanswered);
        }
        self.runtime.block_on(async {
            match self.limit.get() {
                None => Ok(answer.await?),
                Some(limit) => match tokio::time::timeout(limit, answer).await {
                    Ok(answer) => Ok(answer?),
                    Err(_) => {
                        self.is_broken.set(true);
                        Err(SqlError::Unanswered)
                    }
                },
            }
        })
    }

    fn prepared(&self, sql: &str) -> SqlResult<Statement> {
        if let Some(statement) = self.statements.borrow().get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.wait(self.client.borrow().prepare(&sql.replace('?', "$")))?;
        self.statements.borrow_mut().insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    pub(super) fn execute(&self, sql: &str, values: &[Value<'_>]) -> SqlResult<usize> {
        let statement = self.prepared(sql)?;
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
        Ok(self.wait(self.client.borrow().execute(&statement, &values))? as usize)
    }

    pub(super) fn rows<T>(
        &self,
        most: usize,
        sql: &str,
        values: &[Value<'_>],
        mut read: impl FnMut(&Row<'_>) -> SqlResult<T>,
    ) -> SqlResult<Vec<T>> {
        let statement = self.prepared(sql)?;
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
        let rows = self.wait(self.client.borrow().query(&statement, &values))?;
        rows.iter().take(most).map(|row| read(&Row::Postgres(row))).collect()
    }

    pub(super) fn batch(&self, sql: &str) -> SqlResult<()> {
        self.wait(self.client.borrow().batch_execute(sql))
    }

    /// Fills a table from lines of PostgreSQL's text format.
    pub(crate) fn copy(&self, sql: &str, lines: String) -> SqlResult<u64> {
        let client = self.client.borrow();
        self.wait(async {
            let sink = client.copy_in(sql).await?;
            let mut sink = std::pin::pin!(sink);
            sink.send(Bytes::from(lines)).await?;
            sink.finish().await
        })
    }
}

/// A value is written as the type that the statement wants.
impl ToSql for Value<'_> {
    fn to_sql(&self, wanted: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Value::Null => Ok(IsNull::Yes),
            Value::Whole(number) => match *wanted {
                Type::INT2 => i16::try_from(*number)?.to_sql(wanted, out),
                Type::INT4 => i32::try_from(*number)?.to_sql(wanted, out),
                Type::FLOAT8 => (*number as f64).to_sql(wanted, out),
                Type::BOOL => (*number != 0).to_sql(wanted, out),
                _ => number.to_sql(wanted, out),
            },
            Value::Real(number) => number.to_sql(wanted, out),
            Value::Truth(truth) => match *wanted {
                Type::BOOL => truth.to_sql(wanted, out),
                _ => Value::Whole(i64::from(*truth)).to_sql(wanted, out),
            },
            // PostgreSQL has no texts with this character.
            Value::Text(text) if text.contains('\0') => text.replace('\0', "\u{fffd}").to_sql(wanted, out),
            Value::Text(text) => text.as_ref().to_sql(wanted, out),
            Value::Bytes(bytes) => bytes.as_ref().to_sql(wanted, out),
            Value::Wholes(numbers) => numbers.to_sql(wanted, out),
            Value::Texts(texts) => texts.to_sql(wanted, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A whole number of any size, or a truth.
pub(super) struct Whole(pub(super) i64);

impl<'a> FromSql<'a> for Whole {
    fn from_sql(found: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Whole(match *found {
            Type::INT2 => i16::from_sql(found, raw)?.into(),
            Type::INT4 => i32::from_sql(found, raw)?.into(),
            Type::BOOL => bool::from_sql(found, raw)?.into(),
            _ => i64::from_sql(found, raw)?,
        }))
    }

    fn accepts(found: &Type) -> bool {
        matches!(*found, Type::INT2 | Type::INT4 | Type::INT8 | Type::BOOL)
    }
}
