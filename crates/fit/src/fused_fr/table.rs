//! Reads the table that Fused-FR is fitted to: mean opinions and metric scores, one row per image.

use std::collections::HashMap;
use std::path::Path;

use agenticiqa_vision::fused_fr::{BEST, Evidence, MEMBERS, STATISTICS, WORST};

use crate::error::Error;

/// One distorted image.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// Number of the original image.
    pub content: usize,
    /// Number of the kind of distortion.
    pub kind: usize,
    /// The mean opinion, 0 to 9.
    pub opinion: f64,
    /// The mean opinion on the scale of the other tools, 1 to 5.
    pub target: f64,
    /// The measurements.
    pub evidence: Evidence,
}

/// Maps opinions of TID2013 to the scale of the fits on KADID-10k, so that both have the same mean
/// and spread.
fn on_the_common_scale(opinion: f64) -> f64 {
    (3.16 + 0.65 * (opinion - 4.475)).clamp(WORST, BEST)
}

/// Reads the table. Errors name a missing column or number.
pub fn read(path: &Path) -> Result<Vec<Row>, Error> {
    let text = std::fs::read_to_string(path).map_err(|error| Error::file(path, error))?;
    let rows = parse(&text).map_err(|reason| Error::Nothing(format!("{}: {reason}", path.display())))?;
    if rows.is_empty() { Err(Error::Nothing(format!("{}: it has no rows", path.display()))) } else { Ok(rows) }
}

fn parse(text: &str) -> Result<Vec<Row>, String> {
    let mut lines = text.lines();
    let header: HashMap<&str, usize> =
        lines.next().unwrap_or_default().split(',').enumerate().map(|(place, name)| (name, place)).collect();
    let numbered = lines.enumerate().filter(|(_, line)| !line.trim().is_empty());
    numbered
        .map(|(number, line)| {
            let cells: Vec<&str> = line.split(',').collect();
            let number_of = |name: &str| {
                let place = header
                    .get(name)
                    .or_else(|| header.get(name.replace('-', "_").as_str()))
                    .ok_or_else(|| format!("there is no column {name}"))?;
                let value =
                    cells.get(*place).and_then(|cell| cell.parse().ok()).filter(|value: &f64| value.is_finite());
                value.ok_or_else(|| format!("line {}: {name} is no number", number + 2))
            };
            row(number_of)
        })
        .collect()
}

fn row(number_of: impl Fn(&str) -> Result<f64, String>) -> Result<Row, String> {
    let mut evidence = Evidence { distances: [0.0; MEMBERS.len()], statistics: [0.0; STATISTICS.len()] };
    for (distance, member) in evidence.distances.iter_mut().zip(MEMBERS) {
        *distance = member.distance(number_of(member.name())?);
    }
    for (statistic, name) in evidence.statistics.iter_mut().zip(STATISTICS) {
        *statistic = number_of(name)?;
    }
    let opinion = number_of("mos")?;
    let target = on_the_common_scale(opinion);
    let (content, kind) = (number_of("reference_index")? as usize, number_of("distortion_type")? as usize);
    Ok(Row { content, kind, opinion, target, evidence })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "reference_index,distortion_type,mos,GMSD,MDSI,HaarPSI,SSIM,VSI,NLPD,PSNR_Y,luma_shift,luma_std_ratio,affine_gain,affine_residual,chroma_ratio,chroma_rmse";

    #[test]
    fn columns_are_found_by_name_and_scores_become_distances() {
        let rows = parse(&format!("{HEADER}\n3,11,4.475,0.2,0.5,0.75,0.5,0.9,0.3,20,1,2,3,4,5,6\n")).unwrap();
        assert_eq!((rows[0].content, rows[0].kind, rows[0].target), (3, 11, 3.16));
        assert_eq!(rows[0].evidence.statistics, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let expected = [0.1, 0.5, 0.25, 0.2, 0.3, 0.5, 25.5];
        rows[0].evidence.distances.iter().zip(expected).for_each(|(a, b)| assert!((a - b).abs() < 1e-12));
    }

    #[test]
    fn what_is_missing_is_named() {
        assert_eq!(parse("mos\n1\n").unwrap_err(), "there is no column VSI");
        let text = format!("{HEADER}\n3,11,4.475,0.2,0.5,0.75,0.5,x,0.3,20,1,2,3,4,5,6\n");
        assert_eq!(parse(&text).unwrap_err(), "line 2: VSI is no number");
    }
}
