//! Detection and scores on photos that were distorted on purpose.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod agreement;
mod contributions;
mod detector;
mod fused_fr;
mod fused_nr;
mod not_photos;
mod perception;
mod regions;
mod repair;

use std::path::Path;

use agenticiqa_imaging::Decoder;
use agenticiqa_metrics::Image;

/// Opens an example image that ships with the project.
fn photo(name: &str) -> Image {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    Decoder::default().open(path).unwrap().image
}
