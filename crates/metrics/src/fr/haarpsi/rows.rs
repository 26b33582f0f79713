//! The row arithmetic of HaarPSI.

use multiversion::multiversion;

/// Writes the weighted sum of red, green and blue.
#[multiversion(targets("x86_64+avx2"))]
pub fn weigh(rgb: [&Vec<f32>; 3], weights: [f32; 3], out: &mut [f32]) {
    for (((out, r), g), b) in out.iter_mut().zip(rgb[0]).zip(rgb[1]).zip(rgb[2]) {
        *out = weights[0] * r + weights[1] * g + weights[2] * b;
    }
}

/// Sums over squares of twice the side, from two rows of sums that are `step` columns apart.
#[multiversion(targets("x86_64+avx2"))]
pub fn sum_squares(rows: [&[f32]; 2], step: usize, out: &mut [f32]) {
    let [upper, lower] = rows;
    let left = upper.iter().zip(lower);
    let right = upper[step..].iter().zip(&lower[step..]);
    for (out, ((a, b), (c, d))) in out.iter_mut().zip(left.zip(right)) {
        *out = (a + b) + (c + d);
    }
}

/// Magnitudes of the Haar coefficients across and down.
#[inline(always)]
fn haar(upper: (&f32, &f32), lower: (&f32, &f32)) -> (f32, f32) {
    let (falling, rising) = (upper.0 - lower.1, upper.1 - lower.0);
    ((falling - rising).abs(), (falling + rising).abs())
}

/// One minus the similarity of two magnitudes; exactly zero if they are equal.
#[inline(always)]
fn loss(first: f32, second: f32, stability: f32) -> f32 {
    let difference = first - second;
    difference * difference / (first * first + second * second + stability)
}

/// Adds the loss between the coefficients of both images, across and down.
#[multiversion(targets("x86_64+avx2"))]
pub fn add_haar_loss(
    [reference, distorted]: [[&[f32]; 2]; 2],
    half: usize,
    stability: f32,
    across: &mut [f32],
    down: &mut [f32],
) {
    let first = reference.map(|row| row.iter().zip(&row[half..]));
    let second = distorted.map(|row| row.iter().zip(&row[half..]));
    let ([a, b], [c, d]) = (first, second);
    for ((((across, down), (a, b)), c), d) in across.iter_mut().zip(down).zip(a.zip(b)).zip(c).zip(d) {
        let first = haar(a, b);
        let second = haar(c, d);
        *across += loss(first.0, second.0, stability);
        *down += loss(first.1, second.1, stability);
    }
}

/// The larger of the two images' coefficients, across and down.
#[multiversion(targets("x86_64+avx2"))]
pub fn haar_weights([reference, distorted]: [[&[f32]; 2]; 2], across: &mut [f32], down: &mut [f32]) {
    let first = reference.map(|row| row.iter().zip(&row[4..]));
    let second = distorted.map(|row| row.iter().zip(&row[4..]));
    let ([a, b], [c, d]) = (first, second);
    for ((((across, down), (a, b)), c), d) in across.iter_mut().zip(down).zip(a.zip(b)).zip(c).zip(d) {
        let first = haar(a, b);
        let second = haar(c, d);
        *across = first.0.max(second.0);
        *down = first.1.max(second.1);
    }
}

/// Adds the loss between the chroma of both images.
#[multiversion(targets("x86_64+avx2"))]
pub fn add_chroma_loss([reference, distorted]: [[&[f32]; 2]; 2], stability: f32, out: &mut [f32]) {
    let first = reference[0].windows(2).zip(reference[1].windows(2));
    let second = distorted[0].windows(2).zip(distorted[1].windows(2));
    for ((out, (a, b)), (c, d)) in out.iter_mut().zip(first).zip(second) {
        let first = ((a[0] + b[0]) + (a[1] + b[1])).abs();
        let second = ((c[0] + d[0]) + (c[1] + d[1])).abs();
        *out += loss(first, second, stability);
    }
}

/// The weighted difference between the logistic function of a similarity of 1 and that of the
/// actual similarity. `losses` are twice one minus the similarity.
#[multiversion(targets("x86_64+avx2"))]
pub fn pool_row(losses: [&[f32]; 3], weights: [&[f32]; 2], slope: f32, chroma_share: f32, out: &mut [f32]) {
    // 1 / (1 + tail) - 1 / (1 + tail * exp(slope * loss)), without the cancellation.
    let tail = (-slope).exp();
    let scale = tail / (1.0 + tail);
    let lack = |loss: f32| {
        let growth = exp(0.5 * slope * loss);
        scale * (growth - 1.0) / (1.0 + tail * growth)
    };
    let losses = losses[0].iter().zip(losses[1]).zip(losses[2]);
    let weights = weights[0].iter().zip(weights[1]);
    for ((out, ((&across, &down), &chroma)), (&wide, &high)) in out.iter_mut().zip(losses).zip(weights) {
        *out = wide * lack(across) + high * lack(down) + chroma_share * (wide + high) * lack(chroma);
    }
}

/// The weighted mean of the similarities, or the plain mean where all weights are zero.
pub fn local_similarity(losses: [&[f32]; 3], weights: [&[f32]; 2], chroma_share: f32, out: &mut [f32]) {
    for (x, out) in out.iter_mut().enumerate() {
        let (wide, high) = (weights[0][x].max(f32::MIN_POSITIVE), weights[1][x].max(f32::MIN_POSITIVE));
        let both = wide + high;
        let loss = wide * losses[0][x] + high * losses[1][x] + chroma_share * both * losses[2][x];
        *out = 1.0 - 0.5 * loss / ((1.0 + chroma_share) * both);
    }
}

/// The exponential of a number from 0 to 80, exact to a unit or two in the last place. The result
/// is the same on every machine, and loops over it vectorize.
#[inline(always)]
fn exp(value: f32) -> f32 {
    const ROUND: f32 = 12_582_912.0;
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let shifted = value * std::f32::consts::LOG2_E + ROUND;
    let whole = shifted - ROUND;
    let rest = value - whole * LN_2_HIGH - whole * LN_2_LOW;
    let mut series = 1.0 / 5040.0;
    for factor in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        series = series * rest + factor;
    }
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(1.0f32.to_bits()));
    series * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_is_the_exponential() {
        for value in (0..=84_000).map(|i| i as f32 * 1e-3) {
            let expected = f64::from(value).exp();
            assert!((f64::from(exp(value)) / expected - 1.0).abs() < 4e-7, "{value}");
        }
        assert_eq!(exp(0.0), 1.0);
    }
}
