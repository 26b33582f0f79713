//! Finds the objects that a question names: given regions, common nouns of photographs, and other
//! nouns in the position of an object ("Is the lamp overexposed?").

use super::lexicon::{Mention, phrase_at};
use crate::question::words::{Word, is_chinese, words};

/// An object that the question names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Object {
    /// The name of the region, or the words of the question.
    pub name: String,
    /// The index of the first word.
    pub at: usize,
    /// The number of words.
    pub length: usize,
}

/// Words for the image itself.
pub(super) const IMAGE: &str = "image|images|picture|pictures|photo|photos|photograph|photographs|photography|pic|pics|shot|\
     shots|snapshot|frame|screenshot|scan|scene|file|jpeg|jpg|png|render|video|图像|图片|照片|画面|图|相片|影像|截图|照";

/// Common objects in photographs, singular.
const NOUNS: &str = "person|man|woman|child|boy|girl|baby|people|crowd|player|athlete|face|eye|hair|skin|hand|head|\
     body|nose|mouth|lip|cheek|ear|finger|arm|leg|foot|inputs|main inputs|main object|object|foreground|background|sky|\
     cloud|sun|moon|sunset|car|vehicle|bus|truck|train|bike|bicycle|motorcycle|boat|ship|plane|airplane|aircraft|wheel|\
     license plate|licence plate|number plate|plate|road|street|sidewalk|bridge|building|house|tower|church|castle|wall|roof|\
     window|door|floor|ceiling|room|tree|leaf|branch|forest|grass|lawn|field|flower|petal|plant|bush|garden|mountain|hill|\
     rock|stone|sand|beach|sea|ocean|lake|river|water|waterfall|wave|snow|ice|animal|dog|cat|bird|horse|cow|sheep|duck|fish|\
     insect|butterfly|bee|fur|feather|wing|text|letters|lettering|sign|logo|label|number|caption|poster|book|page|screen|monitor|\
     computer|phone|table|desk|chair|sofa|bed|lamp|candle|light bulb|street light|traffic light|cup|mug|glass|bottle|bowl|\
     food|cake|fruit|apple|shirt|dress|clothes|clothing|hat|shoe|jacket|fence|statue|ball|toy|flag|shadow|reflection|\
     highlight|left side|right side|left half|right half|upper half|lower half|upper part|lower part|top part|bottom part|\
     upper left|upper right|lower left|lower right|top left|top right|bottom left|bottom right|corner|center|centre|middle|\
     left part|right part";

/// The same in Chinese.
const NOUNS_CHINESE: &str = "人|人物|人像|男人|女人|男孩|女孩|孩子|小孩|人群|人脸|脸|脸部|面部|眼睛|头发|皮肤|肤色|手部|身体|主体|物体|前景|\
     背景|天空|云|云朵|太阳|月亮|星星|汽车|车|车辆|轿车|卡车|公交车|火车|自行车|摩托车|船|飞机|车牌|车轮|道路|马路|路面|街道|桥|建筑|\
     建筑物|房子|房屋|大楼|楼房|塔|墙|墙壁|墙面|屋顶|窗户|窗|门|地面|地板|天花板|树|树木|树叶|树枝|森林|草|草地|草坪|花|花朵|花瓣|植物|\
     山|山脉|石头|沙滩|海|海面|海水|湖|湖面|河流|水|水面|瀑布|雪|雪地|动物|狗|小狗|猫|小猫|鸟|马|牛|羊|鱼|昆虫|蝴蝶|毛发|羽毛|文字|字|\
     字母|标志|招牌|屏幕|电脑|手机|桌子|椅子|沙发|床|灯|台灯|路灯|蜡烛|杯子|瓶子|碗|食物|蛋糕|水果|苹果|衣服|帽子|鞋子|栅栏|雕像|球|旗帜|\
     阴影|倒影|左侧|右侧|左边|右边|上方|下方|上半部分|下半部分|左上角|右上角|左下角|右下角|中心|中央|角落|边缘";

/// Phrases with a noun that is not an object in the image.
const SAYINGS: &str = "depth of field|field of view|number of|on the other hand|at first sight|people think|people say|给人|人眼|人工|\
     令人|让人";

/// Words that can be in the position of an object but are not objects.
const GENERIC: &str = "quality|detail|details|lighting|light|problem|problems|issue|issues|distortion|distortions|level|degree|\
     type|kind|reason|cause|effect|impact|severity|most|best|worst|overall|following|part|parts|area|areas|region|regions|\
     amount|extent|way|camera|photographer|view|aspect|aspects|impression|visual|content|option|options|answer|question|one|\
     same|reference|original|version|resolution|metric|tool|score|value|human|viewer|viewers|edge|edges|pixel|pixels|\
     composition|style|mood|atmosphere|visibility|perception|experience|technical|perceptual|main|whole|entire|general|first|\
     second|two|three|other|exposure|focus|color|colors|colour|colours|degradation|artist|author|texture|textures|beauty|appeal";

/// Words that end the name of an object.
const STOP: &str = "a|an|the|this|that|these|those|is|are|was|were|be|been|being|do|does|did|has|have|had|can|could|will|would|\
     should|may|look|looks|looking|appear|appears|seem|seems|contain|contains|suffer|suffers|show|shows|get|gets|in|on|of|at|\
     for|with|by|to|from|near|around|behind|under|above|below|over|within|inside|against|across|than|and|or|but|while|as|if|\
     too|very|so|slightly|quite|really|well|properly|clearly|still|more|less|most|heavily|severely|badly|completely|visibly|\
     noticeably|not|no|somewhat|overly|rather|fairly|bit|any|some|what|which|how|why|who|where|when|it|there|s|t|affected|\
     captured|taken|using|use|enough|good|bad|worse|better|worst|best|poor|ok|okay|fine|acceptable";
const DETERMINERS: &str = "the|this|that|these|those|its|his|her|their|my|our|your";
const PLACES: &str =
    "in|on|at|of|behind|near|beside|under|above|within|inside|by|to|from|against|across|around|with|below";
const VERBS: &str =
    "is|are|was|were|look|looks|appear|appears|seem|seems|has|have|contain|contains|suffer|suffers|show|shows";
/// Words around the name of an object in a Chinese question.
const FILLERS_BEFORE: [&str; 26] = [
    "请问",
    "请",
    "这张",
    "那张",
    "这幅",
    "图像",
    "图片",
    "照片",
    "画面",
    "图",
    "中",
    "里",
    "上",
    "内",
    "的",
    "这个",
    "那个",
    "这",
    "那",
    "判断",
    "看",
    "一下",
    "整体",
    "是否",
    "请判断",
    "相片",
];
const FILLERS_AFTER: [&str; 34] = [
    "的",
    "是否",
    "是不是",
    "有没有",
    "有无",
    "是",
    "很",
    "太",
    "够",
    "足够",
    "看起来",
    "看上去",
    "有",
    "存在",
    "部分",
    "区域",
    "不",
    "比较",
    "有点",
    "拍得",
    "出现",
    "显得",
    "非常",
    "严重",
    "明显",
    "上",
    "中",
    "里",
    "会",
    "受到",
    "都",
    "吗",
    "被",
    "过于",
];

/// Returns the objects that a question names, in order. `taken` are the positions of other words,
/// such as tool names.
pub(super) fn objects(
    question: &[Word<'_>],
    mentions: &[Mention],
    region_names: &[&str],
    taken: &[std::ops::Range<usize>],
) -> Vec<Object> {
    let mut found = regions(question, region_names);
    let regions = found.len();
    let free = |at: usize, found: &[Object]| {
        !found.iter().any(|object| (object.at..object.at + object.length).contains(&at))
            && !mentions.iter().any(|mention| (mention.at..mention.at + mention.length).contains(&at))
            && !taken.iter().any(|range| range.contains(&at))
    };
    let mut at = 0;
    while at < question.len() {
        match noun_at(question, at).filter(|_| free(at, &found)) {
            Some(length) => {
                found.push(named(question, at, length));
                at += length;
            }
            None => at += 1,
        }
    }
    let known: Vec<Object> = found.clone();
    let is_region = |object: &Object| known[..regions].contains(object);
    found.retain(|object| is_region(object) || !is_modifier(question, object, &known));
    let more: Vec<Object> = noun_phrases(question, mentions)
        .into_iter()
        .chain(chinese_subjects(question, mentions))
        .filter(|phrase| (phrase.at..phrase.at + phrase.length).all(|at| free(at, &known)))
        .collect();
    found.extend(more);
    found.sort_by_key(|object| object.at);
    found
}

/// Returns the object that an option of a "which part" question names: a region, a known noun, or
/// the words of the option.
pub(super) fn option_object(text: &str, region_names: &[&str]) -> Option<String> {
    let option = words(text);
    if let Some(object) = objects(&option, &[], region_names, &[]).into_iter().next() {
        return Some(object.name);
    }
    let skip = usize::from(phrase_at(&option, 0, DETERMINERS).is_some());
    let rest = &option[skip..];
    let generic = |at: usize| phrase_at(rest, at, GENERIC).or_else(|| phrase_at(rest, at, IMAGE)).is_some();
    let short = (1..=4).contains(&rest.len()) && !(0..rest.len()).any(generic);
    short.then(|| named(rest, 0, rest.len()).name)
}

/// Returns the number of words of the known noun that starts at `at`.
pub(super) fn noun_at(words: &[Word<'_>], at: usize) -> Option<usize> {
    let in_a_saying = |begin: usize| phrase_at(words, begin, SAYINGS).is_some_and(|length| begin + length > at);
    if (at.saturating_sub(3)..=at).any(in_a_saying) {
        return None;
    }
    let first = phrase_at(words, at, NOUNS_CHINESE).or_else(|| english_noun_at(words, at))?;
    // "car window" is one object.
    let next = at + first;
    let compound = words.get(next).is_some_and(|word| !word.after_mark && !word.folded.starts_with(is_chinese));
    let more = if compound && first == 1 { english_noun_at(words, next).unwrap_or(0) } else { 0 };
    Some(first + more)
}

fn english_noun_at(words: &[Word<'_>], at: usize) -> Option<usize> {
    let matches = |noun: &str| {
        let count = noun.split(' ').count();
        let slice = words.get(at..at + count)?;
        let broken = slice.iter().skip(1).any(|word| word.after_mark);
        let fits =
            noun.split(' ').zip(slice).enumerate().all(|(index, (part, word))| {
                word.folded == part || index + 1 == count && is_plural(&word.folded, part)
            });
        (fits && !broken).then_some(count)
    };
    NOUNS.split('|').filter_map(matches).max()
}

fn is_plural(word: &str, singular: &str) -> bool {
    match (word, singular) {
        ("men", "man") | ("women", "woman") | ("children", "child") | ("persons", "person") | ("leaves", "leaf") => {
            true
        }
        ("feet", "foot") | ("faces", "face") => true,
        _ => {
            word.strip_suffix("s") == Some(singular)
                || word.strip_suffix("es") == Some(singular)
                || word.strip_suffix("ies").is_some_and(|stem| singular.strip_suffix('y') == Some(stem))
        }
    }
}

fn named(words: &[Word<'_>], at: usize, length: usize) -> Object {
    let mut name = String::new();
    for word in &words[at..at + length] {
        if !name.is_empty() && !word.folded.starts_with(is_chinese) {
            name.push(' ');
        }
        name.push_str(&word.folded);
    }
    Object { name, at, length }
}

fn regions(question: &[Word<'_>], names: &[&str]) -> Vec<Object> {
    let mut found: Vec<Object> = Vec::new();
    let mut parts: Vec<(&str, Vec<Word<'_>>)> = names.iter().map(|name| (*name, words(name))).collect();
    parts.sort_by_key(|(_, parts)| std::cmp::Reverse(parts.len()));
    for (name, parts) in parts.iter().filter(|(_, parts)| !parts.is_empty()) {
        let fits = |at: &usize| {
            question.get(*at..at + parts.len()).is_some_and(|slice| {
                slice
                    .iter()
                    .zip(parts)
                    .all(|(word, part)| word.folded == part.folded || is_plural(&word.folded, &part.folded))
            })
        };
        let place = (0..question.len())
            .filter(fits)
            .find(|at| !found.iter().any(|other| *at < other.at + other.length && other.at < at + parts.len()));
        found.extend(place.map(|at| Object { name: (*name).trim().to_owned(), at, length: parts.len() }));
    }
    found
}

/// Returns whether a noun only modifies another: "car photo", "which person", "the person's face",
/// "the sky in the background", "背景中的天空".
fn is_modifier(question: &[Word<'_>], object: &Object, all: &[Object]) -> bool {
    let end = object.at + object.length;
    let begins = |at: usize| all.iter().any(|other| other.at == at);
    let ends = |at: usize| all.iter().any(|other| other.at + other.length == at);
    let of_the_picture = phrase_at(question, end, IMAGE).is_some() && !question[end].after_mark;
    let asks_before = |back: usize, phrases: &str| {
        object.at.checked_sub(back).is_some_and(|at| phrase_at(question, at, phrases) == Some(back))
    };
    let asked_for = asks_before(1, "which|what|哪") || asks_before(2, "哪个|哪些|哪只|哪辆|哪位|什么");
    let possessor = phrase_at(question, end, "s").is_some() && begins(end + 1);
    let chinese_owner = (end..end + 3).any(|at| {
        phrase_at(question, at, "的").is_some()
            && begins(at + 1)
            && (end..at).all(|between| phrase_at(question, between, "中|里|上|内|处|部|分|方").is_some())
    });
    let article =
        usize::from(object.at > 0 && phrase_at(question, object.at - 1, "the|a|an|his|her|its|their").is_some());
    let place = object.at.checked_sub(article + 1);
    let place =
        place.is_some_and(|at| phrase_at(question, at, PLACES).is_some() && ends(at) && !question[at].after_mark);
    of_the_picture || asked_for || possessor || chinese_owner || place
}

/// Finds English nouns that are not in the list but are in the position of an object.
fn noun_phrases(question: &[Word<'_>], mentions: &[Mention]) -> Vec<Object> {
    let mention_at = |at: usize| mentions.iter().any(|mention| mention.at == at);
    let mention_ends = |at: usize| mentions.iter().any(|mention| mention.at + mention.length == at);
    let quality_at = |at: usize| phrase_at(question, at, "quality").is_some();
    let mut found = Vec::new();
    for determiner in (0..question.len()).filter(|at| phrase_at(question, *at, DETERMINERS).is_some()) {
        let begin = determiner + 1;
        let ends_at = |at: &usize| {
            let Some(word) = question.get(*at) else { return true };
            word.after_mark
                || mention_at(*at)
                || phrase_at(question, *at, STOP).is_some()
                || word.folded.starts_with(is_chinese)
        };
        let end = (begin..).find(ends_at).unwrap_or(begin);
        let generic = |at: usize| phrase_at(question, at, GENERIC).or_else(|| phrase_at(question, at, IMAGE)).is_some();
        if !(1..=3).contains(&(end - begin)) || (begin..end).any(generic) {
            continue;
        }
        let before = |back: usize| determiner.checked_sub(back);
        let links = before(1)
            .is_some_and(|at| phrase_at(question, at, PLACES).or_else(|| phrase_at(question, at, VERBS)).is_some());
        let linked = links && before(1).is_some_and(|at| mention_ends(at) || at > 0 && quality_at(at - 1));
        let predicate = (end..(end + 4).min(question.len()))
            .take_while(|at| *at == end || !question[*at].after_mark)
            .find(|at| mention_at(*at) || phrase_at(question, *at, STOP).is_none())
            .is_some_and(mention_at);
        if linked || predicate {
            found.push(named(question, begin, end - begin));
        }
    }
    found
}

/// Finds the words before a distortion term in a Chinese question: "杯子模糊吗".
fn chinese_subjects(question: &[Word<'_>], mentions: &[Mention]) -> Vec<Object> {
    let mut found = Vec::new();
    let mut clause = 0;
    for mention in mentions {
        let begin = (clause..=mention.at)
            .rev()
            .find(|at| question.get(*at).is_some_and(|word| word.after_mark))
            .unwrap_or(clause);
        clause = mention.at + mention.length;
        let (mut first, mut last) = (begin, mention.at);
        if question.get(first..last).is_none_or(|slice| slice.iter().any(|word| !word.folded.starts_with(is_chinese))) {
            continue;
        }
        while let Some(length) = (first < last)
            .then(|| FILLERS_BEFORE.iter().filter_map(|filler| phrase_at(question, first, filler)).max())
            .flatten()
        {
            first += length;
        }
        let ending = |last: usize| {
            FILLERS_AFTER
                .iter()
                .map(|filler| filler.chars().count())
                .zip(FILLERS_AFTER)
                .filter(|(length, filler)| {
                    last.checked_sub(*length)
                        .is_some_and(|at| at >= first && phrase_at(question, at, filler) == Some(*length))
                })
                .map(|(length, _)| length)
                .max()
        };
        while let Some(length) = ending(last) {
            last -= length;
        }
        let excluded = "质量|画质|它|哪|什么|怎|如何|为|整|因|和|与|或|还|没|光|程度|失真|种|最|多|给|用|使|评|打|否|张|幅|这|那|度|现|觉";
        let usable = (2..=4).contains(&last.saturating_sub(first))
            && !(first..last)
                .any(|at| phrase_at(question, at, excluded).or_else(|| phrase_at(question, at, IMAGE)).is_some());
        if usable {
            found.push(named(question, first, last - first));
        }
    }
    found
}
