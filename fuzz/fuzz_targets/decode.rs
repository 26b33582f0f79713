//! Any bytes are a picture or an error; a picture can be shown and scored.
#![no_main]

use agenticiqa_imaging::{Decoder, jpeg_quality};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = jpeg_quality(bytes);
    if let Ok(picture) = (Decoder { max_pixels: 1 << 18 }).decode(bytes) {
        assert!(picture.image.width() * picture.image.height() <= 1 << 18);
        assert!(picture.image.gray().data().iter().all(|value| (0.0..=255.0).contains(value)));
    }
});
