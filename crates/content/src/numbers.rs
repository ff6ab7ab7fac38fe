//! Functions that give the same bits on every machine.
//!
//! The logarithm and the exponential of the standard library are those of the platform's C library, which differ in
//! the last bits.

/// ln(1 + x).
pub(super) fn ln1p(x: f32) -> f32 {
    ln(1.0 + x)
}

/// Natural logarithm.
pub(super) fn ln(x: f32) -> f32 {
    libm::logf(x)
}

/// e^x.
pub(super) fn exp(x: f32) -> f32 {
    libm::expf(x)
}

/// `part` of `whole`, 0 of nothing.
pub(super) fn share(part: f32, whole: f32) -> f32 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
