//! The map of SSIMULACRA2 in strips, for images whose errors do not fit into memory at once.
//!
//! The score is a weighted sum of the means and 4-norms of local errors `x`, for each kind,
//! channel and scale. The share of a location is `w1 x / n + w4 x^4 / (n norm^3)`; all shares add
//! up to that sum. The norm is that of the whole image, so the strips are processed twice: first
//! for the norms, then for the shares.

use fast_ssim2::Ssimulacra2ScaleMaps;

use crate::Result;

/// Rows above and below a strip that affect it: five samples of the coarsest scale, and a multiple
/// of its block.
const HALO_ROWS: usize = 192;
/// Strips must not split the pixel blocks of the coarsest scale.
const BLOCK: usize = 64;
/// Minimum number of rows of a strip including its halo, so that it has all the scales of the
/// whole image.
const LEAST_ROWS: usize = 320;
/// Pixels of a strip including its halo; each needs about 130 bytes.
const STRIP_PIXELS: usize = 5 << 20;

/// The authors' weights for each channel and scale: first for the means of the three errors, then
/// for their 4-norms.
#[rustfmt::skip]
const WEIGHTS: [f64; 108] = [
    0.0, 0.000_737_660_670_740_658_6, 0.0, 0.0, 0.000_779_348_168_286_730_9, 0.0,
    0.0, 0.000_437_115_573_010_737_9, 0.0, 1.104_172_642_665_734_6, 0.000_662_848_341_292_71, 0.000_152_316_327_837_187_52,
    0.0, 0.001_640_643_745_659_975_4, 0.0, 1.842_245_552_053_929_8, 11.441_172_603_757_666, 0.0,
    0.000_798_910_943_601_516_3, 0.000_176_816_438_078_653, 0.0, 1.878_759_497_954_638_7, 10.949_069_906_051_42, 0.0,
    0.000_728_934_699_150_807_2, 0.967_793_708_062_683_3, 0.0, 0.000_140_034_242_854_358_84, 0.998_176_697_785_496_7, 0.000_319_497_559_344_350_53,
    0.000_455_099_211_379_206_3, 0.0, 0.0, 0.001_364_876_616_324_339_8, 0.0, 0.0,
    0.0, 0.0, 0.0, 7.466_890_328_078_848, 0.0, 17.445_833_984_131_262,
    0.000_623_560_163_404_146_6, 0.0, 0.0, 6.683_678_146_179_332, 0.000_377_244_079_796_112_96, 1.027_889_937_768_264,
    225.205_153_008_492_74, 0.0, 0.0, 19.213_238_186_143_016, 0.001_140_152_458_661_836_1, 0.001_237_755_635_509_985,
    176.393_175_984_506_94, 0.0, 0.0, 24.433_009_998_704_76, 0.285_208_026_121_177_57, 0.000_448_543_692_383_340_8,
    0.0, 0.0, 0.0, 34.779_063_444_837_72, 44.835_625_328_877_896, 0.0,
    0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
    0.0, 0.000_868_055_657_329_169_8, 0.0, 0.0, 0.0, 0.0,
    0.0, 0.000_531_319_187_435_874_7, 0.0, 0.000_165_338_141_613_791_12, 0.0, 0.0,
    0.0, 0.0, 0.0, 0.000_417_917_180_325_133_6, 0.001_729_082_823_472_283_3, 0.0,
    0.002_082_700_584_663_643_7, 0.0, 0.0, 8.826_982_764_996_862, 23.192_433_439_989_26, 0.0,
    95.108_049_881_108_6, 0.986_397_803_440_068_2, 0.983_438_279_246_535_3, 0.001_228_640_504_827_849_3, 171.266_725_589_730_7, 0.980_785_887_243_537_9,
    0.0, 0.0, 0.0, 0.000_513_006_458_899_067_9, 0.0, 0.000_108_540_578_584_115_37,
];

/// The rows of a strip, without and with its halo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Strip {
    start: usize,
    end: usize,
    first: usize,
    last: usize,
}

/// Rows per strip for an image of this width.
pub(super) fn strip_rows(width: usize) -> usize {
    let rows = (STRIP_PIXELS / width.max(1)).saturating_sub(2 * HALO_ROWS);
    (rows / BLOCK * BLOCK).max(2 * BLOCK)
}

fn strips(height: usize, rows: usize) -> impl Iterator<Item = Strip> {
    (0..height).step_by(rows).map(move |start| {
        let end = (start + rows).min(height);
        let last = (end + HALO_ROWS).min(height);
        let first = start.saturating_sub(HALO_ROWS).min(last.saturating_sub(LEAST_ROWS)) / BLOCK * BLOCK;
        Strip { start, end, first, last }
    })
}

/// Computes the map of an image of this size. `errors(first, last)` returns the errors of the rows
/// `first..last`.
pub(super) fn map(
    width: usize,
    height: usize,
    rows: usize,
    errors: impl Fn(usize, usize) -> Result<Vec<Ssimulacra2ScaleMaps>>,
) -> Result<Vec<f32>> {
    let mut sums = [0.0; 54];
    for strip in strips(height, rows) {
        for (scale, errors) in errors(strip.first, strip.last)?.iter().enumerate() {
            for term in 0..9 {
                let fourth: f64 = rows_of(errors, term, strip, scale).iter().map(|&error| fourth(error)).sum();
                sums[scale * 9 + term] += fourth;
            }
        }
    }
    let mut map = Vec::with_capacity(width * height);
    for strip in strips(height, rows) {
        let errors = errors(strip.first, strip.last)?;
        let mut shares = vec![0.0; width * (strip.end - strip.start)];
        for (scale, of_scale) in errors.iter().enumerate() {
            let samples = width.div_ceil(1 << scale) * height.div_ceil(1 << scale);
            let of_samples = sample_shares(of_scale, &sums[scale * 9..][..9], strip, (scale, errors.len()), samples);
            spread(&mut shares, &of_samples, (width, height), strip.start, scale);
        }
        map.extend(shares.iter().map(|&share| share as f32));
    }
    Ok(map)
}

fn fourth(error: f32) -> f64 {
    let square = f64::from(error) * f64::from(error);
    square * square
}

/// The samples of one of the nine errors that belong to the strip itself.
fn rows_of(errors: &Ssimulacra2ScaleMaps, term: usize, strip: Strip, scale: usize) -> &[f32] {
    let planes = [&errors.ssim, &errors.artifact, &errors.detail_lost];
    let plane = &planes[term % 3][term / 3];
    let row = |y: usize| y.div_ceil(1 << scale) - (strip.first >> scale);
    plane.get(row(strip.start) * errors.width..row(strip.end) * errors.width).unwrap_or_default()
}

/// The share of each sample of a scale in the weighted sum.
fn sample_shares(
    errors: &Ssimulacra2ScaleMaps,
    sums: &[f64],
    strip: Strip,
    (scale, scales): (usize, usize),
    samples: usize,
) -> Vec<f64> {
    let mut shares = vec![0.0; rows_of(errors, 0, strip, scale).len()];
    let samples = samples as f64;
    for (term, &sum) in sums.iter().enumerate() {
        let place = (term / 3 * scales + scale) * 6 + term % 3;
        let (mean_weight, norm_weight) = (WEIGHTS[place], WEIGHTS[place + 3]);
        if mean_weight == 0.0 && norm_weight == 0.0 {
            continue;
        }
        let norm = (sum / samples).sqrt().sqrt();
        let norm_weight = if norm > 0.0 { norm_weight / norm.powi(3) } else { 0.0 };
        for (share, &error) in shares.iter_mut().zip(rows_of(errors, term, strip, scale)) {
            *share += (mean_weight * f64::from(error) + norm_weight * fourth(error)) / samples;
        }
    }
    shares
}

/// Adds the samples' shares to their pixels, so that the mean of the map is the weighted sum.
fn spread(pixels: &mut [f64], shares: &[f64], (width, height): (usize, usize), start: usize, scale: usize) {
    let (side, columns) = (1 << scale, width.div_ceil(1 << scale));
    let area = (width * height) as f64;
    for (index, row) in pixels.chunks_exact_mut(width).enumerate() {
        let block = (start + index) >> scale;
        let block_rows = side.min(height - block * side);
        let of_row = shares.get((block - (start >> scale)) * columns..).unwrap_or_default();
        for (pixels, (column, share)) in row.chunks_mut(side).zip(of_row.iter().enumerate()) {
            let block_columns = side.min(width - column * side);
            let share = share * area / (block_rows * block_columns) as f64;
            pixels.iter_mut().for_each(|pixel| *pixel += share);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strips_cover_all_rows_once_and_keep_the_grid() {
        for (height, rows) in [(5774, 256), (1400, 128), (300, 256), (513, 256), (40, 128)] {
            let mut next = 0;
            for strip in strips(height, rows) {
                assert_eq!(strip.start, next);
                next = strip.end;
                assert!(strip.first % BLOCK == 0 && strip.last - strip.first >= LEAST_ROWS.min(height));
                assert!(strip.start == 0 || strip.start - strip.first >= HALO_ROWS.min(strip.start));
                assert!(strip.last == height || strip.last - strip.end == HALO_ROWS);
            }
            assert_eq!(next, height);
        }
    }
}
