//! What the papers measured themselves against: RTDM and RTDM-TD (`rtdm.rs`), DSC (`dsc.rs`), MDR (`mdr.rs`).
//!
//! Written from descriptions in later papers, for comparison only; each file says what it had to decide. They have the
//! same input as our methods, and bounds that hold on any page.

mod dsc;
mod edit;
mod mdr;
mod rtdm;

pub use dsc::by_slope;
pub use mdr::{DataRecord, by_records, data_records};
pub use rtdm::{RtdmTemplate, rtdm_distance};
