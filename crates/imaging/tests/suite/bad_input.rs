//! Bad files: each causes a one-line error that names the file and the reason. None panics, hangs
//! or exhausts memory.
use std::fs;
use std::path::{Path, PathBuf};

use agenticiqa_imaging::{Decoder, Error, Format};
use image::{ExtendedColorType, ImageEncoder};
use proptest::prelude::*;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

/// Name and bytes of every valid file.
fn files() -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(data()).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> =
        entries.filter(|path| path.is_file() && path.extension().is_none_or(|end| end != "py")).collect();
    paths.sort();
    paths.iter().map(|path| (path.file_name().unwrap().to_string_lossy().into(), fs::read(path).unwrap())).collect()
}

/// A folder for one test, deleted when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("agenticiqa-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn reason(bytes: &[u8]) -> String {
    Decoder::default().decode(bytes).unwrap_err().to_string()
}

/// The first bytes of a PNG that claims this size, 8-bit RGB.
fn png_header(width: u32, height: u32) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    file.extend(width.to_be_bytes());
    file.extend(height.to_be_bytes());
    file.extend([8, 2, 0, 0, 0, 0, 0, 0, 0]);
    file.extend(b"\0\0\0\x08IDATabcdefgh\0\0\0\0");
    file
}

fn png_of(width: u32, height: u32) -> Vec<u8> {
    let mut file = Vec::new();
    let encoder = image::codecs::png::PngEncoder::new(&mut file);
    encoder.write_image(&vec![7; (width * height) as usize], width, height, ExtendedColorType::L8).unwrap();
    file
}

#[test]
fn messages_name_the_file_and_the_reason() {
    let folder = Folder::new("messages");
    let message = |path: &Path| {
        let message = Decoder::default().open(path).unwrap_err().to_string();
        assert!(!message.contains('\n'));
        message.strip_prefix(&format!("{}: ", path.display())).expect("the path comes first").to_owned()
    };
    assert_eq!(message(&folder.file("empty.jpg", b"")), "the file is empty");
    assert_eq!(message(&folder.file("notes.png", b"Dear diary,\n")), "not an image: it looks like text");
    assert_eq!(message(&folder.file("paper.jpg", b"%PDF-1.4 ...")), "not an image: it looks like a PDF document");
    assert_eq!(message(&folder.0), "this is a directory, not an image file");
    assert_eq!(message(&folder.0.join("missing.png")), "no such file");
    let jpeg = fs::read(data().join("444.jpg")).unwrap();
    let truncated = message(&folder.file("half.jpg", &jpeg[..jpeg.len() / 2]));
    assert_eq!(truncated, "the JPEG data is truncated: the file ends before the image does");
    let avif = fs::read(data().join("444.avif")).unwrap();
    for length in [avif.len() / 4, avif.len() / 2, avif.len() - 1] {
        let truncated = message(&folder.file("part.avif", &avif[..length]));
        assert_eq!(truncated, "the AVIF data is truncated: the file ends before the image does");
    }
    let error = Decoder::default().open(folder.0.join("empty.jpg")).unwrap_err();
    assert!(matches!(error.reason(), Error::Empty));
}

#[cfg(unix)]
#[test]
fn devices_and_named_pipes_are_refused_and_open_pipes_are_read() {
    use std::io::Write as _;
    use std::os::fd::AsRawFd as _;
    let error = Decoder::default().open("/dev/zero").unwrap_err();
    assert_eq!(error.to_string(), "/dev/zero: this is not a regular file");
    let folder = Folder::new("pipe");
    let named = folder.0.join("pipe.png");
    assert!(std::process::Command::new("mkfifo").arg(&named).status().unwrap().success());
    // Nobody writes to it: reading it would wait without end.
    assert!(matches!(Decoder::default().open(&named).unwrap_err().reason(), Error::NotAFile));
    let (reader, mut writer) = std::io::pipe().unwrap();
    let writing = std::thread::spawn(move || writer.write_all(&png_of(20, 10)).unwrap());
    let path = format!("/dev/fd/{}", reader.as_raw_fd());
    assert_eq!(Decoder::default().open(path).unwrap().image.width(), 20);
    writing.join().unwrap();
}

#[cfg(unix)]
#[test]
fn unreadable_files_say_so() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("unreadable");
    let path = folder.file("secret.png", &png_of(2, 2));
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    // The superuser can read everything, so there is nothing to test.
    if fs::read(&path).is_err() {
        let message = Decoder::default().open(&path).unwrap_err().to_string();
        assert!(message.contains("secret.png: the file cannot be read: "), "{message}");
    }
}

#[test]
fn sizes_beyond_the_limit_are_refused_by_the_header_alone() {
    let message = "the image has 60000x60000 pixels, more than the limit of 1000000000";
    assert_eq!(reason(&png_header(60000, 60000)), message);
    let mut gif = b"GIF89a".to_vec();
    gif.extend([0x60, 0xea, 0x60, 0xea, 0, 0, 0]);
    assert_eq!(reason(&gif), message);
    let mut jpeg = vec![0xff, 0xd8, 0xff, 0xc0, 0, 17, 8, 0xea, 0x60, 0xea, 0x60, 3];
    jpeg.extend([1, 0x11, 0, 2, 0x11, 1, 3, 0x11, 1, 0xff, 0xd9]);
    assert_eq!(reason(&jpeg), message);
    let strict = Decoder { max_pixels: 100, ..Decoder::default() };
    for (name, bytes) in files() {
        let error = strict.decode(&bytes).unwrap_err();
        assert!(matches!(error, Error::TooLarge { max_pixels: 100, .. }), "{name}: {error}");
    }
    assert!(Decoder { max_pixels: 37 * 23, ..Decoder::default() }.decode(&files()[0].1).is_ok());
}

#[test]
fn sizes_that_the_data_cannot_fill_are_truncated_files() {
    let truncated = |format| format!("the {format} data is truncated: the file ends before the image does");
    assert_eq!(reason(&png_header(30000, 30000)), truncated(Format::Png));
    let mut jpeg = fs::read(data().join("444.jpg")).unwrap();
    let frame = jpeg.windows(2).position(|pair| pair == [0xff, 0xc0]).unwrap();
    jpeg[frame + 5..frame + 9].copy_from_slice(&[0x70, 0, 0x70, 0]);
    assert_eq!(reason(&jpeg), truncated(Format::Jpeg));
}

#[test]
fn images_without_pixels_are_refused() {
    assert_eq!(reason(&png_header(0, 10)), "the image has no pixels (0x10)");
    assert_eq!(reason(b"GIF89a\0\0\x05\0\0\0\0;"), "the image has no pixels (0x5)");
    let mut jpeg = fs::read(data().join("444.jpg")).unwrap();
    let frame = jpeg.windows(2).position(|pair| pair == [0xff, 0xc0]).unwrap();
    jpeg[frame + 5..frame + 7].fill(0);
    assert_eq!(reason(&jpeg), "the image has no pixels (37x0)");
    assert!(Decoder::default().decode(b"GIF89a\x05\0\x05\0\0\0\0;").is_err());
}

#[test]
fn what_cannot_be_decoded_is_named() {
    let mut jpeg = fs::read(data().join("444.jpg")).unwrap();
    let frame = jpeg.windows(2).position(|pair| pair == [0xff, 0xc0]).unwrap();
    jpeg[frame + 1] = 0xc9;
    assert_eq!(reason(&jpeg), "this kind of JPEG is not supported: arithmetic coding; convert it to PNG first");
    jpeg[frame + 1] = 0xc1;
    jpeg[frame + 4] = 12;
    assert_eq!(reason(&jpeg), "this kind of JPEG is not supported: 12 bits a sample; convert it to PNG first");
}

#[test]
fn avif_that_is_wrong_says_what_is_wrong() {
    let file = fs::read(data().join("444.avif")).unwrap();
    let at = |name: &[u8; 4]| file.windows(4).position(|part| part == name).unwrap();
    let changed = |place: usize, bytes: &[u8]| {
        let mut file = file.clone();
        file[place..place + bytes.len()].copy_from_slice(bytes);
        reason(&file)
    };
    let damaged = |why: &str| format!("the AVIF data is damaged: {why}");
    assert_eq!(changed(at(b"mdat") + 4, &[0xff; 8]), damaged("the AV1 data's units are not whole"));
    assert_eq!(changed(at(b"ispe") + 11, &[64]), damaged("37x23 pixels instead of 64x23"));
    assert_eq!(changed(at(b"ispe"), b"what"), damaged("an image without a size"));
    assert_eq!(changed(at(b"meta") - 4, &[0, 0, 0, 3]), damaged("box 'meta' is shorter than its header"));
    assert_eq!(changed(at(b"iloc") - 4, &[0, 0, 0xff, 0]), damaged("box 'iloc' is larger than its place"));
    let unsupported = |what: &str| format!("this kind of AVIF is not supported: {what}; convert it to PNG first");
    assert_eq!(changed(at(b"av01"), b"hvc1"), unsupported("an image item of type 'hvc1'"));
    // The matrix follows the name of the color type, primaries and transfer.
    assert_eq!(changed(at(b"nclx") + 8, &[0, 14]), unsupported("matrix coefficients 14"));
    let garbage: Vec<u8> = (0..500u32).map(|i| ((i * i * 31) >> 3) as u8).collect();
    let garbage = [&b"\0\0\0\x14ftypavif\0\0\0\0avif"[..], &garbage].concat();
    assert!(Decoder::default().decode(&garbage).is_err());
}

/// Found by fuzzing: the AV1 decoder panics on data that contradicts itself.
#[test]
fn a_panic_of_the_av1_decoder_is_an_error() {
    let mut file = fs::read(data().join("444.avif")).unwrap();
    let start = file.windows(4).position(|part| part == b"mdat").unwrap() + 4;
    file[start + 22] = 255;
    assert_eq!(reason(&file), "the AVIF data is damaged: the decoder cannot make sense of it");
    assert!(!agenticiqa_imaging::in_codec());
}

#[test]
fn a_bitmap_that_is_too_long_is_not_called_damaged() {
    let unsupported = "this kind of BMP is not supported: more than 65535 pixels a side; convert it to PNG first";
    let bitmap = |width: i32, height: i32| {
        let mut file = b"BM\0\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0".to_vec();
        file.extend([width.to_le_bytes(), height.to_le_bytes()].concat());
        file.extend([1, 0, 24, 0]);
        file.resize(54, 0);
        file.resize(54 + (width.unsigned_abs() * 3).next_multiple_of(4) as usize * height.unsigned_abs() as usize, 7);
        file
    };
    assert_eq!(reason(&bitmap(70000, 3)), unsupported);
    assert_eq!(reason(&bitmap(3, 70000)), unsupported);
    assert_eq!(reason(&bitmap(3, -70000)), unsupported);
    let picture = Decoder::default().decode(&bitmap(65535, 2)).unwrap();
    assert_eq!((picture.image.width(), picture.image.height()), (65535, 2));
    let too_large = (Decoder { max_pixels: 1000, ..Decoder::default() }).decode(&bitmap(3, 70000)).unwrap_err();
    assert!(matches!(too_large, Error::TooLarge { width: 3, height: 70000, .. }));
}

/// The checksum of a PNG chunk.
fn checksum(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), step))
}

/// Found by fuzzing: with a correct checksum, the PNG decoder panics on an incomplete palette.
#[test]
fn a_png_palette_that_is_not_whole_is_refused() {
    let file = fs::read(data().join("palette4.png")).unwrap();
    let start = file.windows(4).position(|kind| kind == b"PLTE").unwrap();
    let length = u32::from_be_bytes(file[start - 4..start].try_into().unwrap()) as usize;
    for (wanted, good) in [(length, true), (length + 1, false), (0, false), (771, false)] {
        let mut chunk = file[start..start + 4 + length].to_vec();
        chunk.resize(4 + wanted, 9);
        let mut changed = file[..start - 4].to_vec();
        changed.extend((wanted as u32).to_be_bytes());
        changed.extend(&chunk);
        changed.extend(checksum(&chunk).to_be_bytes());
        changed.extend(&file[start + 8 + length..]);
        match Decoder::default().decode(&changed) {
            Ok(_) => assert!(good, "{wanted}"),
            Err(error) => {
                assert_eq!(error.to_string(), format!("the PNG data is damaged: a palette of {wanted} bytes"))
            }
        }
    }
}

#[test]
fn a_file_cut_anywhere_is_an_error_or_the_whole_picture() {
    for (name, bytes) in files() {
        let whole = Decoder::default().decode(&bytes).unwrap();
        let step = (bytes.len() / 150).max(1);
        let near_the_end = bytes.len().saturating_sub(40);
        for length in (0..bytes.len()).filter(|&length| length % step == 0 || length >= near_the_end) {
            if let Ok(picture) = Decoder::default().decode(&bytes[..length]) {
                assert!(picture.image.samples() == whole.image.samples(), "{name} cut to {length} bytes");
            }
        }
        let most = &bytes[..bytes.len() / 10 * 6];
        if !name.starts_with("animation") && !name.starts_with("pages") {
            assert!(Decoder::default().decode(most).is_err(), "{name} without its end");
        }
    }
}

#[test]
fn a_jpeg_that_ends_early_with_an_end_marker_is_truncated() {
    for (name, bytes) in files().into_iter().filter(|(name, _)| name.ends_with(".jpg")) {
        let scan = bytes.windows(2).rposition(|pair| pair == [0xff, 0xda]).unwrap();
        for percent in [10, 30, 50, 70] {
            let mut cut = bytes[..scan + (bytes.len() - scan) * percent / 100].to_vec();
            cut.extend([0xff, 0xd9]);
            if let Ok(picture) = Decoder::default().decode(&cut) {
                let whole = Decoder::default().decode(&bytes).unwrap();
                assert!(picture.image.samples() == whole.image.samples(), "{name} cut to {percent} %");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    /// For any changed bytes, the result is an image or a one-line error. The limit keeps memory
    /// small.
    #[test]
    fn a_file_with_changed_bytes_never_panics(
        file in 0..files().len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in prop::option::weighted(0.2, any::<prop::sample::Index>()),
    ) {
        let (_, mut bytes) = files().swap_remove(file);
        for (place, value) in changes {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Err(error) = (Decoder { max_pixels: 1 << 20, ..Decoder::default() }).decode(&bytes) {
            prop_assert!(!error.to_string().contains('\n'));
        }
    }
}

/// An uncompressed gray TIFF of 4x4 pixels with additional tags, in ascending order.
fn tiff_with(tags: &[(u16, u16, u32)]) -> Vec<u8> {
    const LONG: u16 = 4;
    const PIXELS: u32 = 4 * 4;
    let mut entries = vec![(256, LONG, 4), (257, LONG, 4), (258, LONG, 8), (259, LONG, 1), (262, LONG, 1)];
    entries.extend([(273, LONG, 8), (277, LONG, 1), (278, LONG, 4), (279, LONG, PIXELS)]);
    entries.extend_from_slice(tags);
    entries.sort_unstable();
    let mut file = b"II*\0".to_vec();
    file.extend((8 + PIXELS).to_le_bytes());
    file.extend([128; PIXELS as usize]);
    file.extend((entries.len() as u16).to_le_bytes());
    for (tag, kind, value) in entries {
        file.extend(tag.to_le_bytes());
        file.extend(kind.to_le_bytes());
        let count = if kind == 1 { 4_u32 } else { 1 };
        file.extend(count.to_le_bytes());
        file.extend(value.to_le_bytes());
    }
    file.extend([0; 4]);
    file
}

#[test]
fn a_raw_photo_is_not_judged_by_its_thumbnail() {
    assert_eq!(Decoder::default().decode(&tiff_with(&[])).unwrap().image.width(), 4);
    let (new_subfile_type, sub_ifds, dng_version) = (254, 330, 50706);
    let nef = reason(&tiff_with(&[(new_subfile_type, 4, 1), (sub_ifds, 4, 8)]));
    assert_eq!(nef, "camera raw (such as NEF) images are not supported; convert the file to PNG");
    let dng = reason(&tiff_with(&[(new_subfile_type, 4, 1), (dng_version, 1, 0x0000_0401)]));
    let expected = "this kind of camera raw is not supported: it has no JPEG preview, and raw data is not developed";
    assert!(dng.starts_with(expected), "{dng}");
    let small = reason(&tiff_with(&[(new_subfile_type, 4, 1)]));
    assert!(small.contains("the first page is a reduced copy"), "{small}");
}

#[test]
fn an_image_beyond_the_memory_limit_is_refused_before_it_is_decoded() {
    let strict = Decoder { max_memory: Some(1 << 20), ..Decoder::default() };
    let error = strict.decode(&png_of(600, 600)).unwrap_err();
    assert!(matches!(error, Error::NeedsMemory { limit: 1_048_576, .. }), "{error}");
    assert!(strict.decode(&png_of(200, 200)).is_ok());
    // Palette images are decoded to three bytes a pixel.
    let message = reason(&png_header(30000, 30000));
    assert!(message.contains("truncated") || message.contains("MB of memory"), "{message}");
}
