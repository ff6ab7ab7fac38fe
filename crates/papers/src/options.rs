//! The options of the methods that are compared.

use dehusk_template::cluster::ClusterOptions;
use serde::Serialize;

/// Options of the published methods that learning and cleaning do not need.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PapersOptions {
    /// How pages are clustered by layout (Gottron 2008).
    pub cluster: ClusterOptions,
}
