//! How well the score agrees with opinions, and how often its interval holds.

use agenticiqa_vision::fused_nr::Judgment;

use super::photos::Photo;
use crate::statistics::{correlation, mean, rank_correlation, rmse};

/// Returns the tables of scores and of intervals.
pub fn report(photos: &[&Photo]) -> String {
    let mut text = "## Photos that were never fitted to\n\n| photos | number | SRCC | PLCC | RMSE, levels | 90 % interval holds | half width, mean |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n".to_owned();
    text += &row("all", photos);
    for subset in 1..=3 {
        let of: Vec<&Photo> = photos.iter().copied().filter(|photo| photo.subset == subset).collect();
        text += &row(&format!("subset {subset}"), &of);
    }
    let labeled = |name: &str, is: &dyn Fn(&super::photos::Label) -> bool| {
        let of: Vec<&Photo> = photos.iter().copied().filter(|photo| photo.label.as_ref().is_some_and(is)).collect();
        row(name, &of)
    };
    text += &labeled("dark or very dark", &|label| label.lighting.contains("dark"));
    text += &labeled("blurry or very blurry", &|label| label.sharpness.contains("blurry"));
    text += &labeled("noisy", &|label| label.noise == "strong");
    text += &labeled("badly exposed", &|label| label.exposure != "ok");
    text += &labeled("without a problem", &|label| label.main_problem == "none");
    text
}

fn row(name: &str, photos: &[&Photo]) -> String {
    let judged: Vec<(f64, Judgment)> = photos.iter().map(|photo| (photo.opinion, photo.reading.judgment)).collect();
    let (opinions, scores): (Vec<f64>, Vec<f64>) =
        judged.iter().map(|(opinion, judgment)| (*opinion, judgment.score)).unzip();
    let held = judged.iter().filter(|(opinion, judgment)| (judgment.low..=judgment.high).contains(opinion)).count();
    let half: Vec<f64> = judged.iter().map(|(_, judgment)| (judgment.high - judgment.low) / 2.0).collect();
    format!(
        "| {name} | {} | {:.4} | {:.4} | {:.3} | {:.1} % | {:.2} |\n",
        photos.len(),
        rank_correlation(&scores, &opinions),
        correlation(&scores, &opinions),
        rmse(&scores, &opinions),
        100.0 * held as f64 / photos.len() as f64,
        mean(&half),
    )
}
