//! What a name means that needs no detector: a position, the sky, the background, the darkest part.

use super::position::Position;

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// A place in the frame.
    At(Position),
    /// The sky.
    Sky,
    /// What lies below the sky, or at the bottom.
    Ground,
    /// What the photo is about.
    Subject,
    /// The subject, or the lower part of a photo without one.
    Foreground,
    /// Everything but the subject.
    Background,
    /// The part that is most or least of something.
    Extreme(Extreme),
    /// The softest of the four corners.
    Corners,
    /// The softest of the four borders.
    Borders,
}

/// What a part may have most of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extreme {
    /// Least light.
    Darkest,
    /// Most light.
    Brightest,
    /// Most fine detail.
    Sharpest,
    /// Least fine detail among the parts that have edges.
    Softest,
}

/// Articles and other words in front of a name.
const BEFORE: &str = "the|a|an|this|that|its|my|your|his|her|their|entire|whole|very";
/// Words behind a name that add nothing to it.
const BEHIND: &str = "of the image|of the photo|of the picture|of the photograph|of the frame|of the scene|of this image|\
     of this photo|of image|of photo|of frame|in the image|in the photo|part|parts|area|areas|region|regions|portion|\
     section|side|half|third|corner|cell|spot|element|的部分|部分|区域|的区域|的地方";

/// The names of each meaning, folded: lower case, spaces for hyphens, without the words around them.
const NAMES: &[(Meaning, &str)] = &[
    (Meaning::At(Position::Top), "top|upper|uppermost|上方|上部|顶部|上面|上半|上"),
    (Meaning::At(Position::Bottom), "bottom|lower|lowest|下方|下部|底部|下面|下半|下"),
    (Meaning::At(Position::Left), "left|left hand|leftmost|左侧|左边|左方|左半|左"),
    (Meaning::At(Position::Right), "right|right hand|rightmost|右侧|右边|右方|右半|右"),
    (Meaning::At(Position::Center), "center|centre|middle|central|center center|中心|中央|中间|正中"),
    (Meaning::At(Position::UpperLeft), "upper left|top left|upper left hand|top left hand|左上角|左上|左上方"),
    (
        Meaning::At(Position::UpperCenter),
        "upper center|top center|upper centre|top centre|upper middle|top middle|正上方|上中",
    ),
    (Meaning::At(Position::UpperRight), "upper right|top right|upper right hand|top right hand|右上角|右上|右上方"),
    (Meaning::At(Position::CenterLeft), "center left|centre left|middle left|left center|left centre|left middle|左中"),
    (
        Meaning::At(Position::CenterRight),
        "center right|centre right|middle right|right center|right centre|right middle|右中",
    ),
    (Meaning::At(Position::LowerLeft), "lower left|bottom left|lower left hand|bottom left hand|左下角|左下|左下方"),
    (
        Meaning::At(Position::LowerCenter),
        "lower center|bottom center|lower centre|bottom centre|lower middle|bottom middle|正下方|下中",
    ),
    (
        Meaning::At(Position::LowerRight),
        "lower right|bottom right|lower right hand|bottom right hand|右下角|右下|右下方",
    ),
    (Meaning::Sky, "sky|skies|blue sky|cloudy sky|night sky|evening sky|sunset sky|天空|蓝天|天"),
    (
        Meaning::Ground,
        "ground|floor|terrain|grass|lawn|road|pavement|field|sand|snow|carpet|地面|地板|地上|草地|草坪|马路|道路|沙地|雪地|地毯",
    ),
    (
        Meaning::Subject,
        "subject|main subject|main object|main character|main focus|focal point|subjects|main subjects|\
         主体|主题|主角|拍摄主体|主要对象|主要物体",
    ),
    (Meaning::Foreground, "foreground|front|foreground object|foreground subject|前景|近景"),
    (Meaning::Background, "background|backdrop|backgrounds|back|背景|后景|远景"),
    (Meaning::Extreme(Extreme::Darkest), "darkest|dark|shadow|shadows|最暗|最暗处|暗部|阴影"),
    (Meaning::Extreme(Extreme::Brightest), "brightest|bright|lightest|highlight|highlights|最亮|最亮处|亮部|高光"),
    (Meaning::Extreme(Extreme::Sharpest), "sharpest|sharp|clearest|most detailed|in focus|最清晰|最清晰处|最锐利"),
    (
        Meaning::Extreme(Extreme::Softest),
        "blurriest|softest|least sharp|most blurred|out of focus|blurred|blurry|最模糊|最模糊处",
    ),
    (Meaning::Corners, "corners|four corners|四角|四个角|角落"),
    (Meaning::Borders, "edges|edge|borders|border|margins|edges of the frame|frame edges|image edges|边缘|四周|边框"),
];

/// Returns what a name means, or nothing if only a detector can know it.
pub fn meaning(name: &str) -> Option<Meaning> {
    let folded = fold(name);
    let called = |names: &str, wanted: &str| names.split('|').any(|known| known.trim() == wanted);
    let known = |wanted: &str| NAMES.iter().find(|(_, names)| called(names, wanted)).map(|(meaning, _)| *meaning);
    let bare = strip(&folded);
    // "left corner" without "upper" or "lower" says too little; so does a part of nothing.
    known(&folded).or_else(|| known(bare))
}

/// Returns a name in lower case, with single spaces and without hyphens.
pub fn fold(name: &str) -> String {
    let lower = name.trim().to_lowercase().replace(['-', '_'], " ");
    let words: Vec<&str> = lower.split_whitespace().collect();
    let skipped = words.iter().take_while(|word| BEFORE.split('|').any(|known| known == **word)).count();
    words[skipped.min(words.len().saturating_sub(1))..].join(" ")
}

/// Removes what adds nothing at the end of a folded name.
fn strip(folded: &str) -> &str {
    let mut rest = folded;
    while let Some(shorter) = BEHIND.split('|').find_map(|known| rest.strip_suffix(known.trim()))
        && !shorter.trim().is_empty()
    {
        rest = shorter.trim();
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_understood_with_articles_and_synonyms() {
        for (name, expected) in [
            ("top", Some(Meaning::At(Position::Top))),
            ("the upper part of the image", Some(Meaning::At(Position::Top))),
            ("upper left", Some(Meaning::At(Position::UpperLeft))),
            ("the Top-Left Corner", Some(Meaning::At(Position::UpperLeft))),
            ("center", Some(Meaning::At(Position::Center))),
            ("the middle", Some(Meaning::At(Position::Center))),
            ("lower right corner of the photo", Some(Meaning::At(Position::LowerRight))),
            ("左上角", Some(Meaning::At(Position::UpperLeft))),
            ("the sky", Some(Meaning::Sky)),
            ("天空", Some(Meaning::Sky)),
            ("背景", Some(Meaning::Background)),
            ("背景部分", Some(Meaning::Background)),
            ("the background", Some(Meaning::Background)),
            ("前景", Some(Meaning::Foreground)),
            ("the main subject", Some(Meaning::Subject)),
            ("主体", Some(Meaning::Subject)),
            ("the darkest part", Some(Meaning::Extreme(Extreme::Darkest))),
            ("the dark part of the picture", Some(Meaning::Extreme(Extreme::Darkest))),
            ("brightest area", Some(Meaning::Extreme(Extreme::Brightest))),
            ("sharpest region", Some(Meaning::Extreme(Extreme::Sharpest))),
            ("the corners", Some(Meaning::Corners)),
            ("edges of the frame", Some(Meaning::Borders)),
            ("the chandelier", None),
            ("bird", None),
            ("the", None),
            ("", None),
            ("skyscraper", None),
            ("backpack", None),
        ] {
            assert_eq!(meaning(name), expected, "{name}");
        }
    }

    #[test]
    fn no_name_has_two_meanings() {
        let all: Vec<&str> = NAMES.iter().flat_map(|(_, names)| names.split('|')).map(str::trim).collect();
        for (index, name) in all.iter().enumerate() {
            assert!(!all[..index].contains(name), "{name}");
            assert_eq!(fold(name), *name, "names are listed folded");
        }
    }
}
