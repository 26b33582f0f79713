//! Elementary functions in plain single-precision arithmetic. Loops over them vectorize, and the
//! results are identical on every machine. Relative errors are about 1e-7; the polynomials are
//! from Cephes.

use std::f32::consts::{FRAC_PI_2, FRAC_PI_4, LN_2, LOG2_E};

/// Adding this to a number below 2^22 rounds it to an integer, stored in the low bits.
const ROUNDER: f32 = 12_582_912.0;

/// `e^x` for `x` from -87 to 88; other values are clamped.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let x = if x < -87.0 { -87.0 } else { x };
    let x = if x > 88.0 { 88.0 } else { x };
    let shifted = x * LOG2_E + ROUNDER;
    let whole = shifted - ROUNDER;
    let rest = x - whole * LN_2_HIGH - whole * LN_2_LOW;
    let mut series = 1.987_569_1e-4;
    series = series * rest + 1.398_2e-3;
    series = series * rest + 8.333_452e-3;
    series = series * rest + 4.166_579_6e-2;
    series = series * rest + 1.666_666_5e-1;
    series = series * rest + 0.5;
    let fraction = series * rest * rest + rest + 1.0;
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(0x3f80_0000));
    fraction * power
}

/// The natural logarithm of a positive normal number.
#[inline(always)]
pub fn ln(x: f32) -> f32 {
    let bits = x.to_bits();
    // Keeps the mantissa in sqrt(1/2) .. sqrt(2), so that the series is short and ln(1) is exactly
    // 0.
    let offset = bits.wrapping_sub(0x3f35_04f3);
    let exponent = ((offset as i32) >> 23) as f32;
    let mantissa = f32::from_bits((offset & 0x007f_ffff).wrapping_add(0x3f35_04f3));
    let x = mantissa - 1.0;
    let mut series = 7.037_683_6e-2;
    series = series * x - 1.151_461_e-1;
    series = series * x + 1.167_699_9e-1;
    series = series * x - 1.242_014_1e-1;
    series = series * x + 1.424_932_3e-1;
    series = series * x - 1.666_805_8e-1;
    series = series * x + 2.000_071_5e-1;
    series = series * x - 2.499_999_4e-1;
    series = series * x + 3.333_333e-1;
    let square = x * x;
    x - 0.5 * square + series * square * x + exponent * LN_2
}

/// `x^exponent` for a positive normal `x`.
#[inline(always)]
pub fn pow(x: f32, exponent: f32) -> f32 {
    exp(exponent * ln(x))
}

/// The real part of `x^exponent` for any `x`: MATLAB's `real(x .^ exponent)`. `cosine` is
/// `cos(pi * exponent)`.
#[inline(always)]
pub fn real_pow(x: f32, exponent: f32, cosine: f32) -> f32 {
    let size = x.abs();
    let size = if size < f32::MIN_POSITIVE { f32::MIN_POSITIVE } else { size };
    let power = pow(size, exponent);
    if x < 0.0 { power * cosine } else { power }
}

/// The angle of the point (x, y) whose coordinates are both at least 0: from 0 to pi/2.
#[inline(always)]
pub fn quadrant_angle(x: f32, y: f32) -> f32 {
    const TAN_PI_8: f32 = 0.414_213_57;
    let (low, high) = if y > x { (x, y) } else { (y, x) };
    let ratio = low / if high < f32::MIN_POSITIVE { f32::MIN_POSITIVE } else { high };
    let reduced = if ratio > TAN_PI_8 { (ratio - 1.0) / (ratio + 1.0) } else { ratio };
    let base = if ratio > TAN_PI_8 { FRAC_PI_4 } else { 0.0 };
    let square = reduced * reduced;
    let mut series = 8.053_744_5e-2;
    series = series * square - 1.387_768_6e-1;
    series = series * square + 1.997_771_1e-1;
    series = series * square - 3.333_295e-1;
    let angle = base + (series * square * reduced + reduced);
    if y > x { FRAC_PI_2 - angle } else { angle }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_those_of_single_precision() {
        for step in 0..20_000 {
            let x = step as f32 * 0.0085 - 85.0;
            assert!((f64::from(exp(x)) / f64::from(x).exp() - 1.0).abs() < 3e-7, "exp({x})");
            let x = (step as f32 + 0.5) * 0.013;
            let error = (f64::from(ln(x)) - f64::from(x).ln()).abs();
            assert!(error < 1.5e-7 * f64::from(x).ln().abs().max(1.0), "ln({x}): {error}");
            for exponent in [0.02f32, 0.4, 2.4] {
                let expected = f64::from(x).powf(f64::from(exponent));
                assert!((f64::from(pow(x, exponent)) / expected - 1.0).abs() < 3e-6, "{x}^{exponent}");
            }
            let y = ((step * 7919) % 20_000) as f32 * 0.01;
            let expected = f64::from(y).atan2(f64::from(x));
            assert!((f64::from(quadrant_angle(x, y)) - expected).abs() < 3e-7, "angle of {x},{y}");
        }
    }

    #[test]
    fn powers_of_one_and_of_negative_numbers_are_exact() {
        assert_eq!(pow(1.0, 0.03), 1.0);
        let cosine = (std::f64::consts::PI * 0.03).cos() as f32;
        assert!((real_pow(-0.5, 0.03, cosine) - 0.5f32.powf(0.03) * cosine).abs() < 1e-6);
        assert_eq!(quadrant_angle(0.0, 0.0), 0.0);
        assert_eq!(quadrant_angle(0.0, 2.0), FRAC_PI_2);
    }
}
