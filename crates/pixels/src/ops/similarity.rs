//! The similarity of two numbers, `(2ab + c) / (a^2 + b^2 + c)`, as FSIM and VSI apply it to
//! chroma.

use std::f64::consts::PI;

use multiversion::multiversion;

use crate::ops::elementary;

/// Multiplies `similarity` by the similarity of both chroma components:
/// `real((S_1 .* S_2) .^ exponent)`.
#[multiversion(targets("x86_64+avx2"))]
pub fn multiply_chroma(
    (stability, exponent): (f32, f32),
    first: [&[f32]; 2],
    second: [&[f32]; 2],
    similarity: &mut [f32],
) {
    let cosine = (PI * f64::from(exponent)).cos() as f32;
    let pairs = first[0].iter().zip(first[1]).zip(second[0].iter().zip(second[1]));
    for (((&a, &b), (&c, &d)), out) in pairs.zip(similarity) {
        let first = (2.0 * a * b + stability) / (a * a + b * b + stability);
        let second = (2.0 * c * d + stability) / (c * c + d * d + stability);
        *out *= elementary::real_pow(first * second, exponent, cosine);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_components_change_nothing_and_different_ones_follow_the_formula() {
        let (a, b) = ([3.0f32, 40.0], [3.0f32, -20.0]);
        let mut similarity = [0.5f32, 0.5];
        multiply_chroma((130.0, 0.02), [&a, &b], [&a, &a], &mut similarity);
        assert_eq!(similarity[0], 0.5);
        let ratio = (2.0 * 40.0 * -20.0 + 130.0) / (1600.0 + 400.0 + 130.0f64);
        let expected = 0.5 * ratio.abs().powf(0.02) * (PI * 0.02).cos();
        assert!((f64::from(similarity[1]) - expected).abs() < 1e-5);
    }
}
