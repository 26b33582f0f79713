//! English words and sentences.

use super::lexicon::{ContextWords, Direction, FormWords, Lexicon, ObjectWords, OptionWords, PlanWords, Term, term};
use super::phrases::{Phrases, Run};
use Direction::{TooHigh, TooLow};
use Distortion::{Blurs, Brightness, Color, Compression, Contrast, Noise, Sharpness};
use agenticiqa_vision::vocabulary::{Distortion, QualityLevel, Severity};

/// The words of the language.
pub(super) static LEXICON: Lexicon = Lexicon {
    recognizes: |_| false,
    is_word: |_| false,
    form: FormWords {
        explain: "why|explain|describe|compare|list",
        why: "",
        rate: "rate|rating|score|scoring|grade|how good is|how good are|mos|out of 5|out of five|out of 10|\
            on a scale|quality level",
        not_rate: "frame rate|bit rate|refresh rate|sampling rate|at any rate|score board|film score",
        quality: "quality",
        how_is_quality: "",
        judge: "",
        asking: "what is|what s|what would|what|how is|how s|how would|how does|how do|how|assess|evaluate|\
            judge|measure|estimate|determine|give|tell|please|can you|could you|quality|overall quality|\
            image quality|picture quality|photo quality|perceptual quality|the quality|overall",
        partial: "affect*|degrad*|reduc*|caus*|factor*|reason*|distortion*|problem*|issue*|improve*|lower*|\
            limit*|impact*|influence*|which|kind of|type of|aspect*",
    },
    options: OptionWords {
        labels: "options|option|choices",
        joints: " or| and",
        cues: "answer|option|choice|choose|select|pick",
        links: "is|be|would|should|the|letter|option|correct|best",
        reasons: "because|since|as|is",
        letters: "A|I",
        short: "yes|no|true|false",
        denials: "not|no|t|without|isn",
        yes: "yes|true",
        no: "no|false",
        nothing_wrong: "none|no distortion|no distortions|none of the above|nothing|no problem|no problems|\
            normal|balanced|appropriate|proper|suitable|just right|no artifacts",
        unsure: "cannot be determined|can t tell|cannot tell|not sure|unsure|uncertain|unknown|hard to say",
    },
    terms: &TERMS,
    context: ContextWords {
        adjectives: "dark|bright|flat|pale|dull|clear|clean|dim|sharp|soft|colorful|colourful|muted|faded|\
            vivid|sharper|darker|brighter",
        denials: "not|no|without|never|t|free|less|lacks|hardly",
        contracted: "t",
        fillers: "of|from|any|very|really|too|visible|so|at",
        asking_denials: &[],
        has_other_meaning,
        quality: "quality|distort*|degrad*|defect*|flaw*|problem*|issue*|impair*|damage*",
    },
    objects: ObjectWords {
        image: "image|images|picture|pictures|photo|photos|photograph|photographs|photography|pic|pics|\
            shot|shots|snapshot|foto|frame|screenshot|scan|scene|file|jpeg|jpg|png|render|video",
        nouns: "person|man|woman|child|boy|girl|baby|people|crowd|player|athlete|face|eye|hair|skin|hand|\
            head|body|nose|mouth|lip|cheek|ear|finger|arm|leg|foot|subject|main subject|main object|object|\
            foreground|background|sky|cloud|sun|moon|sunset|car|vehicle|bus|truck|train|bike|bicycle|\
            motorcycle|boat|ship|plane|airplane|aircraft|wheel|license plate|licence plate|number plate|\
            plate|road|street|sidewalk|bridge|building|house|tower|church|castle|wall|roof|window|door|\
            floor|ceiling|room|tree|leaf|branch|forest|grass|lawn|field|flower|petal|plant|bush|garden|\
            mountain|hill|rock|stone|sand|beach|sea|ocean|lake|river|water|waterfall|wave|snow|ice|animal|\
            dog|cat|bird|horse|cow|sheep|duck|fish|insect|butterfly|bee|fur|feather|wing|text|letters|\
            lettering|sign|logo|label|number|caption|poster|book|page|screen|monitor|computer|phone|table|\
            desk|chair|sofa|bed|lamp|candle|light bulb|street light|traffic light|cup|mug|glass|bottle|\
            bowl|food|cake|fruit|apple|shirt|dress|clothes|clothing|hat|shoe|jacket|fence|statue|ball|toy|\
            flag|reflection|left side|right side|left half|right half|upper half|\
            lower half|upper part|lower part|top part|bottom part|upper left|upper right|lower left|\
            lower right|top left|top right|bottom left|bottom right|corner|center|centre|middle|left part|\
            right part",
        is_plural,
        sayings: "depth of field|field of view|number of|on the other hand|at first sight|people think|\
            people say",
        generic: "quality|detail|details|lighting|light|problem|problems|issue|issues|distortion|\
            distortions|level|degree|type|kind|reason|cause|effect|impact|severity|most|best|worst|overall|\
            following|part|parts|area|areas|region|regions|amount|extent|way|camera|photographer|view|\
            aspect|aspects|impression|visual|content|option|options|answer|question|one|same|reference|\
            original|version|resolution|metric|tool|score|value|human|viewer|viewers|edge|edges|pixel|\
            pixels|composition|style|mood|atmosphere|visibility|perception|experience|technical|perceptual|\
            main|tone|tones|friend|friends|boss|colleague|customer|client|wife|husband|deviation|variance|percentage|autofocus|whole|entire|general|first|second|two|three|other|exposure|focus|color|colors|colour|\
            colours|highlight|highlights|shadow|shadows|slightest|faintest|degradation|artist|author|texture|textures|beauty|appeal",
        stop: "a|an|the|this|that|these|those|is|are|was|were|be|been|being|do|does|did|has|have|had|can|\
            could|will|would|should|may|look|looks|looking|appear|appears|seem|seems|contain|contains|\
            suffer|suffers|show|shows|get|gets|in|on|of|at|for|with|by|to|from|near|around|behind|under|\
            above|below|over|within|inside|against|across|than|and|or|but|while|as|if|too|very|so|slightly|\
            quite|really|well|properly|clearly|still|more|less|most|heavily|severely|badly|completely|\
            visibly|noticeably|not|no|somewhat|overly|rather|fairly|bit|any|some|what|which|how|why|who|\
            where|when|it|there|s|t|affected|captured|taken|using|use|enough|good|bad|worse|better|worst|\
            best|poor|ok|okay|fine|acceptable",
        determiners: "the|this|that|these|those|its|his|her|their|my|our|your",
        articles: "the|a|an|his|her|its|their",
        places: "in|on|at|of|behind|near|beside|under|above|within|inside|by|to|from|against|across|around|\
            with|below",
        verbs: "is|are|was|were|look|looks|appear|appears|seem|seems|has|have|contain|contains|suffer|\
            suffers|show|shows",
        which: "which|what",
        possessive: "s",
        possessive_places: "",
        subjects: None,
    },
    plan: PlanWords {
        taste: "emotion*|mood|moods|feel|feeling|feelings|atmosphere|ambience|style|styles|stylistic|\
            artistic|art|beauty|beautiful|pretty|gorgeous|lovely|appeal|appealing|attractive|\
            attractiveness|aesthetic*|esthetic*|composition|composed|compositional|framing|rule of thirds|\
            symmetr*|storytelling|story|meaning|happy|sad|cute|creative|creativity|interesting|memorable|\
            evoke*|inspir*|emotional tone",
        moods: "dark|darker|bright|brighter|dim|gloomy|dull|muted|soft|vivid|vibrant|pale|lively",
        content: "how many|who|whose|what color is|what colour is|what color are|what colour are|what time|\
            what animal*|what is happening|what is this|what is in|where was|where is this|which country|\
            when was|what is the name",
        presence: "is there|are there",
        technical: "quality|distort*",
        near_tools: "metric|metrics|tool|tools|score|scores|index|measure|measurement|algorithm",
        everyday_tools: "MAD|UNIQUE|ENTROPY|TReS",
        clauses: "and|or|but|while|whereas",
        contradiction: "contradict|inconsisten|conflict",
        missing_scores: "score|tool",
        missing_analysis: "cover|analysis|scope",
    },
    level,
};

static TERMS: [Term; 32] = [
    term(
        &[Blurs],
        None,
        "blur*|motion blur*|gaussian blur*|lens blur*|out of focus|defocus*|de focused|unfocused|unsharp|\
         not in focus|not focused|soft focus|too soft|fuzzy|fuzziness|smeared|smear*|camera shake|shaky|\
         unclear|indistinct|bokeh|loss of detail*|lost detail*|loses detail*|lose detail*|\
         lack of detail*|lacks detail*|missed focus",
    ),
    term(
        &[Blurs],
        None,
        "sharp|sharper|sharpest|crisp|crisper|clear|clearer|clearest|clearly visible|in focus|focused|\
         well focused|detailed|legible|readable|well defined",
    ),
    term(&[Blurs], None, "clarity|focus|focal|blurriness|detail|details|definition|texture|textures"),
    term(&[Blurs, Sharpness], None, "sharpness"),
    term(
        &[Sharpness],
        Some(TooHigh),
        "oversharp*|over sharp*|too sharp|sharpening|sharpened|excessive sharp*|halo|halos|haloes|haloing|\
         edge halo*",
    ),
    term(
        &[Noise],
        None,
        "noise|noisy|noisier|noisiest|noises|gaussian noise|grain|grainy|grainier|graininess|speckle*|\
         salt and pepper|impulse noise|iso noise",
    ),
    term(&[Noise], None, "noise level*|noise amount|amount of noise|noisiness"),
    term(&[Noise], None, "clean|cleaner|noise free|noiseless"),
    term(
        &[Compression],
        None,
        "compress*|jpeg*|jpg|jpeg quality|artifact*|artefact*|blocky|blockiness|blocking|\
         blocking artifact*|blocking artefact*|macroblock*|banding|color banding|colour banding|\
         posteri*|ringing|mosquito noise|pixelat*|pixellat*|mosaic|jagged|jaggies|aliasing",
    ),
    term(
        &[Brightness],
        Some(TooLow),
        "underexpos*|under expos*|too dark|darker|darkest|dark|dim|dimmer|dimly lit|poorly lit|gloomy|\
         murky|backlit|insufficient light|insufficient lighting|low light|lack of light|crushed shadows|\
         crushed blacks|too dim",
    ),
    term(
        &[Brightness],
        Some(TooHigh),
        "overexpos*|over expos*|too bright|overly bright|brighter|brightest|blown out|blown|burnt out|\
         burned out|clipped highlight*|glare|overlit|too light|excessive brightness|strong light",
    ),
    term(
        &[Brightness],
        None,
        "well lit|well exposed|properly exposed|correctly exposed|bright enough|good exposure|\
         balanced exposure|evenly lit|brightly lit|well illuminated|bright",
    ),
    term(
        &[Brightness],
        None,
        "brightness|exposure|exposed|lighting|illumination|illuminated|light condition*|\
         lighting condition*|luminance|darkness|lit|light level*",
    ),
    term(
        &[Contrast],
        Some(TooLow),
        "low contrast|washed out|wash out|hazy|hazier|haze|foggy|misty|milky|flat|lack of contrast|\
         lacks contrast|too little contrast|poor contrast|weak contrast|veiled|contrast decrement",
    ),
    term(
        &[Contrast],
        Some(TooHigh),
        "too contrasty|contrasty|harsh contrast|too much contrast|excessive contrast|contrast too high|\
         overly high contrast",
    ),
    term(&[Contrast], None, "good contrast|high contrast|strong contrast|balanced contrast|rich contrast"),
    term(&[Contrast], None, "contrast|dynamic range|tonal range"),
    term(
        &[Color],
        None,
        "color cast*|colour cast*|color shift*|colour shift*|discolor*|discolour*|off color|off colour|\
         wrong color*|wrong colour*|color distort*|colour distort*|color bleed*|colour bleed*|\
         color diffusion|colour diffusion|chromatic aberration|purple fringing|color fringing|\
         colour fringing|tinted|yellowish|greenish|bluish|reddish|unnatural color*|unnatural colour*|\
         inaccurate color*|inaccurate colour*|wrong white balance",
    ),
    term(
        &[Color],
        Some(TooHigh),
        "oversaturat*|over saturat*|too saturated|too colorful|too colourful|garish|gaudy|too vivid",
    ),
    term(
        &[Color],
        Some(TooLow),
        "undersaturat*|under saturat*|desaturat*|faded|fading|dull|duller|pale|colorless|colourless|muted|\
         lifeless color*",
    ),
    term(
        &[Color],
        None,
        "vivid|vibrant|colorful|colourful|rich color*|rich colour*|natural color*|natural colour*|\
         true to life|accurate color*|accurate colour*",
    ),
    term(
        &[Color],
        None,
        "color|colors|colour|colours|coloring|colouring|coloration|colorfulness|colourfulness|hue|hues|\
         tint|saturation|saturated|white balance|color tone*|colour tone*|skin tone*|chroma",
    ),
    // Judgments of a property: the property decides the category, the adjective decides good or
    // bad.
    term(&[Blurs], None, "good clarity|high clarity|high sharpness|good sharpness"),
    term(&[Blurs], None, "poor clarity|low clarity|low sharpness|poor sharpness|poor focus"),
    term(&[Brightness], None, "good lighting|sufficient lighting|sufficient light|adequate lighting|great lighting"),
    term(&[Brightness], None, "poor lighting|bad lighting|uneven lighting|poor exposure|bad exposure"),
    term(&[Brightness], Some(TooLow), "low brightness"),
    term(&[Brightness], Some(TooHigh), "high brightness|excessive light"),
    term(&[Color], None, "good color*|good colour*|true color*|high saturation"),
    term(&[Color], Some(TooLow), "low saturation|poor color*|poor colour*"),
    term(&[Noise], None, "low noise|little noise"),
    term(&[Noise], None, "high noise|heavy noise"),
];

/// Words for a quality level.
fn level(level: QualityLevel) -> &'static str {
    match level {
        QualityLevel::Excellent => "excellent|perfect|outstanding|very good|very high|superb",
        QualityLevel::Good => "good|high|great|decent|satisfactory|fine",
        QualityLevel::Fair => "fair|average|medium|moderate|acceptable|ordinary|mediocre|normal|so so|neutral",
        QualityLevel::Poor => "poor|low|below average|unsatisfactory|relatively poor",
        QualityLevel::Bad => "bad|terrible|awful|very poor|very low|very bad|horrible|worst",
    }
}

fn has_other_meaning(word: &str, before: Option<&str>, next: Option<&str>, length: usize) -> bool {
    match word {
        "detail" | "details" => before == Some("in"),
        "focus" => next == Some("on") && matches!(before, None | Some("please" | "and" | "to")),
        "jpeg" | "jpg" => length == 1 && matches!(before, Some("this" | "the" | "a" | "my" | "that")),
        "color" | "colour" => before == Some("what"),
        _ => false,
    }
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

/// The sentences of the language.
#[derive(Debug)]
pub(super) struct English;

impl Phrases for English {
    fn full_stop(&self) -> &'static str {
        "."
    }

    fn sentence_ends(&self) -> &'static [char] {
        &['.', '!', '?']
    }

    fn between_sentences(&self) -> &'static str {
        " "
    }

    fn between_clauses(&self) -> &'static str {
        "; "
    }

    fn whole_image(&self) -> &'static str {
        "the whole image"
    }

    fn object(&self, name: &str) -> String {
        if name.starts_with("the ") || !name.is_ascii() { name.to_owned() } else { format!("the {name}") }
    }

    fn distortion(&self, distortion: Distortion) -> &'static str {
        match distortion {
            Blurs => "blur",
            Color => "color distortion",
            Compression => "compression damage",
            Noise => "noise",
            Brightness => "wrong brightness",
            Sharpness => "oversharpening",
            Contrast => "wrong contrast",
        }
    }

    fn directed(&self, distortion: Distortion, direction: Direction) -> &'static str {
        match (distortion, direction) {
            (Brightness, TooLow) => "underexposure",
            (Brightness, TooHigh) => "overexposure",
            (Contrast, TooLow) => "lack of contrast",
            (Contrast, TooHigh) => "excess of contrast",
            (Color, TooLow) => "lack of color",
            (Color, TooHigh) => "oversaturation",
            _ => self.distortion(distortion),
        }
    }

    fn severity(&self, severity: Severity) -> &'static str {
        match severity {
            Severity::None => "none",
            Severity::Slight => "slight",
            Severity::Moderate => "moderate",
            Severity::Severe => "severe",
            Severity::Extreme => "extreme",
        }
    }

    fn level(&self, level: QualityLevel) -> &'static str {
        match level {
            QualityLevel::Bad => "bad",
            QualityLevel::Poor => "poor",
            QualityLevel::Fair => "fair",
            QualityLevel::Good => "good",
            QualityLevel::Excellent => "excellent",
        }
    }

    fn levels(&self, first: &str, last: &str) -> String {
        format!("between {first} and {last}")
    }

    fn not_a_number(&self) -> &'static str {
        "no number"
    }

    fn infinity(&self, positive: bool) -> &'static str {
        if positive { "infinity" } else { "minus infinity" }
    }

    fn found(&self, severity: &str, distortion: &str, part: &str) -> String {
        format!("{severity} {distortion} in {part}")
    }

    fn not_found(&self, distortion: &str, part: &str) -> String {
        format!("no visible {distortion} in {part}")
    }

    fn explained(&self, found: &str, explanation: &str) -> String {
        format!("{found}: {explanation}")
    }

    fn nothing_found(&self) -> &'static str {
        "no visible distortion was found"
    }

    fn nothing_analyzed(&self) -> &'static str {
        "no distortion was analyzed"
    }

    fn quality(&self, level: &str) -> String {
        format!("the quality is {level}")
    }

    fn direction(&self, lower_is_better: bool) -> &'static str {
        if lower_is_better { " (lower is better)" } else { " (higher is better)" }
    }

    fn interval(&self, low: f64, high: f64) -> String {
        format!(" (90% prediction interval {low:.2} to {high:.2})")
    }

    fn scored(&self, run: &Run<'_>, score: f64, interval: &str) -> String {
        let Run { tool, raw, direction, part } = run;
        format!("{tool} gave {raw}{direction} for {part}, {score:.2} on the scale from 1 to 5{interval}")
    }

    fn unscaled(&self, run: &Run<'_>) -> String {
        let Run { tool, raw, direction, part } = run;
        format!("{tool} gave {raw}{direction} for {part}, which has no scale from 1 to 5")
    }

    fn failed(&self, tool: &str, part: &str, error: Option<&str>) -> String {
        format!("{tool} gave no score for {part}: {}", error.unwrap_or("no reason given"))
    }

    fn replaces(&self) -> &'static str {
        " It replaces a tool that failed or is not available."
    }

    fn together(&self, score: f64) -> String {
        format!("the combined tool score is {score:.2} on the scale from 1 to 5")
    }

    fn carried(&self, tools: &str) -> String {
        format!("the score follows {tools}, fitted to people's opinions; the other tools are additional evidence")
    }

    fn no_scores(&self) -> &'static str {
        "no tool scores were measured, so the answer is based on the analysis alone"
    }

    fn region_unknown(&self, part: &str) -> String {
        format!("the region of {part} is not known, so the whole image was measured")
    }

    fn contradiction(&self, found: &str, tool: &str, score: f64) -> String {
        format!("contradictory evidence: {found}, yet {tool} scores {score:.2}")
    }

    fn level_open(&self, low: f64, high: f64, levels: &str) -> String {
        format!(
            "The level is not determined: the 90% prediction interval is {low:.2} to {high:.2}, \
             so the quality is {levels}."
        )
    }

    fn undetermined(&self) -> &'static str {
        "Unable to determine"
    }

    fn nothing_measured(&self) -> &'static str {
        "No measurement answers the question."
    }

    fn no_level(&self) -> &'static str {
        "there is no measurement to derive a quality level from"
    }

    fn chosen(&self, letter: char, because: &str) -> String {
        format!("option {letter} fits the evidence best: {because}")
    }

    fn tied(&self) -> &'static str {
        "another option fits equally well; the first one was chosen"
    }

    fn guess(&self, letter: char) -> String {
        format!("the evidence does not decide between the options, so {letter} is only the most cautious guess")
    }
}
