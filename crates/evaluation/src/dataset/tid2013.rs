//! TID2013 (Ponomarenko et al., Signal Processing: Image Communication 30, 2015): 25 references,
//! 24 distortions, 5 levels.
//!
//! `mos_with_names.txt` has a line "MOS name" for each image, `mos_std.txt` the standard deviations
//! in the same order. The case of names (`i01_01_1.bmp`, `I01.BMP`) varies in the text and on disk.

use serde_json::json;

use super::files::{Files, number, read_text};
use super::{Dataset, Entry, Error, Info, Scale};

pub(super) const DATASET: Dataset = Dataset {
    info: Info {
        name: "TID2013",
        summary: "3000 images of 25 references, 24 distortions at 5 levels; MOS 0 to 9",
        layout: "mos_with_names.txt, mos_std.txt, distorted_images/, reference_images/",
    },
    read,
};

const SCALE: Scale = Scale { range: [0.0, 9.0], higher_is_better: true };

/// The distortions by number, with the names of the paper.
const DISTORTIONS: [&str; 24] = [
    "additive Gaussian noise",
    "additive noise in color components",
    "spatially correlated noise",
    "masked noise",
    "high frequency noise",
    "impulse noise",
    "quantization noise",
    "Gaussian blur",
    "image denoising",
    "JPEG compression",
    "JPEG2000 compression",
    "JPEG transmission errors",
    "JPEG2000 transmission errors",
    "non-eccentricity pattern noise",
    "local block-wise distortions",
    "mean shift",
    "contrast change",
    "change of color saturation",
    "multiplicative Gaussian noise",
    "comfort noise",
    "lossy compression of noisy images",
    "color quantization with dither",
    "chromatic aberrations",
    "sparse sampling and reconstruction",
];

fn read(files: &Files) -> Result<Vec<Entry>, Error> {
    let path =
        files.require(&["mos_with_names.txt"], "unpack tid2013.rar there, score files and both image folders")?;
    let deviations = deviations(files)?;
    let mut entries = Vec::new();
    for (index, line) in read_text(path)?.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let wrong = |reason: String| Error::line(path, index + 1, reason);
        let (mos, name) = line
            .trim()
            .split_once(char::is_whitespace)
            .ok_or_else(|| wrong(format!("{line:?} is not \"MOS name\", for example \"5.51429 i01_01_1.bmp\"")))?;
        let name = name.trim();
        let (reference, distortion, level) = parts(name)
            .ok_or_else(|| wrong(format!("{name:?} is not a name such as i01_01_1.bmp: reference_distortion_level")))?;
        let mos = number(mos).map_err(wrong)?;
        let entry = Entry::scored("tid2013", &format!("distorted_images/{name}"), mos, SCALE)
            .against(&format!("reference_images/{reference}.bmp"))
            .with_deviation(deviations.get(entries.len()).copied())
            .with_metadata(json!({
                "distortion": DISTORTIONS[distortion - 1],
                "distortion_type": distortion,
                "level": level,
            }));
        entries.push(entry);
    }
    Ok(entries)
}

/// Splits a name such as `i01_01_1.bmp` into reference, distortion number and level.
fn parts(name: &str) -> Option<(String, usize, u32)> {
    let stem = name.rsplit_once('.')?.0.to_lowercase();
    let mut parts = stem.split('_');
    let (reference, distortion, level) = (parts.next()?, parts.next()?, parts.next()?);
    let distortion: usize = distortion.parse().ok()?;
    ((1..=DISTORTIONS.len()).contains(&distortion) && parts.next().is_none()).then_some((
        reference.to_owned(),
        distortion,
        level.parse().ok()?,
    ))
}

fn deviations(files: &Files) -> Result<Vec<f64>, Error> {
    let Some(path) = files.find("mos_std.txt") else { return Ok(Vec::new()) };
    let text = read_text(path)?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(index, line)| number(line).map_err(|reason| Error::line(path, index + 1, reason))).collect()
}
