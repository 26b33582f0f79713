//! What is most often true of photos, for questions that no measurement decides. Answers that use it
//! say that they are guesses.

use crate::question::meaning::{Aspect, Extreme, Meaning, Pole};
use crate::question::words::words;

/// Photographers put people, animals and vehicles into focus, and the background behind them.
const SUBJECTS: [(&str, f64); 4] = [
    (
        "man|woman|person|people|girl|boy|child|children|baby|player|singer|dancer|couple|human|face|astronaut|rider|\
      athlete|cyclist|surfer|bride|pedestrian|人|人物|男人|女人|孩子|女孩|男孩|脸",
        3.0,
    ),
    (
        "dog|cat|bird|horse|animal|butterfly|panda|sheep|cow|duck|fish|elephant|lion|tiger|monkey|puppy|kitten|insect|\
      bee|duck|leopard|狗|猫|鸟|马|动物|熊猫",
        2.8,
    ),
    (
        "car|bus|train|bike|bicycle|motorcycle|boat|ship|plane|airplane|vehicle|truck|flower|cake|food|statue|sculpture|\
      cup|bottle|fruit|toy|汽车|车|花|船|飞机|杯子",
        2.0,
    ),
    (
        "sky|ground|grass|wall|floor|background|road|street|water|sea|tree|trees|forest|cloud|clouds|mountain|building|\
      buildings|table|window|river|lake|snow|sand|beach|ceiling|railing|fence|audience|crowd|curtain|天空|地面|草地|\
      墙|背景|道路|水面|树|建筑|山",
        -1.0,
    ),
];
/// What is bright, and what is dark, in most photos.
const LIGHTS: [(&str, f64); 2] = [
    (
        "sky|sun|window|lamp|light|flame|fire|screen|moon|snow|cloud|clouds|white|spotlight|halo|天空|太阳|窗户|灯|雪|云",
        2.5,
    ),
    ("ground|tree|trees|road|black|shadow|hair|forest|floor|mountain|night|building|地面|树|道路|阴影|头发|建筑", -1.5),
];

fn weight(text: &str, lists: &[(&str, f64)]) -> f64 {
    let words = words(text);
    let listed = |list: &str| {
        words.iter().any(|word| {
            list.split('|').any(|entry| entry == word.folded || word.folded.strip_suffix('s') == Some(entry))
        }) || list.split('|').any(|entry| !entry.is_ascii() && text.contains(entry))
    };
    lists.iter().filter(|(list, _)| listed(list)).map(|(_, weight)| *weight).sum()
}

/// Returns the letter of the part that a question most often means.
pub(crate) fn part(meaning: &Meaning, options: &[(char, &str)]) -> Option<char> {
    let light = meaning.claims.iter().find(|claim| matches!(claim.aspect, Aspect::Light | Aspect::Exposure));
    let blurred = meaning.claims.iter().any(|claim| claim.aspect == Aspect::Sharpness && claim.pole == Some(Pole::Low));
    let least = if meaning.extreme == Some(Extreme::Least) { -1.0 } else { 1.0 };
    let weigh = |text: &str| match light {
        Some(claim) if claim.pole == Some(Pole::Low) => -least * weight(text, &LIGHTS),
        Some(_) => least * weight(text, &LIGHTS),
        None if blurred => least * if weight(text, &SUBJECTS) < 0.0 { 1.0 } else { 0.0 },
        None => least * weight(text, &SUBJECTS),
    };
    let first = options.first()?;
    let best = options.iter().fold((first.0, weigh(first.1)), |best, (letter, text)| {
        let weight = weigh(text);
        if weight > best.1 { (*letter, weight) } else { best }
    });
    Some(best.0)
}

/// Whether a question that is not measured is more often true: what is asked about is mostly in the
/// picture and mostly meant to be seen.
pub(crate) fn often_yes(meaning: &Meaning) -> bool {
    let rare = ["symmetr", "pyramid", "twist", "tilt", "generated", "black and white", "repe", "对称", "生成", "倾斜"];
    let text = meaning.text.to_lowercase();
    !meaning.denies
        && !rare.iter().any(|word| text.contains(word))
        && meaning.claims.iter().all(|claim| claim.aspect != Aspect::Content)
}
