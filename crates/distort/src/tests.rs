//! Tests that hold for every kind of distortion.

use super::*;
use agenticiqa_metrics::Mdsi;
use agenticiqa_pixels::Samples;
use agenticiqa_pixels::testing::{blurred_shapes, color_noise};
use proptest::prelude::*;

/// A color image with edges, texture and gradients.
fn scene(width: usize, height: usize) -> Image {
    let mut pixels = Vec::with_capacity(width * height * 3);
    for i in 0..width * height {
        let (x, y) = ((i % width) as f32, (i / width) as f32);
        let disc = (x - 0.4 * width as f32).hypot(y - 0.5 * height as f32) < 0.25 * width as f32;
        let base = if disc { [190.0, 120.0, 60.0] } else { [60.0 + 0.5 * x, 110.0, 90.0 + 0.5 * y] };
        let waves = 22.0 * (0.21 * x + 0.002 * y * y).sin() * (0.17 * y + 0.001 * x * x).cos();
        pixels.extend(base.map(|sample: f32| (sample + waves).clamp(0.0, 255.0) as u8));
    }
    Image::from_rgb8(width, height, pixels).unwrap()
}

fn samples(image: &Image) -> &Samples {
    image.samples()
}

#[test]
fn the_same_seed_gives_the_same_picture_and_size_is_kept() {
    let image = scene(70, 51);
    for kind in Kind::ALL {
        let first = distort(&image, kind, 4, 9).unwrap();
        let second = distort(&image, kind, 4, 9).unwrap();
        assert_eq!(samples(&first), samples(&second), "{kind}");
        assert_eq!((first.width(), first.height(), first.bit_depth()), (70, 51, 8), "{kind}");
    }
    let other = distort(&image, Kind::WhiteNoise, 4, 10).unwrap();
    assert_ne!(samples(&distort(&image, Kind::WhiteNoise, 4, 9).unwrap()), samples(&other));
}

#[test]
fn each_kind_grows_with_its_level() {
    let image = scene(160, 120);
    for kind in Kind::ALL {
        let damage: Vec<f64> = (1..=LEVELS)
            .map(|level| Mdsi::default().score(&image, &distort(&image, kind, level, 3).unwrap()).unwrap())
            .collect();
        assert!(damage[4] > damage[0] + 0.02, "{kind}: {damage:?}");
        assert!(damage[4] > damage[2] && damage[2] >= damage[0], "{kind}: {damage:?}");
    }
}

#[test]
fn levels_that_do_not_exist_are_refused() {
    let image = blurred_shapes(32, 1.0);
    for level in [0, 6] {
        let error = distort(&image, Kind::Jpeg, level, 0).unwrap_err();
        assert_eq!(error.to_string(), format!("distortions have the levels 1 to 5, not {level}"));
    }
}

#[test]
fn gray_stays_gray_where_no_color_is_made_and_sixteen_bits_stay() {
    let gray = blurred_shapes(64, 1.0);
    assert_eq!(distort(&gray, Kind::GaussianBlur, 5, 0).unwrap().channels(), 1);
    assert_eq!(distort(&gray, Kind::ColorNoise, 5, 0).unwrap().channels(), 3);
    let deep = Image::from_rgb16(40, 30, (0..3600).map(|i| (i * 18) as u16).collect()).unwrap();
    for kind in Kind::ALL {
        assert_eq!(distort(&deep, kind, 3, 0).unwrap().bit_depth(), 16, "{kind}");
    }
}

#[test]
fn white_noise_has_the_variance_that_it_should_have() {
    let gray = Image::from_gray8(200, 200, vec![128; 40_000]).unwrap();
    let noisy = distort(&gray, Kind::WhiteNoise, 5, 1).unwrap();
    let green = noisy.channel(1);
    let variance = green.data().iter().map(|sample| f64::from(sample - 128.0).powi(2)).sum::<f64>() / 40_000.0;
    assert!((variance / (255.0 * 255.0) - 0.01).abs() < 0.0005, "{variance}");
}

#[test]
fn jpeg_is_what_a_real_encoder_and_decoder_make_of_it() {
    use jpeg_encoder::{ColorType, Encoder, SamplingFactor};
    let (width, height) = (160, 120);
    let image = scene(width, height);
    let planes = [0, 1, 2].map(|channel| image.channel(channel));
    let pixels: Vec<u8> =
        (0..width * height).flat_map(|i| planes.each_ref().map(|plane| plane.data()[i] as u8)).collect();
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, 24);
    encoder.set_sampling_factor(SamplingFactor::R_4_2_0);
    encoder.encode(&pixels, width as u16, height as u16, ColorType::Rgb).unwrap();
    let decoded = zune_jpeg::JpegDecoder::new(zune_core::bytestream::ZCursor::new(file)).decode().unwrap();
    let ours = distort(&image, Kind::Jpeg, 3, 0).unwrap();
    let planes = [0, 1, 2].map(|channel| ours.channel(channel));
    let sample = |i: usize| f64::from(planes[i % 3].data()[i / 3]);
    let theirs = |i: usize| f64::from(decoded[i]);
    let before = |i: usize| f64::from(pixels[i]);
    let luma =
        |rgb: &dyn Fn(usize) -> f64, i: usize| 0.299 * rgb(3 * i) + 0.587 * rgb(3 * i + 1) + 0.114 * rgb(3 * i + 2);
    let apart = |other: &dyn Fn(usize) -> f64| -> f64 {
        let pixels = width * height;
        (0..pixels).map(|i| (luma(&sample, i) - luma(other, i)).abs()).sum::<f64>() / pixels as f64
    };
    // Luma differs only by the rounding of their integer transform. Chroma is resampled with other
    // filters.
    assert!(apart(&theirs) < 0.5 && apart(&before) > 2.0, "{} of {}", apart(&theirs), apart(&before));
    let all = (0..decoded.len()).map(|i| (sample(i) - theirs(i)).abs()).sum::<f64>() / decoded.len() as f64;
    assert!(all < 2.0, "{all}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]
    #[test]
    fn tiny_and_odd_pictures_are_distorted_too(
        width in 1usize..20, height in 1usize..20, kind in 0usize..25, level in 1u8..=5, seed in 0u32..9,
    ) {
        let image = color_noise(width, height, seed);
        let out = distort(&image, Kind::ALL[kind], level, u64::from(seed)).unwrap();
        prop_assert_eq!((out.width(), out.height()), (width, height));
    }
}
