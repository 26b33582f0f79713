//! Heat maps into a folder, one file for each image, region and tool; no file overwrites another of the same call.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use agenticiqa::imaging;
use agenticiqa::scoring::Row;

use crate::exit::Stop;
use crate::table;

/// The folder, and the names already given.
pub struct Folder {
    path: PathBuf,
    taken: HashSet<String>,
}

impl Folder {
    /// Makes sure that the folder is there.
    pub fn create(path: &Path) -> Result<Self, Stop> {
        fs::create_dir_all(path)
            .map_err(|error| Stop::bad_input(format!("{}: the folder cannot be made: {error}", path.display())))?;
        Ok(Self { path: path.to_owned(), taken: HashSet::new() })
    }

    /// Writes the map of each row that has one, and notes the path in the row.
    pub fn write(&mut self, rows: &mut [Row]) -> Result<(), Stop> {
        for row in rows {
            let Some((image, map)) = row.map.take() else { continue };
            let failed = |path: &Path, reason: String| Stop::failed(format!("{}: {reason}", path.display()));
            let name = self.name(row);
            let path = self.path.join(name);
            let title = format!("{} {}", row.tool, row.raw_score.map(table::number).unwrap_or_default());
            let png = imaging::overlay(&image, &map, &title).map_err(|error| failed(&path, error.to_string()))?;
            fs::write(&path, png).map_err(|error| failed(&path, error.to_string()))?;
            row.map_path = Some(path.display().to_string());
        }
        Ok(())
    }

    fn name(&mut self, row: &Row) -> String {
        let stem = Path::new(&row.image_path).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let region = row.region.as_ref().map(|region| format!("-{region}")).unwrap_or_default();
        let base: String = format!("{stem}{region}-{}", row.tool)
            .chars()
            .map(|c| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' })
            .collect();
        let numbered = (2..).map(|number| format!("{base}-{number}.png"));
        let mut names = std::iter::once(format!("{base}.png")).chain(numbered);
        names.find(|name| self.taken.insert(name.clone())).unwrap_or(base)
    }
}
