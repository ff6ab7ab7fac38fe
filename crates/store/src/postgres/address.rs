//! Addresses of servers, and connections to them.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use tokio::time::timeout;
use tokio_postgres::config::SslMode;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::{StoreError, shown};

/// Longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// Time without an answer after which a connection is given up.
const UNANSWERED: Duration = Duration::from_secs(15);

/// The address of a database on a server.
#[derive(Clone)]
pub(crate) struct Address {
    config: Config,
    shown: String,
    /// File of the roots that the server's certificate is checked against, if not those of the web.
    roots: Option<PathBuf>,
}

impl Address {
    pub(super) fn parse(text: &str) -> Result<Address, StoreError> {
        let shown = shown(text);
        let wrong = |reason: String| StoreError::Address { path: PathBuf::from(&shown), reason };
        let (text, roots) = without_roots(text);
        let mut config: Config = text.parse().map_err(|e| wrong(reason_of(&e)))?;
        config.application_name("dehusk").keepalives_idle(UNANSWERED).tcp_user_timeout(UNANSWERED);
        // As psql does: a password in the address would be in the list of processes.
        if let (None, Ok(password)) = (config.get_password(), std::env::var("PGPASSWORD")) {
            config.password(password);
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        Ok(Address { config, shown, roots })
    }

    /// The address without its password.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    /// Opens a connection: with TLS where the server has it. With `sslmode=require` there is none without, and the
    /// certificate is checked.
    pub(crate) async fn connect(&self) -> Result<Client, StoreError> {
        if self.config.get_ssl_mode() != SslMode::Disable {
            match self.connect_with_tls().await {
                Err(StoreError::Postgres { reason, .. }) if self.is_optional(&reason) => {}
                connected => return connected,
            }
        }
        let mut plain = self.config.clone();
        plain.ssl_mode(SslMode::Disable);
        let (client, connection) = self.in_time(plain.connect(NoTls)).await?;
        tokio::spawn(connection);
        Ok(client)
    }

    async fn connect_with_tls(&self) -> Result<Client, StoreError> {
        let (client, connection) = self.in_time(self.config.connect(self.tls()?)).await?;
        tokio::spawn(connection);
        Ok(client)
    }

    /// Whether a connection without TLS is as good: the handshake failed, and TLS is not asked for.
    fn is_optional(&self, reason: &tokio_postgres::Error) -> bool {
        self.config.get_ssl_mode() == SslMode::Prefer
            && reason.as_db_error().is_none()
            && reason.to_string().contains("TLS")
    }

    async fn in_time<T>(
        &self,
        connect: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, StoreError> {
        let path = PathBuf::from(&self.shown);
        match timeout(CONNECT, connect).await {
            Ok(connected) => connected.map_err(|reason| failed(&path, reason)),
            Err(_) => Err(StoreError::Unanswered { path }),
        }
    }

    fn tls(&self) -> Result<MakeRustlsConnect, StoreError> {
        let wrong = |reason: String| StoreError::Address { path: PathBuf::from(&self.shown), reason };
        let mut roots = rustls::RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        if let Some(file) = &self.roots {
            let refused = |e: &dyn std::fmt::Display| wrong(format!("sslrootcert {}: {e}", file.display()));
            roots = rustls::RootCertStore::empty();
            for certificate in CertificateDer::pem_file_iter(file).map_err(|e| refused(&e))? {
                let certificate = certificate.map_err(|e| refused(&e))?;
                roots.add(certificate).map_err(|e| refused(&e))?;
            }
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let builder = builder.map_err(|e| wrong(e.to_string()))?;
        Ok(MakeRustlsConnect::new(builder.with_root_certificates(roots).with_no_client_auth()))
    }
}

/// An address without `sslrootcert=FILE`, which the driver does not know, and the file.
fn without_roots(text: &str) -> (String, Option<PathBuf>) {
    let Ok(mut url) = url::Url::parse(text) else { return (text.to_owned(), None) };
    let (roots, others): (Vec<_>, Vec<_>) = url.query_pairs().into_owned().partition(|(name, _)| name == "sslrootcert");
    let Some((_, file)) = roots.into_iter().next() else { return (text.to_owned(), None) };
    url.set_query(None);
    if !others.is_empty() {
        url.query_pairs_mut().extend_pairs(others);
    }
    (url.to_string(), Some(PathBuf::from(file)))
}

/// An error of the driver, with the address that it is about.
pub(crate) fn failed(path: &Path, reason: tokio_postgres::Error) -> StoreError {
    StoreError::Postgres { path: path.to_owned(), reason: Box::new(reason) }
}

/// What the driver or the server says, in one line, and what to do about it.
pub(crate) fn advice(error: &tokio_postgres::Error) -> String {
    let advice = match error.code() {
        Some(&SqlState::INVALID_CATALOG_NAME) => "; `createdb` makes it",
        Some(&SqlState::INVALID_PASSWORD | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION) => {
            "; check the user and the password in the address"
        }
        Some(&SqlState::INSUFFICIENT_PRIVILEGE) => "; the user must own the tables, or be granted them",
        Some(&SqlState::DISK_FULL) => "; free some space on the server, then run again: what was committed is safe",
        None if error.is_closed() => "; the server has closed the connection",
        _ => "",
    };
    format!("{}{advice}", reason_of(error))
}

fn reason_of(error: &tokio_postgres::Error) -> String {
    if let Some(error) = error.as_db_error() {
        let detail = error.detail().map(|detail| format!(" ({detail})")).unwrap_or_default();
        return format!("{}{detail}", error.message());
    }
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        text = format!("{text}: {inner}");
        source = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        assert_eq!(shown("postgres://me:secret@db.org:5433/crawl"), "postgres://me:***@db.org:5433/crawl");
        assert_eq!(shown("postgres://me@db.org/crawl?sslmode=require"), "postgres://me@db.org/crawl?sslmode=require");
        assert!(!shown("postgres://db.org/crawl?password=secret&a=b").contains("secret"));
        assert!(!shown("postgres://me:secret@[bad/crawl").contains("secret"));
        assert_eq!(shown("dehusk.db"), "dehusk.db");
        assert!(Address::parse("postgres://a/b?nonsense=1").is_err());
    }
}
