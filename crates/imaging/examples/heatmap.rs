//! Writes the heat map of a metric:
//! `cargo run --release --example heatmap -- SSIM reference.png image.png out.png`.

use agenticiqa_imaging::{Decoder, overlay};
use agenticiqa_metrics::{Pair, find};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, reference, image, out] = arguments.as_slice() else {
        return Err("usage: heatmap METRIC REFERENCE IMAGE OUTPUT".into());
    };
    let metric = find(name).ok_or("unknown metric")?;
    let reference = Decoder::default().open(reference)?.image;
    let image = Decoder::default().open(image)?.image;
    let measured = metric.measure(&Pair::new(&reference, &image)?.with_map())?;
    let map = measured.map.ok_or("this metric has no map")?;
    std::fs::write(out, overlay(&image, &map, &format!("{}  {:.4}", metric.info().name, measured.score))?)?;
    Ok(())
}
