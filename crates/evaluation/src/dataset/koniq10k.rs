//! KonIQ-10k (Hosu, Lin, Sziranyi, Saupe, IEEE TIP 29, 2020): photos from the web, no reference.
//!
//! `koniq10k_distributions_sets.csv` (image_name, c1..c5, MOS, SD, set) contains the official
//! split. Otherwise `koniq10k_scores_and_distributions.csv` is read (MOS from 1 to 5, MOS_zscore
//! from 0 to 100; the latter is used).

use serde_json::{Value, json};

use super::files::Files;
use super::table::{Row, Table};
use super::{Dataset, Entry, Error, Info, Scale};

pub(super) const DATASET: Dataset = Dataset {
    info: Info {
        name: "KonIQ-10k",
        summary: "10073 photos of the web, no reference; MOS 0 to 100",
        layout: "koniq10k_distributions_sets.csv or koniq10k_scores_and_distributions.csv, 1024x768/ or 512x384/",
    },
    read,
};

fn read(files: &Files) -> Result<Vec<Entry>, Error> {
    let tables = ["koniq10k_distributions_sets.csv", "koniq10k_scores_and_distributions.csv"];
    let path = files.require(&tables, "get the score table and unpack the images next to it")?;
    let table = Table::read(path, None, &["image_name", "MOS"])?;
    let column = if table.has("MOS_zscore") { "MOS_zscore" } else { "MOS" };
    let mut scores = Vec::new();
    for row in table.rows() {
        scores.push(row.number(column)?);
    }
    let five = scores.iter().all(|score| (1.0..=5.0).contains(score));
    let range = if five { [1.0, 5.0] } else { [0.0, 100.0] };
    let scale = Scale { range, higher_is_better: true };
    table.rows().zip(scores).map(|(row, score)| entry(files, &row, score, scale)).collect()
}

fn entry(files: &Files, row: &Row<'_>, score: f64, scale: Scale) -> Result<Entry, Error> {
    let name = row.name("image_name")?;
    // Both sizes may exist. People rated the large one.
    let sizes = [format!("1024x768/{name}"), format!("512x384/{name}")];
    let image = sizes.into_iter().find(|path| files.find(path).is_some()).unwrap_or_else(|| name.to_owned());
    // SD refers to ratings from 1 to 5, independent of the scale of MOS.
    let deviation = row.number("SD").ok();
    let metadata = deviation.map_or(Value::Null, |sd| json!({"standard_deviation_of_ratings": sd}));
    let mut entry = Entry::scored("koniq10k", &image, score, scale).with_metadata(metadata);
    entry.sample.mos_std = deviation.filter(|_| scale.range == [1.0, 5.0]);
    entry.sample.split = match row.text("set").to_lowercase().as_str() {
        "training" | "train" => Some("train".to_owned()),
        "validation" | "val" => Some("validation".to_owned()),
        "test" => Some("test".to_owned()),
        _ => None,
    };
    Ok(entry)
}
