//! Stored forms of plain values: structs, lists, numbers and strings, of which a serializer refuses none.

use serde::Serialize;

/// The value as JSON.
pub fn json_of(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_else(|e| unreachable!("a plain value was refused: {e}"))
}

/// The value as MessagePack, with the names of its fields.
pub fn message_pack_of(value: &impl Serialize) -> Vec<u8> {
    rmp_serde::to_vec_named(value).unwrap_or_else(|e| unreachable!("a plain value was refused: {e}"))
}
