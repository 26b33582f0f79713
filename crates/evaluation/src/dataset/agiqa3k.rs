//! AGIQA-3K (Li et al., IEEE TCSVT 34(8), 2024): generated images, no reference.
//!
//! `data.csv` has the columns name, prompt, adj1, adj2, style, mos_quality, std_quality, mos_align,
//! std_align. The generator is the first part of a name. Images of one prompt form one scene.

use serde_json::json;

use super::files::{Files, stem};
use super::table::Table;
use super::{Dataset, Entry, Error, Info, Scale};

pub(super) const DATASET: Dataset = Dataset {
    info: Info {
        name: "AGIQA-3K",
        summary: "2982 generated images, no reference; MOS 0 to 5",
        layout: "data.csv, images next to it or in a folder",
    },
    read,
};

const SCALE: Scale = Scale { range: [0.0, 5.0], higher_is_better: true };

fn read(files: &Files) -> Result<Vec<Entry>, Error> {
    let path =
        files.require(&["data.csv"], "get it from the dataset's repository and unpack AGIQA-3K.zip next to it")?;
    let table = Table::read(path, None, &["name", "mos_quality"])?;
    let entry = |row: super::table::Row<'_>| {
        let name = row.name("name")?;
        let prompt = row.text("prompt");
        let generator = stem(name).split('_').next().unwrap_or_default().to_owned();
        let mut entry = Entry::scored("agiqa3k", name, row.number("mos_quality")?, SCALE)
            .with_deviation(row.number("std_quality").ok())
            .with_metadata(json!({
                "generator": generator,
                "prompt": prompt,
                "style": row.text("style"),
                "mos_align": row.number("mos_align").ok(),
            }));
        if !prompt.is_empty() {
            entry.content = prompt.to_owned();
        }
        Ok(entry)
    };
    table.rows().map(entry).collect()
}
