//! The Python package `dehusk`: pages, models of sites, and cleaned pages.
//!
//! Each file holds one class or one family of functions. Everything that takes time runs without the GIL. No panic is
//! reachable from Python: wrong values raise `ValueError`, wrong types `TypeError`.

mod arrow;
mod batch;
mod cleaned;
mod extract;
mod html;
mod options;
mod page;
mod page_sample;
mod papers;
mod row;
mod site_model;

/// For what is allocated here. Python keeps its own.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The compiled part of the package.
#[pyo3::pymodule]
mod _dehusk {
    #[pymodule_export]
    use super::arrow::{clean_arrow, schema};
    #[pymodule_export]
    use super::batch::clean_batch;
    #[pymodule_export]
    use super::cleaned::PyCleaned;
    #[pymodule_export]
    use super::extract::extract;
    #[pymodule_export]
    use super::page::{PyPage, host};
    #[pymodule_export]
    use super::page_sample::PyPageSample;
    #[pymodule_export]
    use super::papers::{PyMethod, cluster, methods, records};
    #[pymodule_export]
    use super::row::columns;
    #[pymodule_export]
    use super::site_model::PySiteModel;
}
