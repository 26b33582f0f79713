//! Any bytes are an image or an error; an image can be shown and scored.
#![no_main]

use agenticiqa_imaging::{Decoder, jpeg_quality};
use libfuzzer_sys::fuzz_target;

fuzz_target!(
    init: {
        // The AV1 decoder panics where it should return an error; the library catches that. All other panics count.
        let fatal = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !panic.location().is_some_and(|place| place.file().contains("rusty_av1d")) {
                fatal(panic);
            }
        }));
    },
    |bytes: &[u8]| {
        let _ = jpeg_quality(bytes);
        if let Ok(picture) = (Decoder { max_pixels: 1 << 18, ..Decoder::default() }).decode(bytes) {
            assert!(picture.image.width() * picture.image.height() <= 1 << 18);
            assert!(picture.image.gray().data().iter().all(|value| (0.0..=255.0).contains(value)));
        }
    }
);
