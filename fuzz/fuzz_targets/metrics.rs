//! Every metric on tiny and odd images: a finite score or an error, with and without a map.
#![no_main]

use agenticiqa_metrics::{Image, Kind, Metric, Pair, all};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let &[which, width, height, kind, ref pixels @ ..] = bytes else { return };
    let metrics: Vec<&dyn Metric> = all().collect();
    let metric = metrics[usize::from(which) % metrics.len()];
    let (width, height) = (1 + usize::from(width) % 97, 1 + usize::from(height) % 97);
    let (Some(reference), Some(distorted)) = (picture(width, height, kind, pixels, 0), picture(width, height, kind >> 4, pixels, 7))
    else {
        return;
    };
    let pair = match metric.info().kind {
        Kind::FullReference => Pair::new(&reference, &distorted),
        Kind::NoReference => Ok(Pair::single(&distorted)),
    };
    let Ok(pair) = pair else { return };
    let pair = if kind & 8 == 0 { pair } else { pair.with_map() };
    if let Ok(measured) = metric.measure(&pair) {
        assert!(!measured.score.is_nan(), "{}", metric.info().name);
    }
});

/// An image of the fuzzer's bytes, repeated to fill it; gray or color, 8 or 16 bits.
fn picture(width: usize, height: usize, kind: u8, bytes: &[u8], shift: usize) -> Option<Image> {
    if bytes.is_empty() {
        return None;
    }
    let sample = |i: usize| bytes[(i + shift) % bytes.len()];
    let wide = |i: usize| u16::from_le_bytes([sample(2 * i), sample(2 * i + 1)]);
    let count = width * height;
    match kind & 3 {
        0 => Image::from_gray8(width, height, (0..count).map(sample).collect()),
        1 => Image::from_rgb8(width, height, (0..count * 3).map(sample).collect()),
        2 => Image::from_gray16(width, height, (0..count).map(wide).collect()),
        _ => Image::from_rgb16(width, height, (0..count * 3).map(wide).collect()),
    }
    .ok()
}
