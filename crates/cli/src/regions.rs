//! `agenticiqa regions`: what is where in an image.

use std::io::Write;
use std::path::Path;

use agenticiqa::config::Settings;
use agenticiqa::imaging::{boxes, write_atomically};
use agenticiqa::metrics::Image;
use agenticiqa::regions;
use agenticiqa::state::RegionBox;

use crate::advice::Advice;
use crate::arguments::{Regions, RegionsFormat};
use crate::exit::{Exit, Stop};
use crate::table;
use crate::terminal;

/// Prints what was found, and draws it if that was asked for.
pub fn run(arguments: &Regions, settings: &Settings) -> Result<Exit, Stop> {
    let picture = arguments.limits.decoder(settings).open(&arguments.image);
    let image = picture.map_err(|error| Stop::bad_input(&error).with(error.advice()))?.image;
    if let Some(path) = &arguments.overlay {
        refuse_same(path, &arguments.image)?;
    }
    let found = match arguments.names.as_slice() {
        [] => regions::list(&image),
        names => regions::resolve(&image, names),
    };
    let found = found.map_err(Stop::bad_input)?;
    if let Some(path) = &arguments.overlay {
        draw(&image, &found, path)?;
    }
    match arguments.format {
        RegionsFormat::Json => {
            let mut out = terminal::stdout();
            for region in &found {
                serde_json::to_writer(&mut out, region)?;
                out.write_all(b"\n")?;
            }
            out.flush()?;
        }
        RegionsFormat::Text => print(&image, &found)?,
    }
    Ok(Exit::Done)
}

fn print(image: &Image, found: &[RegionBox]) -> Result<(), Stop> {
    let mut out = terminal::stdout();
    if found.is_empty() {
        writeln!(out, "Nothing was found. Positions such as \"upper left\" can always be asked about.")?;
        return Ok(());
    }
    let mut listed = table::new(&["name", "place", "x", "y", "width", "height", "origin", "probability"]);
    for region in found {
        let place = if region.is_place() { regions::place_of(&region.region(), image) } else { "not found" };
        let class = region.class.as_ref().map(|class| format!(" ({class})")).unwrap_or_default();
        listed.add_row([
            format!("{}{class}", region.name),
            place.to_owned(),
            region.x.to_string(),
            region.y.to_string(),
            region.width.to_string(),
            region.height.to_string(),
            region.origin.name().to_owned(),
            region.probability.map(|one| format!("{one:.2}")).unwrap_or_default(),
        ]);
    }
    writeln!(out, "{listed}")?;
    Ok(())
}

/// Draws the boxes of what was found.
fn draw(image: &Image, found: &[RegionBox], path: &Path) -> Result<(), Stop> {
    let places = found.iter().filter(|region| region.is_place());
    let named: Vec<_> = places.map(|region| (region.name.to_string(), region.region())).collect();
    let png = boxes(image, &named).map_err(Stop::failed)?;
    write_atomically(path, &png)
        .map_err(|error| Stop::bad_input(format!("{}: the overlay cannot be written: {error}", path.display())))
}

/// The overlay must not replace the image that it shows.
fn refuse_same(overlay: &Path, image: &Path) -> Result<(), Stop> {
    match (overlay.canonicalize(), image.canonicalize()) {
        (Ok(overlay), Ok(image)) if overlay == image => {
            Err(Stop::bad_input(format!("{}: the overlay would replace the image", overlay.display())))
        }
        _ => Ok(()),
    }
}
