//! Reports the accuracy of a model on photos that it was not fitted to, as Markdown.

use std::fmt::Write as _;

use agenticiqa_distort::{Category, Kind};
use agenticiqa_vision::perception::{Judge, Verdict, level, severity};
use agenticiqa_vision::vocabulary::{Distortion, Severity};

use crate::labels;
use crate::samples::Sample;
use crate::train::{Mode, Taken, target, values};

/// The findings of a model for one image.
struct Judged<'a> {
    sample: &'a Sample,
    mode: Mode,
    elsewhere: bool,
    levels: Vec<f64>,
}

impl Judged<'_> {
    fn has(&self, category: Distortion) -> bool {
        severity(self.levels[category as usize]) > Severity::None
    }

    /// Returns the worst detected distortion.
    fn worst(&self) -> Option<usize> {
        let found = (0..7).filter(|&i| severity(self.levels[i]) > Severity::None);
        found.max_by(|&a, &b| self.levels[a].total_cmp(&self.levels[b]))
    }

    /// Returns the number of falsely detected categories.
    fn false_ones(&self) -> usize {
        Distortion::ALL
            .into_iter()
            .filter(|&category| self.has(category) && target(self.sample, category, self.mode) == Some(0.0))
            .count()
    }

    fn kind(&self) -> Option<Kind> {
        match self.sample.given.as_slice() {
            [given] => Some(Kind::ALL[given.kind]),
            _ => None,
        }
    }
}

/// Reports the accuracy of a judge.
pub fn report(judge: &Judge, samples: &[Taken<'_>], mode: Mode) -> String {
    let judged: Vec<Judged<'_>> = samples
        .iter()
        .map(|&Taken { sample, elsewhere, .. }| {
            let verdicts: Vec<Verdict> = judge.verdicts(&values(sample, mode));
            Judged { sample, mode, elsewhere, levels: verdicts.iter().map(level).collect() }
        })
        .collect();
    let mut text = String::new();
    summary(&mut text, &judged);
    confusion(&mut text, &judged);
    by_kind(&mut text, &judged);
    severities(&mut text, &judged);
    text
}

fn percent(part: usize, whole: usize) -> String {
    if whole == 0 { "-".to_owned() } else { format!("{:.1} %", 100.0 * part as f64 / whole as f64) }
}

fn rate<'a>(judged: impl Iterator<Item = &'a Judged<'a>>, right: impl Fn(&Judged<'_>) -> bool) -> String {
    let (mut part, mut whole) = (0, 0);
    for picture in judged {
        whole += 1;
        part += usize::from(right(picture));
    }
    format!("{} of {whole}", percent(part, whole))
}

fn level_of(judged: &Judged<'_>) -> u8 {
    judged.sample.given.first().map_or(0, |given| given.level)
}

fn summary(text: &mut String, judged: &[Judged<'_>]) {
    let clean = || judged.iter().filter(|picture| picture.sample.given.is_empty());
    let _ =
        writeln!(text, "- clean photos without any finding: {}", rate(clean(), |picture| picture.worst().is_none()));
    let large = clean().filter(|picture| picture.sample.large);
    let _ = writeln!(text, "- of these at full size: {}", rate(large, |picture| picture.worst().is_none()));
    let elsewhere = clean().filter(|picture| picture.elsewhere);
    let _ = writeln!(text, "- of these not of BIQ2021: {}", rate(elsewhere, |picture| picture.worst().is_none()));
    let own = |picture: &Judged<'_>| picture.kind().and_then(labels::category);
    for category in Distortion::ALL {
        let strong = judged.iter().filter(|picture| own(picture) == Some(category) && level_of(picture) >= 3);
        let strong = strong.filter(|picture| picture.kind() != Some(Kind::Pixelate));
        let _ = writeln!(text, "- {category}, level 3 to 5, found: {}", rate(strong, |picture| picture.has(category)));
    }
    let near = |picture: &&Judged<'_>| own(picture).is_some();
    let _ = writeln!(
        text,
        "- severity of the own category within one step: {}",
        rate(judged.iter().filter(near), |picture| {
            let Some(category) = own(picture) else { return false };
            let wanted = severity(picture.sample.given[0].visible()) as i32;
            (severity(picture.levels[category as usize]) as i32 - wanted).abs() <= 1
        })
    );
    let distorted: Vec<&Judged<'_>> = judged.iter().filter(|picture| picture.sample.given.len() == 1).collect();
    let false_ones: usize = distorted.iter().map(|picture| picture.false_ones()).sum();
    let _ = writeln!(
        text,
        "- false categories a distorted image: {:.2}",
        false_ones as f64 / distorted.len().max(1) as f64
    );
    let two = || judged.iter().filter(|picture| picture.sample.given.len() == 2);
    for place in 0..2 {
        let visible = two().filter(|picture| picture.sample.given[place].visible() >= 1.5);
        let found = rate(visible, |picture| {
            labels::category(Kind::ALL[picture.sample.given[place].kind]).is_some_and(|category| picture.has(category))
        });
        let which = ["first (blur, tone or color)", "second (noise or JPEG)"][place];
        let _ = writeln!(text, "- images with two distortions: {which} found if at least moderate: {found}");
    }
    let _ = writeln!(text);
}

fn confusion(text: &mut String, judged: &[Judged<'_>]) {
    let _ =
        writeln!(text, "Worst finding (columns) of images with one distortion of level 3 to 5 (rows), in percent:\n");
    let _ = writeln!(text, "| | Blurs | Color | Compr. | Noise | Bright. | Sharpn. | Contr. | none | images |");
    let _ = writeln!(text, "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let groups: [(&str, Option<Category>); 9] = [
        ("Blurs", Some(Category::Blurs)),
        ("Color distortions", Some(Category::Color)),
        ("Compression", Some(Category::Compression)),
        ("Noise", Some(Category::Noise)),
        ("Brightness change", Some(Category::Brightness)),
        ("Sharpness", Some(Category::Sharpness)),
        ("Contrast", Some(Category::Contrast)),
        ("spatial distortions", Some(Category::Spatial)),
        ("clean", None),
    ];
    for (name, group) in groups {
        let rows: Vec<&Judged<'_>> = judged
            .iter()
            .filter(|picture| match group {
                Some(group) => picture.kind().is_some_and(|kind| kind.category() == group) && level_of(picture) >= 3,
                None => picture.sample.given.is_empty(),
            })
            .collect();
        let share = |column: Option<usize>| {
            let count = rows.iter().filter(|picture| picture.worst() == column).count();
            format!("{:.1}", 100.0 * count as f64 / rows.len().max(1) as f64)
        };
        let cells: Vec<String> = (0..7).map(Some).chain([None]).map(share).collect();
        let _ = writeln!(text, "| {name} | {} | {} |", cells.join(" | "), rows.len());
    }
    let _ = writeln!(text);
}

fn by_kind(text: &mut String, judged: &[Judged<'_>]) {
    let _ = writeln!(
        text,
        "Found among the detected ones, in percent, by level; and false categories an image (level 3 to 5):\n"
    );
    let _ = writeln!(text, "| kind | own category | 1 | 2 | 3 | 4 | 5 | false | also found (level 3 to 5) |");
    let _ = writeln!(text, "| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for kind in Kind::ALL {
        let own = labels::category(kind);
        let all: Vec<&Judged<'_>> = judged.iter().filter(|picture| picture.kind() == Some(kind)).collect();
        let cell = |level: u8| {
            let rows: Vec<_> = all.iter().filter(|picture| level_of(picture) == level).collect();
            let found = rows.iter().filter(|picture| own.is_some_and(|category| picture.has(category))).count();
            if own.is_none() || rows.is_empty() {
                "-".to_owned()
            } else {
                format!("{:.0}", 100.0 * found as f64 / rows.len() as f64)
            }
        };
        let cells: Vec<String> = (1..=5).map(cell).collect();
        let strong: Vec<_> = all.iter().filter(|picture| level_of(picture) >= 3).collect();
        let false_ones: usize = strong.iter().map(|picture| picture.false_ones()).sum();
        let others = Distortion::ALL.into_iter().filter(|&category| Some(category) != own).filter_map(|category| {
            let share =
                strong.iter().filter(|picture| picture.has(category)).count() as f64 / strong.len().max(1) as f64;
            (share >= 0.1).then(|| format!("{category} {:.0}", 100.0 * share))
        });
        let others: Vec<String> = others.collect();
        let name = own.map_or("-", Distortion::name);
        let _ = writeln!(
            text,
            "| {kind} | {name} | {} | {:.2} | {} |",
            cells.join(" | "),
            false_ones as f64 / strong.len().max(1) as f64,
            others.join(", ")
        );
    }
    let _ = writeln!(text);
}

fn severities(text: &mut String, judged: &[Judged<'_>]) {
    let _ = writeln!(
        text,
        "Severity of the own category: wanted (rows) and found (columns), images with one distortion:\n"
    );
    let _ = writeln!(text, "| | none | slight | moderate | severe | extreme |");
    let _ = writeln!(text, "| --- | --- | --- | --- | --- | --- |");
    let mut counts = [[0usize; 5]; 5];
    for picture in judged {
        if let Some(category) = picture.kind().and_then(labels::category) {
            let wanted = severity(picture.sample.given[0].visible());
            counts[wanted as usize][severity(picture.levels[category as usize]) as usize] += 1;
        }
    }
    for (row, wanted) in counts.iter().zip(Severity::ALL) {
        let cells: Vec<String> = row.iter().map(usize::to_string).collect();
        let _ = writeln!(text, "| {wanted} | {} |", cells.join(" | "));
    }
    let _ = writeln!(text);
}
