//! Advice in English.

use super::{Lost, Step, Words};
use crate::state::{Operation, Problem, WhatIf};

/// The sentences of the language.
pub(super) struct English;

impl Words for English {
    fn step(&self, step: Step<'_>) -> String {
        match step {
            Step::Edit(tried, lost) => format!("{}: {}{}.", edit(tried), gain(tried), left(lost)),
            Step::Encode(quality, tried) => {
                let why = match quality {
                    Some(quality) => format!("at quality 80 or more: the file is quality {quality:.0}"),
                    None => "with less compression: what it removed is lost".to_owned(),
                };
                let or = tried.map(|tried| format!(" Without the original, smooth the blocks: {}.", gain(tried)));
                format!("Save it again from the original {why}.{}", or.unwrap_or_default())
            }
            Step::Again(problem) => again(problem).to_owned(),
            Step::Doubt(problem) => {
                let (fault, mending) = doubt(problem);
                format!("Whether {fault} is doubtful: {mending} would not raise the score.")
            }
        }
    }

    fn of_object(&self, object: &str, sentence: &str) -> String {
        format!("{object}: {sentence}")
    }
}

/// What to do in a photo editor.
fn edit(tried: &WhatIf) -> String {
    let amount = tried.amount;
    let percent = |share: f64| format!("{:.0}%", 100.0 * share);
    match tried.operation {
        Operation::Deblock => "Smooth the blocks".to_owned(),
        Operation::Denoise => format!("Remove noise of {amount:.1} gray levels"),
        Operation::WhiteBalance if amount > 0.95 => "Set the white balance on something gray".to_owned(),
        Operation::WhitePatch if amount > 0.95 => "Set the white balance on something white".to_owned(),
        Operation::WhiteBalance | Operation::WhitePatch => format!("Correct {} of the color cast", percent(amount)),
        Operation::Exposure if amount > 0.0 => format!("Raise the exposure by {}", stops(amount)),
        Operation::Exposure => format!("Lower the exposure by {}", stops(-amount)),
        Operation::Shadows => format!("Brighten the shadows by {}", percent(amount)),
        Operation::Contrast => format!("Raise the contrast until {} of the unused tones are used", percent(amount)),
        Operation::Saturation if amount > 1.0 => format!("Strengthen the colors by {}", percent(amount - 1.0)),
        Operation::Saturation => format!("Weaken the colors by {}", percent(1.0 - amount)),
        Operation::Sharpen => format!("Sharpen it by {}", percent(amount)),
        Operation::Soften => format!("Soften the halos with a blur of {amount:.1} px"),
    }
}

fn stops(amount: f64) -> String {
    let amount = format!("{amount:.1}");
    if amount == "1.0" { "1 stop".to_owned() } else { format!("{amount} stops") }
}

fn gain(tried: &WhatIf) -> String {
    match tried.gain() {
        gain if gain < 0.1 => "the score would rise a little".to_owned(),
        gain => format!("the score would rise by about {gain:.1}"),
    }
}

fn left(lost: Lost) -> &'static str {
    match lost {
        Lost::Nothing => "",
        Lost::Highlights => "; the clipped highlights stay white",
        Lost::Shadows => "; the blackest shadows stay black",
    }
}

/// How to take the photo again.
const fn again(problem: Problem) -> &'static str {
    match problem {
        Problem::MotionBlur => {
            "Shoot again with a shorter exposure or a steadier camera: it is camera shake or motion, and the detail \
             is lost."
        }
        Problem::Blur => "Shoot again with the focus on the subject: the detail is lost, no edit brings it back.",
        Problem::Noise => "Shoot again with more light or a lower ISO: no edit removes this noise without the detail.",
        Problem::Compression => "Save it again from the original with less compression: what it removed is lost.",
        Problem::Underexposure => "Shoot again with more light or a longer exposure: the dark parts are lost.",
        Problem::Overexposure => "Shoot again with a shorter exposure: the bright parts are lost.",
        Problem::Backlight => "Shoot again with the light behind you, or with a flash: the dark parts are lost.",
        Problem::LowContrast | Problem::Haze => "Shoot again in clearer light: no edit brings the contrast back.",
        Problem::ColorCast => "Shoot again with another white balance: no edit brings the colors back.",
        Problem::DullColors | Problem::Oversaturation => "Go back to the original colors: no edit brings them back.",
        Problem::Oversharpening => "Go back to the version before sharpening: no edit removes the halos.",
        Problem::Other => "No edit mends this.",
    }
}

/// A fault, and what mends it.
const fn doubt(problem: Problem) -> (&'static str, &'static str) {
    match problem {
        Problem::Blur => ("it is too soft", "sharpening it"),
        Problem::MotionBlur => ("it is blurred by motion", "sharpening it"),
        Problem::Noise => ("the noise disturbs", "removing it"),
        Problem::Compression => ("the compression disturbs", "smoothing the blocks"),
        Problem::Underexposure => ("it is too dark", "brightening it"),
        Problem::Overexposure => ("it is too bright", "darkening it"),
        Problem::Backlight => ("the shadows are too dark", "brightening them"),
        Problem::LowContrast => ("the contrast is too low", "raising it"),
        Problem::Haze => ("the haze disturbs", "raising the contrast"),
        Problem::ColorCast => ("the color cast disturbs", "correcting it"),
        Problem::DullColors => ("the colors are too pale", "strengthening them"),
        Problem::Oversaturation => ("the colors are too strong", "weakening them"),
        Problem::Oversharpening => ("it is too sharp", "softening it"),
        Problem::Other => ("this disturbs", "an edit"),
    }
}
