//! SPAQ (Fang et al., CVPR 2020): smartphone photos, no reference.
//!
//! `Annotations/MOS and Image attribute scores.xlsx` has the columns Image name, MOS, Brightness,
//! Colorfulness, Contrast, Noisiness and Sharpness, all from 0 to 100. A CSV export is also
//! supported.

use serde_json::{Map, Value};

use super::files::Files;
use super::table::Table;
use super::{Dataset, Entry, Error, Info, Scale};

pub(super) const DATASET: Dataset = Dataset {
    info: Info {
        name: "SPAQ",
        summary: "11125 photos of smartphones, no reference; MOS 0 to 100",
        layout: "Annotations/MOS and Image attribute scores.xlsx (or .csv), TestImage/",
    },
    read,
};

const SCALE: Scale = Scale { range: [0.0, 100.0], higher_is_better: true };
const ATTRIBUTES: [&str; 5] = ["Brightness", "Colorfulness", "Contrast", "Noisiness", "Sharpness"];

fn read(files: &Files) -> Result<Vec<Entry>, Error> {
    let tables = [
        "MOS and Image attribute scores.xlsx",
        "MOS_and_Image_attribute_scores.xlsx",
        "MOS and Image attribute scores.csv",
        "MOS_and_Image_attribute_scores.csv",
    ];
    let path = files.require(&tables, "it lies in Annotations of the dataset; unpack the images next to it")?;
    let table = Table::read(path, None, &["Image name", "MOS"])?;
    let entry = |row: super::table::Row<'_>| {
        let attributes =
            ATTRIBUTES.iter().filter_map(|name| Some((name.to_lowercase(), row.number(name).ok()?.into())));
        let metadata: Map<String, Value> = attributes.collect();
        Ok(Entry::scored("spaq", row.name("Image name")?, row.number("MOS")?, SCALE).with_metadata(metadata.into()))
    };
    table.rows().map(entry).collect()
}
