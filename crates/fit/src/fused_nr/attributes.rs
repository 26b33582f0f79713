//! How often the attributes are what somebody saw.

use std::fmt::Write as _;

use agenticiqa_vision::vocabulary::Axis;

use super::photos::{Label, Photo};

/// The levels of an axis, in their order; classes without an order have no neighbors.
const LEVELS: [(Axis, bool, &[&str]); 9] = [
    (Axis::Lighting, true, &["very dark", "dark", "medium", "bright", "very bright"]),
    (Axis::Exposure, false, &["under", "right", "over", "backlit", "mixed"]),
    (Axis::Sharpness, true, &["oversharpened", "sharp", "slightly soft", "blurry", "very blurry"]),
    (Axis::Noise, true, &["none", "slight", "strong"]),
    (Axis::Contrast, true, &["low", "normal", "high"]),
    (Axis::Colorfulness, true, &["monochrome", "dull", "normal", "vivid"]),
    (Axis::Cast, false, &["none", "warm", "cool", "green", "magenta", "other"]),
    (Axis::Compression, true, &["none", "slight", "strong"]),
    (Axis::Haze, false, &["none", "hazy"]),
];

fn labeled(axis: Axis, label: &Label) -> &str {
    match axis {
        Axis::Lighting => &label.lighting,
        Axis::Exposure if label.exposure == "ok" => "right",
        Axis::Exposure => &label.exposure,
        Axis::Sharpness if label.sharpness == "sharp" && label.sharpened => "oversharpened",
        Axis::Sharpness => &label.sharpness,
        Axis::Noise => &label.noise,
        Axis::Contrast => &label.contrast,
        Axis::Colorfulness => &label.color,
        Axis::Cast => &label.cast,
        Axis::Compression => &label.compression,
        Axis::Haze if label.haze => "hazy",
        Axis::Haze => "none",
    }
}

/// Returns the table of attributes.
pub fn report(photos: &[&Photo]) -> String {
    let mut text = "\n## Attributes of photos that were never fitted to\n\n| axis | photos | exact | within one level | always the commonest |\n| --- | ---: | ---: | ---: | ---: |\n".to_owned();
    for (axis, ordered, levels) in LEVELS {
        let place = |level: &str| levels.iter().position(|known| *known == level).unwrap_or(usize::MAX);
        let pairs: Vec<(usize, usize)> = photos
            .iter()
            .filter_map(|photo| {
                let seen = place(labeled(axis, photo.label.as_ref()?));
                let attribute = photo.examination.attributes.get(&axis)?;
                Some((seen, place(attribute.level.as_str())))
            })
            .collect();
        let share = |count: usize| 100.0 * count as f64 / pairs.len() as f64;
        let exact = share(pairs.iter().filter(|(seen, found)| seen == found).count());
        let near = share(pairs.iter().filter(|(seen, found)| seen.abs_diff(*found) <= 1).count());
        let near = if ordered { format!("{near:.0} %") } else { "-".to_owned() };
        let commonest = (0..levels.len()).map(|level| pairs.iter().filter(|(seen, _)| *seen == level).count()).max();
        let _ = writeln!(
            text,
            "| {} | {} | {exact:.0} % | {near} | {:.0} % |",
            axis.name(),
            pairs.len(),
            share(commonest.unwrap_or_default())
        );
    }
    text
}
