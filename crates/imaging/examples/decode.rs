//! Decodes files and prints what was done. With `--raw DIR` it also writes the interleaved
//! samples, to compare decoders.
#![allow(clippy::print_stdout)]

use std::path::PathBuf;

use agenticiqa_imaging::Decoder;
use agenticiqa_metrics::{Image, Samples};

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1).peekable();
    let raw = arguments.next_if_eq("--raw").and_then(|_| arguments.next()).map(PathBuf::from);
    for file in arguments {
        let start = std::time::Instant::now();
        let picture = match Decoder::default().open(&file) {
            Ok(picture) => picture,
            Err(error) => {
                println!("{error}");
                continue;
            }
        };
        let milliseconds = start.elapsed().as_secs_f64() * 1000.0;
        let notes: Vec<String> = picture.notes.iter().map(ToString::to_string).collect();
        let quality = picture.image.source().jpeg_quality;
        println!("{file}: {} {:?} {quality:?} {milliseconds:.1} ms {notes:?}", picture.format, picture.image);
        if let Some(folder) = &raw {
            let name = PathBuf::from(&file).with_extension("raw");
            std::fs::write(folder.join(name.file_name().unwrap_or_default()), interleaved(&picture.image))?;
        }
    }
    Ok(())
}

fn interleaved(image: &Image) -> Vec<u8> {
    let size = image.width() * image.height();
    let order = (0..size).flat_map(|i| (0..image.channels()).map(move |channel| channel * size + i));
    match image.samples() {
        Samples::Eight(data) => order.map(|at| data[at]).collect(),
        Samples::Sixteen(data) => order.flat_map(|at| data[at].to_le_bytes()).collect(),
    }
}
