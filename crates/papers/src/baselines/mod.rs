//! Baselines that the papers compare with: RTDM and RTDM-TD (`rtdm.rs`), DSC (`dsc.rs`), MDR (`mdr.rs`).
//!
//! They are written from descriptions in later papers, for comparison only. Each file lists its own choices. The
//! baselines take the same input as our methods, and their cost is bounded on any page.

mod dsc;
mod edit;
mod mdr;
mod rtdm;

pub use dsc::by_slope;
pub use mdr::{DataRecord, by_records, data_records};
pub use rtdm::{RtdmPage, RtdmTemplate, rtdm_distance};
