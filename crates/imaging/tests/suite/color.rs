//! Embedded color profiles: RGB, gray and CMYK; sRGB changes nothing; broken profiles cause a
//! note.
use std::fs;
use std::path::Path;

use agenticiqa_imaging::{Decoder, Note, Picture};
use agenticiqa_metrics::Samples;
use image::{ExtendedColorType, ImageEncoder};
use moxcms::ColorProfile;

fn png(samples: &[u8], width: u32, color: ExtendedColorType, profile: Vec<u8>) -> Picture {
    let mut file = Vec::new();
    let mut encoder = image::codecs::png::PngEncoder::new(&mut file);
    encoder.set_icc_profile(profile).unwrap();
    encoder.write_image(samples, width, 1, color).unwrap();
    Decoder::default().decode(&file).unwrap()
}

/// Interleaved pixels from all over the color cube.
fn colors() -> Vec<u8> {
    (0..64).flat_map(|i| [i % 4 * 85, i / 4 % 4 * 85, i / 16 * 85].map(|v| v as u8)).collect()
}

/// Compares the samples of an RGB image with expected values, plane by plane.
fn assert_near(picture: &Picture, expected: impl Fn([f64; 3]) -> [f64; 3], tolerance: f64) {
    let Samples::Eight(planes) = picture.image.samples() else { panic!("8 bits expected") };
    let pixels = colors();
    for (i, pixel) in pixels.chunks_exact(3).enumerate() {
        let expected = expected([0, 1, 2].map(|c| f64::from(pixel[c]) / 255.0));
        for c in 0..3 {
            let ours = f64::from(planes[c * 64 + i]);
            let wanted = expected[c].clamp(0.0, 1.0) * 255.0;
            assert!((ours - wanted).abs() <= tolerance, "{pixel:?}, channel {c}: {ours} instead of {wanted}");
        }
    }
}

fn srgb_to_linear(v: f64) -> f64 {
    if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
}

fn linear_to_srgb(v: f64) -> f64 {
    if v <= 0.003_130_8 { v * 12.92 } else { 1.055 * v.powf(1.0 / 2.4) - 0.055 }
}

fn through(matrix: [[f64; 3]; 3], linear: [f64; 3]) -> [f64; 3] {
    matrix.map(|row| linear_to_srgb((0..3).map(|i| row[i] * linear[i]).sum::<f64>().clamp(0.0, 1.0)))
}

/// Linear Display P3 to linear sRGB, and linear Adobe RGB to linear sRGB (both D65; computed from
/// the primaries).
const P3: [[f64; 3]; 3] = [[1.2249, -0.2249, 0.0], [-0.0421, 1.0421, 0.0], [-0.0196, -0.0786, 1.0983]];
const ADOBE: [[f64; 3]; 3] = [[1.3984, -0.3984, 0.0], [0.0, 1.0, 0.0], [0.0, -0.0429, 1.0429]];

#[test]
fn display_p3_becomes_srgb() {
    let picture = png(&colors(), 64, ExtendedColorType::Rgb8, ColorProfile::new_display_p3().encode().unwrap());
    assert!(matches!(picture.notes.as_slice(), [Note::ProfileConverted { name }] if name.contains("P3")));
    assert_near(&picture, |rgb| through(P3, rgb.map(srgb_to_linear)), 1.5);
}

#[test]
fn adobe_rgb_becomes_srgb() {
    let picture = png(&colors(), 64, ExtendedColorType::Rgb8, ColorProfile::new_adobe_rgb().encode().unwrap());
    assert!(matches!(picture.notes.as_slice(), [Note::ProfileConverted { .. }]));
    assert_near(&picture, |rgb| through(ADOBE, rgb.map(|v| v.powf(2.199_218_75))), 1.5);
}

#[test]
fn alpha_is_composited_after_the_conversion() {
    let samples = [200, 100, 50, 255, 200, 100, 50, 0];
    let picture = png(&samples, 2, ExtendedColorType::Rgba8, ColorProfile::new_display_p3().encode().unwrap());
    assert!(matches!(picture.notes.as_slice(), [Note::ProfileConverted { .. }, Note::AlphaOnWhite]));
    let Samples::Eight(planes) = picture.image.samples() else { panic!("8 bits expected") };
    let expected = through(P3, [200.0, 100.0, 50.0].map(|v| srgb_to_linear(v / 255.0))).map(|v| v * 255.0);
    for c in 0..3 {
        assert!((f64::from(planes[2 * c]) - expected[c]).abs() < 1.5);
        assert_eq!(planes[2 * c + 1], 255);
    }
}

#[test]
fn sixteen_bits_are_converted_at_sixteen_bits() {
    let samples: [u16; 3] = [30000, 41000, 12345];
    let profile = ColorProfile::new_display_p3().encode().unwrap();
    let picture = png(bytemuck::cast_slice(&samples), 1, ExtendedColorType::Rgb16, profile);
    let Samples::Sixteen(planes) = picture.image.samples() else { panic!("16 bits expected") };
    let expected = through(P3, samples.map(|v| srgb_to_linear(f64::from(v) / 65535.0)));
    for c in 0..3 {
        assert!((f64::from(planes[c]) - expected[c] * 65535.0).abs() < 60.0, "{planes:?}, {expected:?}");
    }
}

#[test]
fn an_srgb_profile_changes_nothing() {
    let profile = ColorProfile::new_srgb().encode().unwrap();
    let picture = png(&colors(), 64, ExtendedColorType::Rgb8, profile.clone());
    assert_eq!(picture.notes, []);
    assert_near(&picture, |rgb| rgb, 0.0);
    let levels: Vec<u8> = (0..=255).collect();
    let picture = png(&levels, 256, ExtendedColorType::L8, profile);
    assert_eq!(picture.notes, []);
    assert_eq!(*picture.image.samples(), Samples::Eight(levels));
}

#[test]
fn gray_profiles_are_applied_at_both_depths() {
    let profile = || ColorProfile::new_gray_with_gamma(1.8).encode().unwrap();
    let levels: Vec<u8> = (0..=255).collect();
    let picture = png(&levels, 256, ExtendedColorType::L8, profile());
    assert!(matches!(picture.notes.as_slice(), [Note::ProfileConverted { .. }]));
    assert_eq!(picture.image.channels(), 1);
    let wanted = |v: f64| linear_to_srgb(v.powf(1.8));
    let Samples::Eight(eight) = picture.image.samples() else { panic!("8 bits expected") };
    for (level, &ours) in eight.iter().enumerate() {
        assert!((f64::from(ours) - wanted(level as f64 / 255.0) * 255.0).abs() <= 1.0, "{level}: {ours}");
    }
    let wide: Vec<u16> = (0..=255).map(|v| v * 256 + 17).collect();
    let picture = png(bytemuck::cast_slice(&wide), 256, ExtendedColorType::L16, profile());
    let Samples::Sixteen(sixteen) = picture.image.samples() else { panic!("16 bits expected") };
    for (&level, &ours) in wide.iter().zip(sixteen) {
        let wanted = wanted(f64::from(level) / 65535.0) * 65535.0;
        assert!((f64::from(ours) - wanted).abs() <= 100.0, "{level}: {ours} instead of {wanted}");
    }
}

#[test]
fn a_profile_that_cannot_be_used_is_a_note() {
    let profiles = [
        vec![1, 2, 3],
        vec![0; 400],
        ColorProfile::new_gray_with_gamma(2.2).encode().unwrap(),
        ColorProfile::new_display_p3().encode().unwrap()[..200].to_vec(),
    ];
    for profile in profiles {
        let picture = png(&colors(), 64, ExtendedColorType::Rgb8, profile);
        assert!(matches!(picture.notes.as_slice(), [Note::ProfileIgnored { .. }]), "{:?}", picture.notes);
        assert_near(&picture, |rgb| rgb, 0.0);
    }
}

/// A CMYK profile in which every ink is gray: lightness is `100 (1 - K) (1 - (C + M + Y) / 6)`.
fn gray_inks() -> Vec<u8> {
    let mut table = b"mft1\0\0\0\0\x04\x03\x02\0".to_vec();
    for i in 0..9 {
        table.extend(if i % 4 == 0 { [0, 1, 0, 0] } else { [0; 4] });
    }
    (0..4).for_each(|_| table.extend(0..=255));
    for corner in 0..16u8 {
        let colored = f64::from((corner >> 1).count_ones());
        let light = if corner & 1 == 1 { 0.0 } else { 255.0 * (1.0 - colored / 6.0) };
        table.extend([light.round() as u8, 128, 128]);
    }
    (0..3).for_each(|_| table.extend(0..=255));
    let mut profile = vec![0; 144];
    profile[8..12].copy_from_slice(&[2, 0x40, 0, 0]);
    profile[12..24].copy_from_slice(b"prtrCMYKLab ");
    profile[36..40].copy_from_slice(b"acsp");
    profile[68..80].copy_from_slice(&[0, 0, 0xf6, 0xd6, 0, 1, 0, 0, 0, 0, 0xd3, 0x2d]);
    profile[131] = 1;
    profile[132..136].copy_from_slice(b"A2B0");
    profile[136..140].copy_from_slice(&144u32.to_be_bytes());
    profile[140..144].copy_from_slice(&(table.len() as u32).to_be_bytes());
    profile.extend(table);
    let length = profile.len() as u32;
    profile[..4].copy_from_slice(&length.to_be_bytes());
    profile
}

#[test]
fn a_cmyk_profile_in_a_jpeg_is_applied() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/cmyk.jpg");
    let file = fs::read(path).unwrap();
    let plain = Decoder::default().decode(&file).unwrap();
    let profile = gray_inks();
    let mut tagged = file[..2].to_vec();
    tagged.extend([0xff, 0xe2]);
    tagged.extend((profile.len() as u16 + 16).to_be_bytes());
    tagged.extend(b"ICC_PROFILE\0\x01\x01");
    tagged.extend(profile);
    tagged.extend(&file[2..]);
    let picture = Decoder::default().decode(&tagged).unwrap();
    assert!(matches!(picture.notes.as_slice(), [Note::ProfileConverted { .. }]), "{:?}", picture.notes);
    let Samples::Eight(planes) = picture.image.samples() else { panic!("8 bits expected") };
    let Samples::Eight(inks) = plain.image.samples() else { panic!("8 bits expected") };
    let size = planes.len() / 3;
    for i in 0..size {
        // Pillow writes no black ink, so the RGB of the plain conversion determines the other
        // inks.
        let ink: f64 = (0..3).map(|c| 1.0 - f64::from(inks[c * size + i]) / 255.0).sum();
        let light = 100.0 * (1.0 - ink / 6.0);
        let wanted = 255.0 * linear_to_srgb(((light + 16.0) / 116.0).powi(3));
        for c in 0..3 {
            let ours = f64::from(planes[c * size + i]);
            assert!((ours - wanted).abs() < 4.0, "pixel {i}, channel {c}: {ours} instead of {wanted}");
        }
    }
}
