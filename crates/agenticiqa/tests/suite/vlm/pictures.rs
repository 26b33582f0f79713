use std::path::{Path, PathBuf};
use std::sync::Arc;

use agenticiqa::imaging::{Decoder, Format, Note, Picture, encode_png};
use agenticiqa::metrics::Image;
use agenticiqa::vlm::{Attachment, DEFAULT_MAX_SIDE, ImageLimits, prepare};

use crate::vlm::support::{Log, model};

fn limits() -> ImageLimits {
    ImageLimits {
        formats: vec!["image/png", "image/jpeg", "image/webp", "image/gif"],
        max_side: DEFAULT_MAX_SIDE,
        max_bytes: usize::MAX,
    }
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../imaging/tests/data")
}

fn read(name: &str) -> (Arc<[u8]>, Picture) {
    let file: Arc<[u8]> = std::fs::read(fixtures().join(name)).unwrap().into();
    let picture = Decoder::default().decode(&file).unwrap();
    (file, picture)
}

/// An image that compresses badly.
fn noise(width: usize, height: usize) -> (Arc<[u8]>, Picture) {
    let mut state = 1_u32;
    let samples = (0..width * height * 3).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    });
    let file: Arc<[u8]> = encode_png(&Image::from_rgb8(width, height, samples.collect()).unwrap()).unwrap().into();
    let picture = Decoder::default().decode(&file).unwrap();
    (file, picture)
}

fn decode(attachment: &Attachment) -> Picture {
    Decoder::default().decode(&attachment.bytes).unwrap()
}

#[test]
fn a_file_that_the_model_takes_is_sent_as_it_is() {
    for (name, mime) in
        [("420.jpg", "image/jpeg"), ("modeL.png", "image/png"), ("lossy.webp", "image/webp"), ("one.gif", "image/gif")]
    {
        let (file, picture) = read(name);
        let attachment = prepare("Image:", &file, &picture, &limits()).unwrap();
        assert!(Arc::ptr_eq(&attachment.bytes, &file), "{name}");
        assert_eq!((attachment.label.as_str(), attachment.mime), ("Image:", mime));
    }
}

#[test]
fn a_file_whose_pixels_were_changed_by_decoding_is_sent_as_measured() {
    for (name, says) in [
        ("orientation6.jpg", "orientation"),
        ("modeRGBA.png", "transparent"),
        ("cmyk.jpg", "CMYK"),
        ("animation.gif", "first of several frames"),
    ] {
        let (file, picture) = read(name);
        assert!(picture.notes.iter().any(|note| note.to_string().contains(says)), "{name}: {:?}", picture.notes);
        let attachment = prepare("Image:", &file, &picture, &limits()).unwrap();
        assert_eq!(attachment.mime, "image/png");
        let sent = decode(&attachment);
        assert_eq!((sent.image.samples(), sent.notes), (picture.image.samples(), vec![]), "{name}");
    }
}

#[test]
fn a_format_that_the_model_does_not_take_becomes_png() {
    let few = ImageLimits { formats: vec!["image/png"], ..limits() };
    for name in ["420.jpg", "lossy.webp", "one.gif", "modeRGB.bmp", "modeRGB.tif"] {
        let (file, picture) = read(name);
        let attachment = prepare("Image:", &file, &picture, &few).unwrap();
        assert_eq!(attachment.mime, "image/png");
        assert_eq!(decode(&attachment).image.samples(), picture.image.samples(), "{name}");
    }
}

#[test]
fn nothing_is_ever_compressed_as_jpeg_again() {
    let tight = ImageLimits { max_side: 16, ..limits() };
    let mut files = 0;
    for entry in std::fs::read_dir(fixtures()).unwrap() {
        let path = entry.unwrap().path();
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let Ok(picture) = Decoder::default().decode(&bytes) else { continue };
        let file: Arc<[u8]> = bytes.into();
        for limits in [&limits(), &tight] {
            let attachment = prepare("", &file, &picture, limits).unwrap();
            let own = Arc::ptr_eq(&attachment.bytes, &file);
            assert!(own || decode(&attachment).format == Format::Png, "{}", path.display());
        }
        files += 1;
    }
    assert!(files > 30, "{files}");
}

#[test]
fn sixteen_bits_alone_are_no_reason_to_write_a_file_anew() {
    let (file, picture) = noise(8, 8);
    let sixteen = Picture { notes: vec![Note::SixteenBits], ..picture };
    assert!(Arc::ptr_eq(&prepare("", &file, &sixteen, &limits()).unwrap().bytes, &file));
}

#[test]
fn the_longer_side_is_capped_and_the_log_says_so() {
    let (log, _guard) = Log::start();
    let image = Image::from_rgb8(3000, 1000, vec![120; 9_000_000]).unwrap();
    let file: Arc<[u8]> = encode_png(&image).unwrap().into();
    let picture = Decoder::default().decode(&file).unwrap();
    let sent = decode(&prepare("Image:", &file, &picture, &limits()).unwrap());
    assert_eq!((sent.image.width(), sent.image.height()), (2048, 683));
    assert!(log.text().contains("INFO") && log.text().contains("3000x1000 -> 2048x683"), "{}", log.text());
}

#[test]
fn a_picture_at_the_cap_is_left_alone() {
    let image = Image::from_gray8(2048, 4, vec![9; 8192]).unwrap();
    let file: Arc<[u8]> = encode_png(&image).unwrap().into();
    let picture = Decoder::default().decode(&file).unwrap();
    assert!(Arc::ptr_eq(&prepare("", &file, &picture, &limits()).unwrap().bytes, &file));
}

#[test]
fn a_file_of_too_many_bytes_is_made_smaller_until_it_fits() {
    let (file, picture) = noise(500, 400);
    for max_bytes in [400_000, 100_000, 5_000] {
        assert!(file.len() > max_bytes);
        let attachment = prepare("", &file, &picture, &ImageLimits { max_bytes, ..limits() }).unwrap();
        assert!(attachment.bytes.len() <= max_bytes, "{} of {max_bytes}", attachment.bytes.len());
        // Not smaller than necessary.
        assert!(attachment.bytes.len() > max_bytes / 2, "{} of {max_bytes}", attachment.bytes.len());
        let sent = decode(&attachment);
        let shape = sent.image.width() as f64 / sent.image.height() as f64;
        assert!((shape - 1.25).abs() < 0.05, "{shape}");
    }
}

#[test]
fn models_differ_in_what_they_take() {
    let claude = ImageLimits::of(&*model("anthropic.claude-3.5-sonnet", "http://127.0.0.1:1"), 2048);
    let local = ImageLimits::of(&*model("ollama.llava", "http://127.0.0.1:1"), 1024);
    assert_eq!(claude.formats, ["image/jpeg", "image/png", "image/webp", "image/gif"]);
    assert_eq!((local.formats.as_slice(), local.max_side), (&["image/jpeg", "image/png"][..], 1024));
    assert!(claude.max_bytes < local.max_bytes);
}
