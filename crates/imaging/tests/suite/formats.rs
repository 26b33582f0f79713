//! Compares every format, depth, coding and orientation with what Pillow or libavif decodes from
//! the same file (`data/make.py`, `data/make_avif.py`).
use std::fs;
use std::path::{Path, PathBuf};

use agenticiqa_imaging::{Decoder, Format, Note, Picture, jpeg_quality};
use agenticiqa_metrics::Samples;
use image::{ExtendedColorType, ImageEncoder};

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

fn open(name: &str) -> Picture {
    Decoder::default().open(data().join(name)).unwrap()
}

/// The files of `data` with these extensions.
fn names(endings: &[&str]) -> Vec<String> {
    let entries = fs::read_dir(data()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = entries.filter(|name| endings.iter().any(|ending| name.ends_with(ending))).collect();
    names.sort();
    names
}

/// Largest and mean difference from Pillow's pixels. Gray counts as three equal channels.
fn difference(name: &str) -> (f32, f32) {
    let (ours, expected) = (open(name).image, open(&format!("expected/{name}.png")).image);
    assert_eq!((ours.width(), ours.height()), (expected.width(), expected.height()), "{name}");
    let mut differences = Vec::new();
    for channel in 0..3 {
        let (ours, expected) = (ours.channel(channel), expected.channel(channel));
        differences.extend(ours.data().iter().zip(expected.data()).map(|(a, b)| (a - b).abs()));
    }
    let mean = differences.iter().sum::<f32>() / differences.len() as f32;
    (differences.into_iter().fold(0.0, f32::max), mean)
}

#[test]
fn lossless_formats_give_pillows_pixels_exactly() {
    let names = names(&[".png", ".bmp", ".tif", ".gif", ".webp"]);
    assert!(names.len() > 30);
    for name in names {
        assert_eq!(difference(&name), (0.0, 0.0), "{name}");
    }
}

#[test]
fn jpeg_is_within_the_freedom_of_the_standard() {
    // Decoders may differ in the last bit of the inverse transform, and in how they interpolate
    // subsampled color.
    for name in names(&[".jpg"]) {
        let (largest, mean) = difference(&name);
        let subsampled = ["420.jpg", "422.jpg", "progressive.jpg"].contains(&name.as_str());
        let limits = if subsampled { (6.0, 0.6) } else { (3.0, 0.1) };
        assert!(largest <= limits.0 && mean <= limits.1, "{name}: {largest}, mean {mean}");
    }
}

#[test]
fn avif_is_what_libavif_decodes() {
    let names = names(&[".avif"]);
    assert!(names.len() > 25);
    for name in names {
        let (largest, mean) = difference(&name);
        // Blended or converted 8-bit samples were rounded once before.
        let limits = match name.as_str() {
            "alpha.avif" | "premultiplied.avif" => (1.0, 0.15),
            "p3.avif" => (3.0, 0.3),
            _ => (1.0, 0.001),
        };
        assert!(largest <= limits.0 && mean <= limits.1, "{name}: {largest}, mean {mean}");
    }
}

#[test]
fn avif_notes_say_what_was_done() {
    let notes = |name: &str| open(name).notes;
    for name in ["444.avif", "420.avif", "gray.avif", "rgb.avif", "grid.avif", "grain.avif", "unstated.avif"] {
        assert_eq!(notes(name), [], "{name}");
    }
    assert_eq!(notes("alpha.avif"), [Note::AlphaOnWhite]);
    assert_eq!(notes("premultiplied.avif"), [Note::AlphaOnWhite]);
    assert_eq!(notes("deep12.avif"), [Note::SixteenBits]);
    assert_eq!(notes("alphadeep.avif"), [Note::SixteenBits, Note::AlphaOnWhite]);
    assert_eq!(notes("animation.avif"), [Note::FirstFrame]);
    assert_eq!(notes("orientation7.avif"), [Note::Oriented(7)]);
    assert_eq!(open("gray.avif").image.channels(), 1);
    assert!(matches!(notes("icc.avif").as_slice(), [Note::ProfileConverted { .. }]));
    assert!(matches!(notes("p3.avif").as_slice(), [Note::ProfileConverted { name }] if name.contains("primaries 12")));
    let hdr = notes("hdr.avif");
    assert!(matches!(hdr.as_slice(), [Note::ProfileIgnored { reason }, Note::SixteenBits] if reason.contains("PQ")));
}

/// A sequence may have no items, and a file may list its brand second.
#[test]
fn avif_without_items_and_with_other_brands_is_read() {
    let file = fs::read(data().join("animation.avif")).unwrap();
    let with_items = Decoder::default().decode(&file).unwrap();
    let replaced = |file: &[u8], from: &[u8; 4], to: &[u8; 4]| {
        let place = file.windows(4).position(|name| name == from).unwrap();
        [&file[..place], to, &file[place + 4..]].concat()
    };
    let without_items = Decoder::default().decode(&replaced(&file, b"meta", b"free")).unwrap();
    assert_eq!(without_items.image.samples(), with_items.image.samples());
    assert_eq!(without_items.notes, [Note::FirstFrame]);
    let file = fs::read(data().join("444.avif")).unwrap();
    let other = Decoder::default().decode(&replaced(&file, b"avif", b"mif1")).unwrap();
    assert_eq!((other.format, other.image.samples()), (Format::Avif, open("444.avif").image.samples()));
}

#[test]
fn notes_say_what_was_done() {
    let notes = |name: &str| open(name).notes;
    assert_eq!(notes("444.jpg"), []);
    assert_eq!(notes("modeRGB.png"), []);
    assert_eq!(notes("modeLA.png"), [], "an opaque alpha channel changes nothing");
    assert_eq!(notes("modeRGBA.png"), [Note::AlphaOnWhite]);
    assert_eq!(notes("cmyk.jpg"), [Note::CmykConverted]);
    assert_eq!(notes("ycck.jpg"), [Note::CmykConverted]);
    assert_eq!(notes("modeCMYK.tif"), [Note::CmykConverted]);
    for name in ["animation.gif", "animation.png", "animation.webp", "pages.tif"] {
        assert_eq!(notes(name), [Note::FirstFrame], "{name}");
    }
    assert_eq!(notes("one.gif"), []);
    for name in ["orientation.png", "orientation.webp", "orientation.tif", "orientation6.jpg"] {
        assert_eq!(notes(name), [Note::Oriented(6)], "{name}");
    }
    assert_eq!(notes("orientation1.jpg"), []);
    assert_eq!(open("orientation6.jpg").image.width(), 23);
}

#[test]
fn the_format_is_that_of_the_content() {
    let renamed = std::env::temp_dir().join(format!("agenticiqa-{}-renamed.gif", std::process::id()));
    fs::copy(data().join("modeRGB.png"), &renamed).unwrap();
    let picture = Decoder::default().open(&renamed);
    fs::remove_file(&renamed).unwrap();
    assert_eq!(picture.unwrap().format, Format::Png);
    assert_eq!(open("444.jpg").format, Format::Jpeg);
    assert_eq!(open("modeL.tif").format, Format::Tiff);
    assert_eq!(open("lossy.webp").format, Format::WebP);
    assert_eq!(open("one.gif").format, Format::Gif);
    assert_eq!(open("modeP.bmp").format, Format::Bmp);
    assert_eq!(open("444.avif").format, Format::Avif);
}

#[test]
fn the_quality_factor_of_a_jpeg_is_found() {
    for (name, quality) in
        [("444.jpg", 90.0), ("422.jpg", 75.0), ("420.jpg", 50.0), ("progressive.jpg", 85.0), ("gray.jpg", 60.0)]
    {
        assert_eq!(open(name).image.source().jpeg_quality, Some(quality), "{name}");
        assert_eq!(jpeg_quality(&fs::read(data().join(name)).unwrap()), Some(quality), "{name}");
    }
    assert_eq!(open("modeRGB.png").image.source().jpeg_quality, None);
}

#[test]
fn gray_files_have_one_channel() {
    for name in ["gray.jpg", "modeL.png", "mode1.png", "modeLA.png", "modeL.tif", "mode1.tif"] {
        assert_eq!(open(name).image.channels(), 1, "{name}");
    }
}

#[test]
fn sixteen_bits_are_kept() {
    let samples: Vec<u16> = (0..5 * 4 * 3).map(|i| (i * 1091 + 7) as u16).collect();
    let mut png = Vec::new();
    let encoder = image::codecs::png::PngEncoder::new(&mut png);
    encoder.write_image(bytemuck::cast_slice(&samples), 5, 4, ExtendedColorType::Rgb16).unwrap();
    let mut tif = Vec::new();
    let mut encoder = tiff::encoder::TiffEncoder::new(std::io::Cursor::new(&mut tif)).unwrap();
    encoder.write_image::<tiff::encoder::colortype::RGB16>(5, 4, &samples).unwrap();
    for file in [png, tif] {
        let picture = Decoder::default().decode(&file).unwrap();
        assert_eq!(picture.notes, [Note::SixteenBits]);
        let Samples::Sixteen(planes) = picture.image.samples() else { panic!("16 bits expected") };
        for (i, &sample) in samples.iter().enumerate() {
            assert_eq!(planes[i % 3 * 20 + i / 3], sample);
        }
    }
}

#[test]
fn transparent_sixteen_bit_pixels_show_white() {
    let samples: [u16; 8] = [1000, 2000, 65535, 65535, 0, 40000, 65535, 16384];
    let mut png = Vec::new();
    let encoder = image::codecs::png::PngEncoder::new(&mut png);
    encoder.write_image(bytemuck::cast_slice(&samples), 2, 1, ExtendedColorType::Rgba16).unwrap();
    let picture = Decoder::default().decode(&png).unwrap();
    assert_eq!(picture.notes, [Note::SixteenBits, Note::AlphaOnWhite]);
    let white = |color: f64| ((color * 16384.0 + 65535.0 * 49151.0) / 65535.0).round() as u16;
    let expected = [1000, white(0.0), 2000, white(40000.0), 65535, 65535];
    assert_eq!(*picture.image.samples(), Samples::Sixteen(expected.to_vec()));
}

#[test]
fn floating_point_tiff_is_clipped_to_white() {
    let samples = [0.0, 0.5, 1.0, 2.0, -1.0, f32::NAN];
    let mut tif = Vec::new();
    let mut encoder = tiff::encoder::TiffEncoder::new(std::io::Cursor::new(&mut tif)).unwrap();
    encoder.write_image::<tiff::encoder::colortype::Gray32Float>(6, 1, &samples).unwrap();
    let picture = Decoder::default().decode(&tif).unwrap();
    assert_eq!(picture.notes, [Note::FloatClipped]);
    assert_eq!(*picture.image.samples(), Samples::Sixteen(vec![0, 32768, 65535, 65535, 0, 0]));
}

#[test]
fn extreme_shapes_are_read() {
    for (width, height) in [(1, 1), (3, 70000), (70000, 3)] {
        let samples: Vec<u8> = (0..width * height).map(|i| (i * 31) as u8).collect();
        let mut png = Vec::new();
        let encoder = image::codecs::png::PngEncoder::new(&mut png);
        encoder.write_image(&samples, width, height, ExtendedColorType::L8).unwrap();
        let picture = Decoder::default().decode(&png).unwrap();
        assert_eq!(*picture.image.samples(), Samples::Eight(samples));
    }
}

#[test]
fn bytes_between_jpeg_segments_do_not_matter() {
    let file = fs::read(data().join("444.jpg")).unwrap();
    let mut padded = file[..2].to_vec();
    padded.extend([0; 9]);
    padded.extend(&file[2..]);
    let (clean, padded) = (Decoder::default().decode(&file).unwrap(), Decoder::default().decode(&padded).unwrap());
    assert_eq!(clean.image.samples(), padded.image.samples());
}
