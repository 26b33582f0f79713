//! KADID-10k (Lin, Hosu, Saupe, QoMEX 2019): 81 references, 25 distortions, 5 levels.
//!
//! `dmos.csv` has the columns dist_img, ref_img, dmos, var. Despite its name, dmos is an opinion
//! from 1 to 5, and higher is better; var is its variance.

use agenticiqa_distort::Kind;
use serde_json::json;

use super::files::{Files, stem};
use super::table::Table;
use super::{Dataset, Entry, Error, Info, Scale};

pub(super) const DATASET: Dataset = Dataset {
    info: Info {
        name: "KADID-10k",
        summary: "10125 images of 81 references, 25 distortions at 5 levels; DMOS 1 to 5, higher is better",
        layout: "dmos.csv, images/",
    },
    read,
};

const SCALE: Scale = Scale { range: [1.0, 5.0], higher_is_better: true };

fn read(files: &Files) -> Result<Vec<Entry>, Error> {
    let path = files.require(&["dmos.csv"], "unpack kadid10k.zip there")?;
    let table = Table::read(path, None, &["dist_img", "ref_img", "dmos"])?;
    let entry = |row: super::table::Row<'_>| {
        let image = row.name("dist_img")?;
        let strange = || row.error(format!("{image:?} is not a name such as I01_01_01.png"));
        let numbers: Vec<usize> = stem(image).split('_').skip(1).filter_map(|part| part.parse().ok()).collect();
        let [distortion, level] = numbers[..] else { return Err(strange()) };
        let kind = distortion.checked_sub(1).and_then(|index| Kind::ALL.get(index)).ok_or_else(strange)?;
        let deviation = if row.text("var").is_empty() { None } else { Some(row.number("var")?.max(0.0).sqrt()) };
        Ok(Entry::scored("kadid10k", image, row.number("dmos")?, SCALE)
            .against(row.name("ref_img")?)
            .with_deviation(deviation)
            .with_metadata(json!({"distortion": kind.name(), "distortion_type": distortion, "level": level})))
    };
    table.rows().map(entry).collect()
}
