//! BID (Ciancio et al., IEEE TIP 20(1), 2011): photos with real blur, no reference.
//!
//! `DatabaseGrades.xlsx` has the number of an image and its grade from 0 to 5 in its first two
//! columns. Images are `ImageDatabase/DatabaseImage0001.JPG` and so on. A CSV export is also
//! supported.

use super::files::{Files, number};
use super::table::rows;
use super::{Dataset, Entry, Error, Info, Scale};

pub(super) const DATASET: Dataset = Dataset {
    info: Info {
        name: "BID",
        summary: "586 photos with real blur, no reference; grades 0 to 5",
        layout: "DatabaseGrades.xlsx (or .xls, .csv), ImageDatabase/DatabaseImage0001.JPG ...",
    },
    read,
};

const SCALE: Scale = Scale { range: [0.0, 5.0], higher_is_better: true };

fn read(files: &Files) -> Result<Vec<Entry>, Error> {
    let tables = ["DatabaseGrades.xlsx", "DatabaseGrades.xls", "DatabaseGrades.csv"];
    let path = files.require(&tables, "get the grades of the dataset and unpack the images next to them")?;
    let mut entries = Vec::new();
    for (line, cells) in rows(path, None)? {
        let numbers: Vec<f64> = cells.iter().take(2).filter_map(|cell| number(cell).ok()).collect();
        let [picture, grade] = numbers[..] else {
            // Headings and blank rows occur only before the first grade.
            if entries.is_empty() || cells.iter().all(String::is_empty) {
                continue;
            }
            return Err(Error::line(path, line, "the number of an image and its grade are not both there"));
        };
        entries.push(Entry::scored("bid", &format!("DatabaseImage{picture:04}.JPG"), grade, SCALE));
    }
    if entries.is_empty() {
        return Err(Error::file(path, "no row has the number of an image and a grade in its first two columns"));
    }
    Ok(entries)
}
