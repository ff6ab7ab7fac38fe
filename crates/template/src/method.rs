//! The identifiers of all methods.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::learn_options::LabelBy;

/// One way to label a page. `METHODS` of `dehusk-papers` says what each one does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Evidence of all training pages, labels decided jointly. The default.
    SiteModel,
    /// Exact top-down mapping with votes (Alarte 2014).
    Etdm,
    /// Document frequency of text nodes (Gottron 2008).
    Df,
    /// The main content, by all that is known of the page's site.
    Main,
    /// Document frequency over a training set found by clustering (Gottron 2008).
    Gottron,
    /// Template strings (Foschini 2007).
    Strings,
    /// Templates of the clusters of mixed pages (Kim and Shim 2011).
    Text,
    /// Restricted top-down mapping (Reis 2004, Vieira 2006).
    Rtdm,
    /// The main content, by the page alone.
    Alone,
    /// Tag path sequence (Velloso and Dorneles 2013).
    Tps,
    /// Document slope curve (Pinto 2002).
    Dsc,
    /// Data records (Liu 2003).
    Mdr,
    /// The whole page.
    Plain,
}

impl Method {
    /// All methods, in the order of the documents.
    pub const ALL: [Method; 13] = [
        Method::SiteModel,
        Method::Etdm,
        Method::Df,
        Method::Main,
        Method::Gottron,
        Method::Strings,
        Method::Text,
        Method::Rtdm,
        Method::Alone,
        Method::Tps,
        Method::Dsc,
        Method::Mdr,
        Method::Plain,
    ];

    /// The name on the command line, in the store and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Method::SiteModel => "site_model",
            Method::Etdm => "etdm",
            Method::Df => "df",
            Method::Main => "main",
            Method::Gottron => "gottron",
            Method::Strings => "strings",
            Method::Text => "text",
            Method::Rtdm => "rtdm",
            Method::Alone => "alone",
            Method::Tps => "tps",
            Method::Dsc => "dsc",
            Method::Mdr => "mdr",
            Method::Plain => "plain",
        }
    }
}

impl Method {
    /// The method that a value of `label.by` names.
    pub fn of_label_by(label_by: LabelBy) -> Method {
        match label_by {
            LabelBy::SiteModel => Method::SiteModel,
            LabelBy::Votes => Method::Etdm,
            LabelBy::Gottron => Method::Gottron,
            LabelBy::Text => Method::Text,
        }
    }

    /// Whether it labels with a template, and with the chain behind it where the template does not fit.
    pub fn uses_chain(self) -> bool {
        matches!(self, Method::SiteModel | Method::Etdm | Method::Main)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No method has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a method")]
pub struct UnknownMethod(String);

impl FromStr for Method {
    type Err = UnknownMethod;

    fn from_str(name: &str) -> Result<Method, UnknownMethod> {
        Method::ALL.into_iter().find(|method| method.name() == name).ok_or_else(|| UnknownMethod(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_stored_as_they_are_shown() {
        for method in Method::ALL {
            assert_eq!(method.name().parse(), Ok(method));
            assert_eq!(serde_json::to_value(method).unwrap(), method.name());
        }
        assert_eq!("nonsense".parse::<Method>().unwrap_err().to_string(), "`nonsense` is not a method");
    }
}
