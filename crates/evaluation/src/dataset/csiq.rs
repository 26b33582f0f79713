//! CSIQ (Larson, Chandler, Journal of Electronic Imaging 19(1), 2010): 30 references, 6
//! distortions, up to 5 levels.
//!
//! `csiq.DMOS.xlsx` has the columns image, dst_idx, dst_type, dst_lev, dmos_std, dmos in its sheet
//! "all_by_image", below some remarks. Without the workbook, `csiq_label.txt` ("name dmos" per
//! line) is read. Lower is better.

use serde_json::json;

use super::files::{Files, number, read_text, stem};
use super::table::{Row, Table};
use super::{Dataset, Entry, Error, Info, Scale};

pub(super) const DATASET: Dataset = Dataset {
    info: Info {
        name: "CSIQ",
        summary: "866 images of 30 references, 6 distortions; DMOS 0 to 1, lower is better",
        layout: "csiq.DMOS.xlsx (or csiq_label.txt), src_imgs/, dst_imgs/",
    },
    read,
};

const SCALE: Scale = Scale { range: [0.0, 1.0], higher_is_better: false };

/// The name in the workbook, the name in file names, and the distortion.
const DISTORTIONS: [(&str, &str, &str); 6] = [
    ("noise", "AWGN", "white noise"),
    ("blur", "BLUR", "Gaussian blur"),
    ("contrast", "contrast", "contrast change"),
    ("fnoise", "fnoise", "pink noise"),
    ("jpeg", "JPEG", "JPEG compression"),
    ("jpeg 2000", "jpeg2000", "JPEG2000 compression"),
];

fn read(files: &Files) -> Result<Vec<Entry>, Error> {
    let hint = "get it from the dataset's page with src_imgs.zip and dst_imgs.zip, and unpack these";
    let path = files.require(&["csiq.DMOS.xlsx", "csiq.DMOS.csv", "csiq_label.txt"], hint)?;
    if path.extension().is_some_and(|own| own == "txt") {
        let text = read_text(path)?;
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        return lines
            .map(|(index, line)| labeled(line).map_err(|reason| Error::line(path, index + 1, reason)))
            .collect();
    }
    let table = Table::read(path, Some("all_by_image"), &["image", "dst_type", "dst_lev", "dmos"])?;
    table.rows().filter(|row| !row.text("image").is_empty()).map(|row| rated(&row)).collect()
}

/// Reads a row of the workbook.
fn rated(row: &Row<'_>) -> Result<Entry, Error> {
    let (image, kind) = (row.name("image")?.to_lowercase(), row.name("dst_type")?.to_lowercase());
    let known = DISTORTIONS.iter().find(|(word, ..)| *word == kind || word.replace(' ', "") == kind);
    let (_, in_name, distortion) = known.ok_or_else(|| row.error(format!("dst_type {kind:?} is unknown")))?;
    let level = row.number("dst_lev")?;
    let name = format!("{image}.{in_name}.{level}.png");
    let deviation = row.number("dmos_std").ok();
    Ok(entry(&name, &image, row.number("dmos")?, distortion, level).with_deviation(deviation))
}

/// Reads a line such as `1600.AWGN.1.png 0.061`.
fn labeled(line: &str) -> Result<Entry, String> {
    let (name, score) = line.trim().rsplit_once(char::is_whitespace).ok_or("it is not \"name dmos\"")?;
    let stem = stem(name.trim());
    let [image, kind, level] = stem.split('.').collect::<Vec<_>>()[..] else {
        return Err(format!("{name:?} is not a name such as 1600.AWGN.1.png"));
    };
    let known = DISTORTIONS.iter().find(|(_, word, _)| word.eq_ignore_ascii_case(kind));
    let (.., distortion) = known.ok_or_else(|| format!("{kind:?} is no distortion of CSIQ"))?;
    Ok(entry(name.trim(), image, number(score)?, distortion, number(level)?))
}

fn entry(name: &str, image: &str, score: f64, distortion: &str, level: f64) -> Entry {
    Entry::scored("csiq", name, score, SCALE)
        .against(&format!("{image}.png"))
        .with_metadata(json!({"distortion": distortion, "level": level}))
}
