//! Values of parameters.

use std::borrow::Cow;

/// A value of a parameter.
#[derive(Clone, Debug)]
pub(crate) enum Value<'a> {
    Null,
    Whole(i64),
    Real(f64),
    Truth(bool),
    Text(Cow<'a, str>),
    Bytes(Cow<'a, [u8]>),
    /// Whole numbers, for statements of PostgreSQL.
    #[cfg(feature = "postgres")]
    Wholes(&'a [i64]),
    /// Texts, for statements of PostgreSQL.
    #[cfg(feature = "postgres")]
    Texts(&'a [String]),
}

/// Values of the parameters of a statement, in their order.
macro_rules! params {
    () => { &[] };
    ($($value:expr),+ $(,)?) => { &[$($crate::sql::Value::from($value)),+] };
}
pub(crate) use params;

macro_rules! from_whole {
    ($($of:ty),+) => {$(
        impl From<$of> for Value<'_> {
            fn from(number: $of) -> Self {
                Value::Whole(i64::from(number))
            }
        }
    )+};
}
from_whole!(i64, i32, u32, u16);

impl From<&i64> for Value<'_> {
    fn from(number: &i64) -> Self {
        Value::Whole(*number)
    }
}

impl From<f64> for Value<'_> {
    fn from(number: f64) -> Self {
        Value::Real(number)
    }
}

impl From<bool> for Value<'_> {
    fn from(truth: bool) -> Self {
        Value::Truth(truth)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Value::Text(Cow::Borrowed(text))
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(text: &'a String) -> Self {
        Value::Text(Cow::Borrowed(text))
    }
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Value::Text(Cow::Owned(text))
    }
}

impl<'a> From<&'a [u8]> for Value<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Value::Bytes(Cow::Borrowed(bytes))
    }
}

impl<'a> From<&'a Vec<u8>> for Value<'a> {
    fn from(bytes: &'a Vec<u8>) -> Self {
        Value::Bytes(Cow::Borrowed(bytes))
    }
}

impl From<Vec<u8>> for Value<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Value::Bytes(Cow::Owned(bytes))
    }
}

impl<'a> From<&'a Option<String>> for Value<'a> {
    fn from(text: &'a Option<String>) -> Self {
        text.as_deref().into()
    }
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}

#[cfg(feature = "postgres")]
impl<'a> From<&'a [i64]> for Value<'a> {
    fn from(numbers: &'a [i64]) -> Self {
        Value::Wholes(numbers)
    }
}

#[cfg(feature = "postgres")]
impl<'a> From<&'a [String]> for Value<'a> {
    fn from(texts: &'a [String]) -> Self {
        Value::Texts(texts)
    }
}
