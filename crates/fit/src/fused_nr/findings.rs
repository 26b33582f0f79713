//! How often the findings name the problem that somebody saw.

use std::fmt::Write as _;

use agenticiqa_vision::fused_nr::Head;
use agenticiqa_vision::vocabulary::{Distortion, Problem, Severity};

use super::photos::{Label, Photo};

/// Problems by their labels, in the order of the classes after "none".
const LABELS: [&str; 14] = [
    "blur",
    "motion blur",
    "noise",
    "compression",
    "underexposure",
    "overexposure",
    "backlight",
    "low contrast",
    "colour cast",
    "dull colours",
    "oversaturation",
    "oversharpening",
    "haze",
    "other",
];

/// Returns the main problem that somebody saw.
pub fn problem_of(label: &Label) -> Option<Problem> {
    LABELS.iter().position(|name| *name == label.main_problem).map(|place| Problem::ALL[place])
}

/// Returns the tables of problems and findings.
pub fn report(photos: &[&Photo]) -> String {
    let labeled: Vec<(&Photo, usize)> = photos
        .iter()
        .filter_map(|photo| {
            let problem = &photo.label.as_ref()?.main_problem;
            Some((*photo, LABELS.iter().position(|label| label == problem).map_or(0, |place| place + 1)))
        })
        .collect();
    let likeliest = |photo: &Photo| {
        let shares = photo.reading.probabilities(Head::MainProblem);
        (0..shares.len()).max_by(|a, b| shares[*a].total_cmp(&shares[*b])).unwrap_or_default()
    };
    let right = labeled.iter().filter(|(photo, problem)| likeliest(photo) == *problem).count();
    let mut text = format!(
        "\n## Problems of photos that were never fitted to\n\nMain problem right: {:.1} % of {}.\n\n| main problem | photos | its category is found | it is the worst finding |\n| --- | ---: | ---: | ---: |\n",
        100.0 * right as f64 / labeled.len() as f64,
        labeled.len()
    );
    for (place, label) in LABELS.iter().enumerate() {
        let Some(category) = Problem::ALL[place].category() else { continue };
        let of: Vec<&Photo> =
            labeled.iter().filter(|(_, problem)| *problem == place + 1).map(|(photo, _)| *photo).collect();
        let share = |is: &dyn Fn(&Photo) -> bool| {
            100.0 * of.iter().filter(|photo| is(photo)).count() as f64 / of.len().max(1) as f64
        };
        let found = share(&|photo| photo.examination.finding(category).severity > Severity::None);
        let worst =
            share(&|photo| photo.examination.detected().first().is_some_and(|first| first.category == category));
        let _ = writeln!(text, "| {label} | {} | {found:.0} % | {worst:.0} % |", of.len());
    }
    text += &quarters(photos);
    text
}

/// Returns how often something is found in the worst and in the best photos.
fn quarters(photos: &[&Photo]) -> String {
    let mut ranked: Vec<&Photo> = photos.to_vec();
    ranked.sort_by(|a, b| a.opinion.total_cmp(&b.opinion).then_with(|| a.name.cmp(&b.name)));
    let quarter = ranked.len() / 4;
    let mut text = "\n| photos | something is found | by category |\n| --- | ---: | --- |\n".to_owned();
    for (name, of) in [("worst quarter", &ranked[..quarter]), ("best quarter", &ranked[ranked.len() - quarter..])] {
        let share = |is: &dyn Fn(&Photo) -> bool| {
            100.0 * of.iter().filter(|photo| is(photo)).count() as f64 / of.len().max(1) as f64
        };
        let any = share(&|photo| !photo.examination.detected().is_empty());
        let each: Vec<String> = Distortion::ALL
            .iter()
            .map(|category| {
                let found = share(&|photo| photo.examination.finding(*category).severity > Severity::None);
                format!("{} {found:.0} %", category.name())
            })
            .collect();
        let _ = writeln!(text, "| {name} | {any:.1} % | {} |", each.join(", "));
    }
    text
}
