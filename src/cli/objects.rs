//! Object stores as sources and targets, where the program was built with them.

use std::path::PathBuf;

#[cfg(feature = "objects")]
use anyhow::Context;

/// Whether a name is the address of an object.
#[cfg(feature = "objects")]
pub(super) use dehusk_files::objects::is_object;

/// The first object that could not be read to its end.
#[cfg(feature = "objects")]
pub(super) use dehusk_files::objects::read_failure;

/// There are none.
#[cfg(not(feature = "objects"))]
pub(super) fn read_failure() -> Option<String> {
    None
}

/// No name is one.
#[cfg(not(feature = "objects"))]
pub(super) fn is_object(_: &str) -> bool {
    false
}

/// The objects below an address, in the order of their keys.
#[cfg(feature = "objects")]
pub(super) fn list(address: &str) -> anyhow::Result<Vec<PathBuf>> {
    let object = dehusk_files::objects::Object::parse(address);
    let found = object.and_then(|object| object.list()).with_context(|| address.to_owned())?;
    anyhow::ensure!(!found.is_empty(), "{address}: there are no objects");
    Ok(found.into_iter().map(|(object, _)| object.address().into()).collect())
}

#[cfg(not(feature = "objects"))]
pub(super) fn list(_: &str) -> anyhow::Result<Vec<PathBuf>> {
    Ok(Vec::new())
}

/// Bytes of an object, or of all objects below an address that ends with a slash.
#[cfg(feature = "objects")]
pub(super) fn size(address: &str) -> anyhow::Result<u64> {
    let found = dehusk_files::objects::Object::parse(address).and_then(|object| {
        if address.ends_with('/') { Ok(object.list()?.iter().map(|(_, size)| size + 1).sum()) } else { object.size() }
    });
    found.with_context(|| address.to_owned())
}

#[cfg(not(feature = "objects"))]
pub(super) fn size(_: &str) -> anyhow::Result<u64> {
    Ok(0)
}

/// Sends a file to an object that is not there yet.
#[cfg(feature = "objects")]
pub(super) fn upload(address: &str, file: &std::path::Path) -> anyhow::Result<()> {
    let object = dehusk_files::objects::Object::parse(address).with_context(|| address.to_owned())?;
    anyhow::ensure!(
        !object.exists().with_context(|| address.to_owned())?,
        "{address}: there is such an object already"
    );
    object.upload(file).with_context(|| address.to_owned())
}

#[cfg(not(feature = "objects"))]
pub(super) fn upload(_: &str, _: &std::path::Path) -> anyhow::Result<()> {
    Ok(())
}
