//! Memory limits for hostile files: every allocation of a decode is counted.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failed test is a panic")]
#![allow(unsafe_code, reason = "a counting allocator cannot be written without")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use agenticiqa_imaging::Decoder;
use image::{ExtendedColorType, ImageEncoder};

struct Counting;

static USED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is forwarded unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        PEAK.fetch_max(USED.fetch_add(layout.size(), Relaxed) + layout.size(), Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        PEAK.fetch_max(USED.fetch_add(layout.size(), Relaxed) + layout.size(), Relaxed);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Peak memory of a decode in bytes, beyond the memory in use before.
fn peak(bytes: &[u8]) -> usize {
    let before = USED.load(Relaxed);
    PEAK.store(before, Relaxed);
    let _ = Decoder::default().decode(bytes);
    PEAK.load(Relaxed) - before
}

/// A single test, so that no other test allocates at the same time.
#[test]
fn small_hostile_files_take_little_memory() {
    const MEGABYTE: usize = 1 << 20;
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");

    // A header that claims more than the data can hold.
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x75\x30\0\0\x75\x30\x08\x02\0\0\0\0\0\0\0".to_vec();
    png.extend(b"\0\0\0\x08IDATabcdefgh\0\0\0\0");
    assert!(peak(&png) < MEGABYTE);

    // A JPEG frame header with the largest size below the limit, on the data of a small image.
    let mut jpeg = fs::read(data.join("progressive.jpg")).unwrap();
    let frame = jpeg.windows(2).position(|pair| pair == [0xff, 0xc2]).unwrap();
    jpeg[frame + 5..frame + 9].copy_from_slice(&[0x7a, 0, 0x7a, 0]);
    assert!(peak(&jpeg) < MEGABYTE);

    // A color profile that decompresses to far more than the image.
    let mut bomb = Vec::new();
    let mut encoder = image::codecs::png::PngEncoder::new(&mut bomb);
    encoder.set_icc_profile(vec![0; 512 * MEGABYTE]).unwrap();
    encoder.write_image(&[1, 2, 3], 1, 1, ExtendedColorType::Rgb8).unwrap();
    assert!(bomb.len() < 4 * MEGABYTE);
    let used = peak(&bomb);
    assert!(used < 200 * MEGABYTE, "{} MB for the profile", used / MEGABYTE);

    // A valid photo: twice its samples, the coded bytes, and little else.
    let (width, height) = (4000, 3000);
    let mut photo = Vec::new();
    let samples: Vec<u8> = (0..width * height * 3).map(|i| (i >> 3) as u8).collect();
    let encoder = image::codecs::png::PngEncoder::new(&mut photo);
    encoder.write_image(&samples, width as u32, height as u32, ExtendedColorType::Rgb8).unwrap();
    let used = peak(&photo);
    assert!(used < width * height * 3 * 2 + 4 * MEGABYTE, "{} MB", used / MEGABYTE);
}
