//! Functions that give the same bits on every machine.
//!
//! The logarithm and the exponential of the standard library are those of the platform's C library, which differ in
//! the last bits.

use std::sync::LazyLock;

/// Whole numbers below this have their logarithm in a table: most features are logarithms of counts and lengths.
const N_KNOWN: usize = 2048;

static LOGARITHMS: LazyLock<Vec<f32>> = LazyLock::new(|| (0..N_KNOWN).map(|n| libm::logf(n as f32)).collect());

/// ln(1 + x).
pub(super) fn ln1p(x: f32) -> f32 {
    ln(1.0 + x)
}

/// Natural logarithm.
pub(super) fn ln(x: f32) -> f32 {
    // Of 32 bits: the conversion is one instruction.
    let whole = x as i32;
    match LOGARITHMS.get(whole as usize) {
        Some(known) if whole as f32 == x => *known,
        _ => libm::logf(x),
    }
}

/// e^x.
pub(super) fn exp(x: f32) -> f32 {
    libm::expf(x)
}

/// `part` of `whole`, 0 of nothing.
pub(super) fn share(part: f32, whole: f32) -> f32 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_gives_what_the_function_gives() {
        for x in [0.0_f32, -0.0, 1.0, 1.5, 2047.0, 2047.5, 2048.0, 1e9, -1.0, f32::NAN] {
            assert_eq!(ln(x).to_bits(), libm::logf(x).to_bits(), "{x}");
        }
    }
}
