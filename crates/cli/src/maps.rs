//! Writes heat maps into a folder: one file per image, region and tool, with unique names.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use agenticiqa::imaging;
use agenticiqa::metrics::{Image, Map, Region};
use agenticiqa::scoring::Row;

use crate::exit::Stop;
use crate::table;

/// A heat map, and what it shows.
pub struct HeatMap<'a> {
    /// The image that was measured.
    pub image_path: &'a str,
    /// The name of the region; `None` is the whole image.
    pub region: Option<&'a str>,
    /// The tool that measured it.
    pub tool: &'a str,
    /// The score of the tool.
    pub raw_score: Option<f64>,
    /// The pixels below the map.
    pub image: &'a Image,
    /// The map.
    pub map: &'a Map,
}

/// A file that was written, and what it shows.
pub struct Written {
    /// "heat map" or "regions".
    pub what: &'static str,
    /// Its path.
    pub path: String,
}

/// A folder for heat maps, and the file names in use.
pub struct Folder {
    path: PathBuf,
    taken: HashSet<String>,
}

impl Folder {
    /// Creates the folder if it does not exist.
    pub fn create(path: &Path) -> Result<Self, Stop> {
        fs::create_dir_all(path)
            .map_err(|error| Stop::bad_input(format!("{}: cannot create the folder: {error}", path.display())))?;
        Ok(Self { path: path.to_owned(), taken: HashSet::new() })
    }

    /// Writes a heat map and returns its path.
    pub fn write(&mut self, heat_map: &HeatMap<'_>) -> Result<String, Stop> {
        let name = self.file_name(heat_map.image_path, heat_map.region, heat_map.tool);
        let path = self.path.join(name);
        let failed = |reason: String| Stop::failed(format!("{}: {reason}", path.display()));
        let title = format!("{} {}", heat_map.tool, heat_map.raw_score.map(table::number).unwrap_or_default());
        let png = imaging::overlay(heat_map.image, heat_map.map, &title).map_err(|error| failed(error.to_string()))?;
        fs::write(&path, png).map_err(|error| failed(error.to_string()))?;
        Ok(path.display().to_string())
    }

    /// Writes the image with named boxes and returns its path.
    pub fn write_boxes(&mut self, image_path: &str, image: &Image, named: &[(String, Region)]) -> Result<String, Stop> {
        let name = self.file_name(image_path, None, "regions");
        let path = self.path.join(name);
        let failed = |reason: String| Stop::failed(format!("{}: {reason}", path.display()));
        let png = imaging::boxes(image, named).map_err(|error| failed(error.to_string()))?;
        fs::write(&path, png).map_err(|error| failed(error.to_string()))?;
        Ok(path.display().to_string())
    }

    /// Writes the map of each row that has one, and notes the path in the row.
    pub fn write_rows(&mut self, rows: &mut [Row]) -> Result<(), Stop> {
        for row in rows {
            let Some((image, map)) = row.map.take() else { continue };
            let heat_map = HeatMap {
                image_path: &row.image_path,
                region: row.region.as_deref(),
                tool: &row.tool,
                raw_score: row.raw_score,
                image: &image,
                map: &map,
            };
            row.map_path = Some(self.write(&heat_map)?);
        }
        Ok(())
    }

    fn file_name(&mut self, image_path: &str, region: Option<&str>, what: &str) -> String {
        let stem = Path::new(image_path).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let region = region.map(|region| format!("-{region}")).unwrap_or_default();
        let base: String = format!("{stem}{region}-{what}")
            .chars()
            .map(|c| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' })
            .collect();
        let numbered = (2..).map(|number| format!("{base}-{number}.png"));
        let mut names = std::iter::once(format!("{base}.png")).chain(numbered);
        names.find(|name| self.taken.insert(name.clone())).unwrap_or(base)
    }
}
