//! English and Chinese words for distortions and visual attributes.

use crate::question::words::{Word, contains_any, matches_at};
use crate::state::{Distortion, Severity};

/// Whether a word means a defect, a virtue, or a neutral property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sense {
    /// "blurry".
    Defect,
    /// "sharp".
    Virtue,
    /// "sharpness".
    Property,
}

/// The direction in which a property is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// Too dark, too flat, too pale.
    TooLow,
    /// Too bright, too harsh, too colourful.
    TooHigh,
}

/// Words with the same meaning.
#[derive(Debug)]
pub(super) struct Term {
    /// The distortion categories that the words mean, the main one first.
    pub distortions: &'static [Distortion],
    /// Defect, virtue or property.
    pub sense: Sense,
    /// The direction, if the words imply one.
    pub direction: Option<Direction>,
    /// The words, separated by `|`; `*` matches any ending.
    phrases: &'static str,
}

/// An occurrence of a term.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mention {
    /// The index of the first word.
    pub at: usize,
    /// The number of words.
    pub length: usize,
    /// The term.
    pub term: &'static Term,
    /// Whether the term is negated: "no noise", "free of noise", "不模糊".
    pub denied: bool,
}

impl Mention {
    /// Defect, virtue or property, after negation.
    pub fn sense(&self) -> Sense {
        match (self.term.sense, self.denied) {
            (Sense::Defect, true) => Sense::Virtue,
            (Sense::Virtue, true) => Sense::Defect,
            (sense, _) => sense,
        }
    }
}

const fn term(
    distortions: &'static [Distortion],
    sense: Sense,
    direction: Option<Direction>,
    phrases: &'static str,
) -> Term {
    Term { distortions, sense, direction, phrases }
}

use Direction::{TooHigh, TooLow};
use Distortion::{Blurs, Brightness, Color, Compression, Contrast, Noise, Sharpness};
use Sense::{Defect, Property, Virtue};

static TERMS: [Term; 32] = [
    term(
        &[Blurs],
        Defect,
        None,
        "blur*|motion blur*|gaussian blur*|lens blur*|out of focus|defocus*|de focused|unfocused|unsharp|not in focus|\
         not focused|soft focus|too soft|fuzzy|fuzziness|smeared|smear*|camera shake|shaky|unclear|indistinct|bokeh|\
         loss of detail*|lost detail*|loses detail*|lose detail*|lack of detail*|lacks detail*|missed focus|\
         模糊|运动模糊|虚焦|失焦|脱焦|跑焦|没对上焦|对焦不准|抖动|拖影|糊|不清楚|发虚",
    ),
    term(
        &[Blurs],
        Virtue,
        None,
        "sharp|sharper|sharpest|crisp|crisper|clear|clearer|clearest|clearly visible|in focus|focused|well focused|\
         detailed|legible|readable|well defined|清晰|清楚|看清|看得清|锐利|对焦准确|合焦|清晰可见",
    ),
    term(
        &[Blurs],
        Property,
        None,
        "clarity|focus|focal|blurriness|detail|details|definition|texture|textures|虚化|纹理|清晰度|清晰程度|模糊程度|模糊度|对焦|焦点|细节|聚焦",
    ),
    term(&[Blurs, Sharpness], Property, None, "sharpness|锐度|锐利度|锐利程度"),
    term(
        &[Sharpness],
        Defect,
        Some(TooHigh),
        "oversharp*|over sharp*|too sharp|sharpening|sharpened|excessive sharp*|halo|halos|haloes|haloing|edge halo*|\
         过度锐化|锐化过度|过锐|锐化|光晕|白边|黑边",
    ),
    term(
        &[Noise],
        Defect,
        None,
        "noise|noisy|noisier|noisiest|noises|gaussian noise|grain|grainy|grainier|graininess|speckle*|salt and pepper|\
         impulse noise|iso noise|噪点|噪声|噪音|颗粒|颗粒感|杂点|麻点|斑点|椒盐",
    ),
    term(&[Noise], Property, None, "noise level*|noise amount|amount of noise|noisiness|噪声水平|噪点程度"),
    term(&[Noise], Virtue, None, "clean|cleaner|noise free|noiseless|干净|纯净"),
    term(
        &[Compression],
        Defect,
        None,
        "compress*|jpeg*|jpg|jpeg quality|artifact*|artefact*|blocky|blockiness|blocking|blocking artifact*|blocking artefact*|\
         macroblock*|banding|color banding|colour banding|posteri*|ringing|mosquito noise|pixelat*|pixellat*|mosaic|\
         jagged|jaggies|aliasing|压缩|块效应|方块|马赛克|色带|条带|伪影|像素化|锯齿|振铃|色阶断层|断层",
    ),
    term(
        &[Brightness],
        Defect,
        Some(TooLow),
        "underexpos*|under expos*|too dark|darker|darkest|dark|dim|dimmer|dimly lit|poorly lit|gloomy|murky|backlit|\
         insufficient light|insufficient lighting|low light|lack of light|crushed shadows|crushed blacks|too dim|\
         欠曝|曝光不足|太暗|过暗|偏暗|昏暗|太黑|很暗|较暗|暗淡|逆光|暗",
    ),
    term(
        &[Brightness],
        Defect,
        Some(TooHigh),
        "overexpos*|over expos*|too bright|overly bright|brighter|brightest|blown out|blown|burnt out|burned out|\
         clipped highlight*|glare|overlit|too light|excessive brightness|strong light|\
         过曝|曝光过度|过度曝光|太亮|过亮|偏亮|刺眼|眩光|高光溢出",
    ),
    term(
        &[Brightness],
        Virtue,
        None,
        "well lit|well exposed|properly exposed|correctly exposed|bright enough|good exposure|balanced exposure|\
         evenly lit|brightly lit|well illuminated|bright|曝光正常|曝光合适|明亮|光线充足|光线良好|曝光正确",
    ),
    term(
        &[Brightness],
        Property,
        None,
        "brightness|exposure|exposed|lighting|illumination|illuminated|light condition*|lighting condition*|luminance|darkness|\
         lit|light level*|亮度|曝光|光线|光照|照明|明暗|明暗程度",
    ),
    term(
        &[Contrast],
        Defect,
        Some(TooLow),
        "low contrast|washed out|wash out|hazy|hazier|haze|foggy|misty|milky|flat|lack of contrast|lacks contrast|\
         too little contrast|poor contrast|weak contrast|veiled|contrast decrement|\
         对比度低|低对比度|对比度不足|对比度太低|对比度过低|反差小|发灰|灰蒙蒙|朦胧|雾蒙蒙|雾霾|有雾|灰暗",
    ),
    term(
        &[Contrast],
        Defect,
        Some(TooHigh),
        "too contrasty|contrasty|harsh contrast|too much contrast|excessive contrast|contrast too high|\
         overly high contrast|对比度过高|对比度太高|对比度过强|反差过大",
    ),
    term(
        &[Contrast],
        Virtue,
        None,
        "good contrast|high contrast|strong contrast|balanced contrast|rich contrast|对比鲜明",
    ),
    term(&[Contrast], Property, None, "contrast|dynamic range|tonal range|对比度|反差|动态范围|对比"),
    term(
        &[Color],
        Defect,
        None,
        "color cast*|colour cast*|color shift*|colour shift*|discolor*|discolour*|off color|off colour|wrong color*|\
         wrong colour*|color distort*|colour distort*|color bleed*|colour bleed*|color diffusion|colour diffusion|\
         chromatic aberration|purple fringing|color fringing|colour fringing|tinted|yellowish|greenish|bluish|reddish|\
         unnatural color*|unnatural colour*|inaccurate color*|inaccurate colour*|wrong white balance|\
         偏色|色偏|色差|颜色失真|色彩失真|颜色不自然|色彩不自然|偏黄|偏绿|偏蓝|偏红|串色|紫边",
    ),
    term(
        &[Color],
        Defect,
        Some(TooHigh),
        "oversaturat*|over saturat*|too saturated|too colorful|too colourful|garish|gaudy|too vivid|\
         过饱和|过于鲜艳|饱和度过高|饱和度太高|太艳|色彩过艳",
    ),
    term(
        &[Color],
        Defect,
        Some(TooLow),
        "undersaturat*|under saturat*|desaturat*|faded|fading|dull|duller|pale|colorless|colourless|muted|lifeless color*|\
         褪色|饱和度低|饱和度不足|饱和度过低|颜色暗淡|色彩暗淡|色彩单调|不鲜艳|苍白",
    ),
    term(
        &[Color],
        Virtue,
        None,
        "vivid|vibrant|colorful|colourful|rich color*|rich colour*|natural color*|natural colour*|true to life|\
         accurate color*|accurate colour*|鲜艳|色彩丰富|颜色自然|色彩自然|绚丽",
    ),
    term(
        &[Color],
        Property,
        None,
        "color|colors|colour|colours|coloring|colouring|coloration|colorfulness|colourfulness|hue|hues|tint|saturation|\
         saturated|white balance|color tone*|colour tone*|skin tone*|chroma|颜色|色彩|色调|饱和度|饱和|白平衡|色温",
    ),
    // Judgments of a property: the property decides the category, the adjective decides good or
    // bad.
    term(&[Blurs], Virtue, None, "good clarity|high clarity|high sharpness|good sharpness|清晰度高"),
    term(&[Blurs], Defect, None, "poor clarity|low clarity|low sharpness|poor sharpness|poor focus|清晰度低|不够清晰"),
    term(
        &[Brightness],
        Virtue,
        None,
        "good lighting|sufficient lighting|sufficient light|adequate lighting|great lighting",
    ),
    term(
        &[Brightness],
        Defect,
        None,
        "poor lighting|bad lighting|uneven lighting|poor exposure|bad exposure|光线差|光线不好",
    ),
    term(&[Brightness], Defect, Some(TooLow), "low brightness|亮度低|亮度不足|光线不足"),
    term(&[Brightness], Defect, Some(TooHigh), "high brightness|excessive light|亮度过高"),
    term(&[Color], Virtue, None, "good color*|good colour*|true color*|high saturation|饱和度高"),
    term(&[Color], Defect, Some(TooLow), "low saturation|poor color*|poor colour*"),
    term(&[Noise], Virtue, None, "low noise|little noise"),
    term(&[Noise], Defect, None, "high noise|heavy noise"),
];

/// Adjectives that may describe an object instead of the quality: "the dark car", "bright sky".
const ADJECTIVES: &str = "dark|bright|flat|pale|dull|clear|clean|dim|sharp|soft|colorful|colourful|muted|faded|vivid|sharper|darker|brighter|暗";

/// Returns all terms of a text, the longest match at each position.
pub(super) fn mentions(words: &[Word<'_>]) -> Vec<Mention> {
    let mut mentions = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let longest = TERMS
            .iter()
            .filter_map(|term| phrase_at(words, at, term.phrases).map(|length| (length, term)))
            .max_by_key(|(length, _)| *length);
        match longest {
            Some((length, term)) => {
                mentions.push(Mention { at, length, term, denied: denied(words, at) });
                at += length;
            }
            None => at += 1,
        }
    }
    mentions
}

/// Returns whether the words of a mention may be the adjective of an object.
pub(super) fn may_be_adjective(words: &[Word<'_>], mention: &Mention) -> bool {
    mention.length == 1 && phrase_at(words, mention.at, ADJECTIVES) == Some(1)
}

/// Returns the number of words that the longest match of `phrases` (separated by `|`) covers at
/// `at`.
pub(super) fn phrase_at(words: &[Word<'_>], at: usize, phrases: &str) -> Option<usize> {
    phrases.split('|').filter_map(|phrase| matches_at(words, at, phrase)).max()
}

/// Returns whether one of the two words before a term negates it.
fn denied(words: &[Word<'_>], at: usize) -> bool {
    const DENIALS: [&str; 13] =
        ["not", "no", "without", "never", "t", "free", "less", "lacks", "hardly", "不", "没", "无", "非"];
    const BETWEEN: [&str; 12] = ["of", "from", "any", "very", "really", "too", "visible", "so", "at", "有", "够", "太"];
    let word = |back: usize| at.checked_sub(back).map(|index| words[index].folded.as_str());
    let denies = |word: Option<&str>| word.is_some_and(|word| DENIALS.contains(&word));
    // "是不是模糊" and "有没有噪点" are questions, not negations.
    let asks = |back: usize| {
        let before = word(back + 1);
        matches!((before, word(back)), (Some("是"), Some("不")) | (Some("有"), Some("没")))
    };
    let after_mark = |back: usize| at.checked_sub(back).is_some_and(|index| words[index].after_mark);
    if after_mark(0) {
        return false;
    }
    if denies(word(1)) {
        return !asks(1) && (word(1) != Some("t") || contraction_denies(words, at - 1));
    }
    let between = word(1).is_some_and(|word| BETWEEN.contains(&word)) && !after_mark(1);
    between && denies(word(2)) && !asks(2)
}

/// Returns whether the "t" of a contraction negates the next word: "isn't sharp" does, the question
/// "Isn't it sharp?" does not.
fn contraction_denies(words: &[Word<'_>], at: usize) -> bool {
    at.checked_sub(1).is_some_and(|verb| verb > 0 && !words[verb].after_mark)
}

/// Returns the severity that the words of degree in a text mean.
pub(super) fn degree(words: &[Word<'_>]) -> Option<Severity> {
    const DEGREES: [(Severity, &str); 5] = [
        (
            Severity::Extreme,
            "extreme|extremely|very severe|very severely|completely|totally|unbearable|intolerable|very heavy|very heavily|\
             very serious|very strong|unusable|极其|极度|极其严重|非常严重|极严重|完全",
        ),
        (
            Severity::Severe,
            "severe|severely|heavy|heavily|serious|seriously|strong|strongly|bad|badly|very|significant|significantly|\
             highly|obvious|obviously|严重|非常|明显|重度|很",
        ),
        (
            Severity::Moderate,
            "moderate|moderately|medium|noticeable|noticeably|somewhat|fairly|visible|average|intermediate|quite|rather|\
             中等|适中|中度|一般|比较|较",
        ),
        (
            Severity::Slight,
            "slight|slightly|mild|mildly|minor|a little|a bit|light|lightly|minimal|weak|weakly|barely|subtle|faint|\
             轻微|略微|有点|轻度|稍微|微弱|少许|较轻",
        ),
        (
            Severity::None,
            "none|no|not|not at all|without|absent|negligible|imperceptible|invisible|free|zero|没有|无|不存在|不可见",
        ),
    ];
    let found = DEGREES.iter().filter_map(|(severity, phrases)| {
        let longest = (0..words.len()).filter_map(|at| phrase_at(words, at, phrases)).max()?;
        Some((longest, *severity))
    });
    // The longest phrase wins: "not at all" over "not", "very severe" over "severe".
    found.max_by_key(|(length, severity)| (*length, *severity == Severity::None)).map(|(_, severity)| severity)
}

/// Returns whether a text is about the whole image or its quality.
pub(super) fn speaks_of_quality(words: &[Word<'_>]) -> bool {
    const QUALITY: [&str; 16] = [
        "quality", "distort*", "degrad*", "defect*", "flaw*", "problem*", "issue*", "impair*", "damage*", "质量",
        "画质", "失真", "缺陷", "瑕疵", "问题", "退化",
    ];
    contains_any(words, &QUALITY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::words::words;

    fn read(text: &str) -> Vec<(Distortion, Sense, Option<Direction>)> {
        let words = words(text);
        mentions(&words).iter().map(|m| (m.term.distortions[0], m.sense(), m.term.direction)).collect()
    }

    #[test]
    fn words_of_the_field_have_their_category_sense_and_direction() {
        for (text, expected) in [
            ("motion blur", vec![(Blurs, Defect, None)]),
            ("out-of-focus", vec![(Blurs, Defect, None)]),
            ("in focus", vec![(Blurs, Virtue, None)]),
            ("no noise", vec![(Noise, Virtue, None)]),
            ("free of noise", vec![(Noise, Virtue, None)]),
            ("not sharp", vec![(Blurs, Defect, None)]),
            ("is not too dark", vec![(Brightness, Virtue, Some(TooLow))]),
            ("over-exposed", vec![(Brightness, Defect, Some(TooHigh))]),
            ("washed out", vec![(Contrast, Defect, Some(TooLow))]),
            ("oversharpened, noisy", vec![(Sharpness, Defect, Some(TooHigh)), (Noise, Defect, None)]),
            ("colour banding", vec![(Compression, Defect, None)]),
            ("mosquito noise", vec![(Compression, Defect, None)]),
            ("是不是模糊", vec![(Blurs, Defect, None)]),
            ("有没有噪点", vec![(Noise, Defect, None)]),
            ("不模糊", vec![(Blurs, Virtue, None)]),
            ("没有噪点", vec![(Noise, Virtue, None)]),
            ("不够清晰", vec![(Blurs, Defect, None)]),
            ("曝光过度", vec![(Brightness, Defect, Some(TooHigh))]),
            ("块效应和偏色", vec![(Compression, Defect, None), (Color, Defect, None)]),
            ("Isn't it sharp?", vec![(Blurs, Virtue, None)]),
            ("It isn't sharp", vec![(Blurs, Defect, None)]),
            ("a nice day", vec![]),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn degrees_are_read_from_adverbs() {
        for (text, expected) in [
            ("Slightly blurry", Some(Severity::Slight)),
            ("very severe", Some(Severity::Extreme)),
            ("Severe", Some(Severity::Severe)),
            ("not at all", Some(Severity::None)),
            ("中等", Some(Severity::Moderate)),
            ("非常严重", Some(Severity::Extreme)),
            ("blurry", None),
        ] {
            assert_eq!(degree(&words(text)), expected, "{text}");
        }
    }

    #[test]
    fn no_phrase_is_listed_twice() {
        let mut all: Vec<&str> = TERMS.iter().flat_map(|term| term.phrases.split('|')).collect();
        all.sort_unstable();
        let count = all.len();
        all.dedup();
        assert_eq!(count, all.len());
        assert!(all.iter().all(|phrase| !phrase.is_empty() && phrase.trim() == *phrase));
    }
}
