//! English words of questions about images.

use super::dictionary::Entry;
use super::sign::{Aspect, Degree, Grade, Kind, Pole, Sign};
use Aspect::{
    Beauty, Cast, Color, Composition, Compression, Content, Contrast, Damage, Emphasis, Exposure, Halos, Haze, Hue,
    Light, Mood, Noise, Origin, Quality, Sharpness, Symmetry,
};
use Pole::{Fault, Good, High, Low};
use Sign::{Property, State};

pub(super) static WORDS: &[Entry] = &[
    // Sharpness.
    (
        Property(Sharpness),
        "sharpness|clarity|focus level|focus quality|definition|acutance|focusing|focus accuracy|texture sharpness|\
         edge definition|sharpness level|clarity level|resolving power|crispness|legibility|visibility|\
         detail level|level of detail*|amount of detail*|detail|details|texture|textures|fine detail*|\
         fine texture*|fine structure*",
    ),
    (
        State(Sharpness, High, None),
        "sharp|clearly visible|be visible|sharply|sharper|sharpest|crisp|crisply|crisper|crispest|clear|clearly|clearer|clearest|in focus|focused|focussed|well focused|detailed|legible|readable|\
         well defined|clear cut|distinct|distinguishable|recognizable|recognisable|made out|make out|rich texture*|clear texture*|\
         fine detail*|good detail*|rich detail*|rich in detail*|rich in texture*|full of detail*|detail rich|clear detail*|clear focus|tack sharp|\
         razor sharp|in good focus|high resolution|deblurred|unblurred|resolved",
    ),
    (
        State(Sharpness, Low, None),
        "blur|blur level*|level of blur*|degree of blur*|amount of blur*|blurriness level*|blurs|blurry|blurred|blurring|blurriness|blurrier|blurriest|soft|softness|softer|softest|fuzzy|fuzziness|\
         unsharp|unsharpness|unclear|indistinct|smeared|smear*|hard to see|hard to read|hard to make out|difficult to see|difficult to make out|hard to recognize|\
         hard to recognise|hard to distinguish|can t be seen|cannot be seen|not in focus|loss of detail*|\
         lost detail*|loss of sharpness|loss of texture*|low resolution|smudg*|illegible|unreadable|mushy|\
         loss of fine detail*|missing detail*|invisible|hardly visible|blured|gaussian blur*|lens blur*|muddy|\
         oversmooth*|over smooth*|unrecognizable|vague",
    ),
    (
        State(Sharpness, Low, Some(Kind::Motion)),
        "motion blur*|motion|camera shake|shaky|shake|shaken|hand shake|handshake|moved|movement|movement blur|moving|\
         ghosting|camera motion|camera movement|jitter*",
    ),
    (
        State(Sharpness, Low, Some(Kind::Defocus)),
        "out of focus|outoffocus|defocus*|de focus*|unfocus*|misfocus*|missed focus|miss focus|\
         miss the focus|missed the focus|missing focus|wrong focus|soft focus|front focus*|\
         back focus*|autofocus miss*|autofocus fail*|focus missed|focus is off|focus failed|focus issue*|focus problem*|off focus|bokeh|shallow depth of field|depth of field|depth of field blur",
    ),
    (Sign::Focus, "focus|the focus|main focus|the main focus|focus point|focus area|focal plane"),
    (State(Sharpness, Low, Some(Kind::RareBlur)), "zoom blur|glass blur|twisted blur|radial blur|spin blur"),
    // Halos.
    (
        State(Halos, High, None),
        "oversharp*|over sharp*|too sharp|overly sharp|excessively sharp|halo|halos|haloes|bright halo*|haloing|edge halo*|\
         sharpening artifact*|sharpening artefact*|sharpening|sharpened",
    ),
    // Noise.
    (
        Property(Noise),
        "noise level*|level of noise|amount of noise|noisiness|degree of noise|noise amount|noise performance|\
         grain level|noise control|noise visibility",
    ),
    (
        State(Noise, High, None),
        "noise|noises|nois|noize|noisy|noisier|noisiest|speck*|iso noise|visible noise|luminance noise|snow|snowy",
    ),
    (State(Noise, High, Some(Kind::Grain)), "grain|grainy|grainier|grainiest|graininess|gaussian noise|film grain"),
    (State(Noise, High, Some(Kind::Impulse)), "impulse noise|salt and pepper|salt and pepper noise|hot pixel*"),
    (State(Noise, High, Some(Kind::ColorNoise)), "color noise|colour noise|chroma noise|chrominance noise"),
    (State(Noise, Low, None), "clean|cleaner|cleanest|noiseless|noise free|denoised|grainless"),
    // Compression.
    (
        Property(Compression),
        "compression level|level of compression|degree of compression|compression ratio|compression rate|frosty artifact*",
    ),
    (
        State(Compression, High, None),
        "compress*|compression artifact*|compression artefact*|compression distort*|compression damage|jpeg artifact*|\
         jpeg artefact*|jpeg compression|jpeg damage|overcompress*|codec artifact*|artifact*|artefact*|\
         encoding artifact*|jpeg distort*|lossy compression|jpeg",
    ),
    (
        State(Compression, High, Some(Kind::Blocks)),
        "blocky|blockiness|blocking|blocking artifact*|blocking artefact*|macroblock*|jpeg block*|block artifact*|\
         block artefact*|compression block*|8x8 block*|blocks",
    ),
    (State(Compression, High, Some(Kind::Banding)), "banding|color banding|colour banding|posteri*|bands"),
    (
        State(Compression, High, Some(Kind::Pixelation)),
        "pixelat*|pixellat*|mosaic|jagged|jaggies|aliasing|aliased|pixelized|pixelised|pixely",
    ),
    (State(Compression, High, Some(Kind::Ringing)), "ringing|ringing artifact*|mosquito noise|ringing artefact*"),
    (State(Compression, Low, None), "jpeg quality|quality setting*|quality factor*|compression quality|uncompressed"),
    // Light.
    (
        Property(Light),
        "brightness|lighting|illumination|light condition*|lighting condition*|luminance|lightness|light level*|\
         brightness level*|lighting level*|light intensity|lightness level|level of brightness|level of light|light|\
         lights|darkness level|illuminance|ambient lighting|tone|tonality|lighting quality|luminosity",
    ),
    (
        State(Light, High, None),
        "bright|brightly|brighter|brightest|brightly lit|bright lit|light colored|brilliant|sunny|bright lighting|\
         high key|luminous|shiny",
    ),
    (
        State(Light, Low, None),
        "dark|darkly|darker|darkest|dim|dimly|dimmer|dimmest|dimly lit|dim lit|poorly lit|gloomy|murky|low light|\
         lowlight|darkness|dusky|shadowy|badly lit|dimness|low key|ill lit|pitch black|dull lighting|night",
    ),
    (
        State(Light, Good, None),
        "well lit|bright enough|well illuminated|evenly lit|light enough|adequately lit|nicely lit|properly lit|\
         sufficiently lit",
    ),
    (State(Light, Fault, None), "unevenly lit|uneven lighting|lighting artifact*|brightness distort*"),
    // Exposure.
    (Property(Exposure), "exposure|exposed|exposure level*|exposure situation|level of exposure"),
    (
        State(Exposure, Low, None),
        "underexpos*|under expos*|underexopsure|underexposition|crushed shadows|crushed blacks|blocked shadows|\
         blocked up shadows|shadow clipping|clipped shadows|lost shadows|crushed|underlit|under lit",
    ),
    (
        State(Exposure, High, None),
        "overexpos*|over expos*|blown out|blown|burnt out|burned out|burnt|clipped highlight*|highlight clipping|glare|\
         overlit|lost highlight*|blown highlight*|whiteout|glaring|dazzling|flare|over bright|overbright",
    ),
    (State(Exposure, Fault, Some(Kind::Backlight)), "backlit|backlight*|back lit|against the light"),
    (
        State(Exposure, Good, None),
        "well exposed|properly exposed|correctly exposed|balanced exposure|rightly exposed|perfectly exposed|\
         nicely exposed|normally exposed",
    ),
    (
        State(Exposure, Fault, None),
        "misexposed|badly exposed|poorly exposed|wrongly exposed|mis exposed|incorrectly exposed",
    ),
    // Contrast.
    (
        Property(Contrast),
        "contrast|dynamic range|tonal range|contrast level*|tonal contrast|level of contrast|brightness contrast|\
         tone range|contrast ratio|light and shadow|tones|shadow and light|light and shadows",
    ),
    (
        State(Contrast, Low, None),
        "washed out|wash out|washed|flat|flatness|milky|veiled|contrastless|low contrast|grayish|greyish|\
         contrast decrement|flat looking|flat contrast",
    ),
    (State(Contrast, High, None), "contrasty|high contrast|strong contrast|harsh|punchy|harsh contrast|harsher"),
    // Haze.
    (Property(Haze), "haze level|haziness"),
    (State(Haze, High, None), "haze|hazy|hazier|hazing|fog|foggy|mist|misty|smog*|smoky|veil|frosty"),
    // Color.
    (
        Property(Color),
        "color|colors|colour|colours|coloring|colouring|coloration|colorfulness|colourfulness|saturation|chroma|\
         color saturation|colour saturation|saturation level*|color vividity|color vibrance|color richness|vividness|\
         vibrance|vibrancy|richness|color intensity|colour intensity|richness of color*|richness of colour*|\
         richness in color*|richness in the color*|richness of the color*|level of saturation|color strength",
    ),
    (
        State(Color, High, None),
        "colorful|colourful|vivid|vividly|vibrant|saturated|rich color*|rich colour*|vivid color*|vivid colour*|\
         color rich|rich in color*|rich in colour*|color saturated|vividity|full color|strong color*|strong colour*|\
         high saturation|intense color*|eye catching|pop|pops|stand out color*|striking color*|rich|lively color*|colorfully",
    ),
    (
        State(Color, Low, None),
        "dull|duller|dullest|faded|fading|pale|paler|desaturat*|undersaturat*|under saturat*|colorless|colourless|muted|\
         monotonous|monotone|plain|lifeless color*|washed out color*|washed out colour*|drab|weak color*|\
         weak colour*|faded color*|faded colour*|dull color*|pale color*|subdued|bland",
    ),
    (
        State(Color, Low, Some(Kind::Monochrome)),
        "black and white|monochrome|monochromatic|grayscale|greyscale|gray scale|totally black and white|b w|shades of gray|shades of grey|tones of gray|tones of grey|\
         without any color|without any colour|color has been removed|colour has been removed|no color left|no colour left",
    ),
    (
        State(Color, High, Some(Kind::Oversaturated)),
        "oversaturat*|over saturat*|too saturated|pushed too far|overdone|overcooked|too intense|too strong|exaggerated color*|too colorful|too colourful|garish|gaudy|too vivid|overly saturated|\
         overly vivid|oversaturation|excessively saturated|too vibrant",
    ),
    (
        State(Color, Good, None),
        "natural color*|natural colour*|true to life|accurate color*|accurate colour*|correct color*|correct colour*|\
         realistic color*|lifelike color*",
    ),
    // Color cast.
    (
        Property(Cast),
        "white balance|color tone|colour tone|color balance|colour balance|color temperature|colour temperature|hue|hues|skin tone*",
    ),
    (
        State(Cast, High, None),
        "color cast*|colour cast*|color shift*|colour shift*|discolor*|discolour*|off color|off colour|tint|tints|\
         tinted|unnatural color*|unnatural colour*|color distort*|colour distort*|inaccurate color*|\
         inaccurate colour*|wrong color*|wrong colour*|color deviation*|cast|color aberration*|colour aberration*|\
         false color*|false colour*|strange color*|color change*",
    ),
    (
        State(Cast, High, Some(Kind::Warm)),
        "warm|warmish|yellowish|reddish|orangish|yellow cast|red cast|orange cast|warm cast|warm tint|yellow tint|red tint|too warm|too yellow|too red|yellow tinge|warm tone*",
    ),
    (
        State(Cast, High, Some(Kind::Cool)),
        "cool|cold|bluish|blueish|blue cast|cool cast|cold cast|blue tint|cool tint|too cool|too cold|too blue|blue tinge|cool tone*",
    ),
    (State(Cast, High, Some(Kind::Green)), "greenish|green cast|green tint|too green|green tinge"),
    (
        State(Cast, High, Some(Kind::Magenta)),
        "pinkish|purplish|magenta cast|pink cast|magenta tint|pink tint|purple cast|too pink",
    ),
    (
        State(Cast, High, Some(Kind::Fringing)),
        "chromatic aberration*|purple fring*|color fring*|colour fring*|fringing|color bleed*|colour bleed*",
    ),
    // Quality and any distortion.
    (
        Property(Quality),
        "quality|image quality|picture quality|photo quality|overall quality|perceptual quality|visual quality|\
         technical quality|quality level|quality score|level of quality",
    ),
    (
        State(Damage, High, None),
        "distort*|degrad*|bothers|bother|annoys|went wrong|goes wrong|hurts|harms|spoils|ruins|affects the quality|reduces|lowers|limits the quality|defect*|flaw*|damage*|impair*|corrupt*|distortion level|quality issue*|quality problem*|\
         quality distort*|disturb*",
    ),
    (State(Quality, High, None), "flawless|pristine|undistorted|undamaged|immaculate|high quality|professional"),
    (
        State(Quality, Low, None),
        "ruined|unusable|low quality|amateurish|throw this photo away|throw it away|throw away|throw this away|\
         throw this picture away|discard|discarded|delete it|delete this|be deleted|reject it|trash|garbage|useless",
    ),
    (State(Quality, Good, None), "usable"),
    // Mood by light and color.
    (
        State(Mood, High, None),
        "lively|cheerful|bright and cheerful|bright and lively|bright and fresh|full of life|upbeat|fresh|refreshing|pleasant|energetic|animated|vitality|prosperous",
    ),
    (
        State(Mood, Low, None),
        "lifeless|dull and lifeless|dull mood|depressing|somber|sombre|dreary|desolate|sinister|bleak|melancholic|eerie",
    ),
    // Not measured.
    (
        Property(Composition),
        "composition|composed|compositional|framing|rule of thirds|arrangement|well composed|pyramid|repetitive|repeated|tilted|leading lines|crop|cropping|layout|horizon|perspective",
    ),
    (
        State(Emphasis, High, None),
        "emphasi*|focal point|focal|main subject of|main object of|highlighted|prominent|stand out|stands out|\
         in the center of|subject emphasized|main subject|main object|in the center|in the centre|in the middle|\
         centered|centred|center oriented",
    ),
    (
        State(Symmetry, High, None),
        "symmetr*|symmetrical composition|symmetric composition|composed symmetrically|mirror image|mirrored",
    ),
    (
        Property(Hue),
        "main color*|main colour*|primary color*|primary colour*|dominant color*|dominant colour*|dominating color*|\
         prominent color*|prominent colour*|predominant color*|predominant colour*|brightest color*|\
         brightest colour*|color scheme|colour scheme|color style|colour style|color dominates|colour dominates|\
         colors dominate|colours dominate|color is dominant|color prevails|dominates|dominate|predominates|\
         overall color|overall colour|most common color|main color tone*|main tone*|primary color tone*|\
         main colour tone*|dominant tone*|what color is|what colour is|what color are|what colour are",
    ),
    (
        Property(Beauty),
        "beauty|happy|joyful|sad|angry|beautiful|pretty|gorgeous|lovely|appeal|appealing|attractive|aesthetic*|esthetic*|artistic|art|\
         interesting|creative|creativity|memorable|cute|mood|feeling|feelings|emotion*|atmosphere|style|ugly|\
         pleasing|stunning|instagram|like it",
    ),
    (
        Property(Origin),
        "generated|ai|a i|artificial|fake|photoshopped|edited|manipulated|real|realistic|photo realistic|\
         computer generated|cgi|deepfake|rendered|synthetic|rendering|sketch|sketch like|taken in real life|\
         painting style|drawing|copied|stolen|tampered",
    ),
    (
        Property(Content),
        "who|whose|which camera|what camera|which country|when was|which lens|what lens|which phone|what time|\
         how old|what animal|what is this|what is shown|what is happening|where was|identity|photographer|\
         what is in|what breed|copyright|money|worth|price|cost|weather|rain|tomorrow|taken in",
    ),
    // Grades.
    (Sign::Grade(Grade::High), "high|higher|highest|strong|full|great amount|large|larger|big|srong"),
    (
        Sign::Grade(Grade::Good),
        "good|better|best|great|excellent|perfect|superb|outstanding|appropriate|ok|okay|fine|balanced|natural|\
         accurate|suitable|sufficient|adequate|well|nice|correct|correctly|proper|properly|right|just right|\
         just fine|satisfactory|optimal|ideal|decent|preserved|alright|well balanced|well preserved|even|\
         faithful|no issue*|on point|impeccable|spot on|true|satisfying",
    ),
    (
        Sign::Grade(Grade::Medium),
        "medium|average|normal|fair|moderate|mediocre|ordinary|so so|intermediate|acceptable|accepatable|accptable|\
         tolerable|meidum|meedium|mid|passable|standard|usual|common|neutral",
    ),
    (
        Sign::Grade(Grade::Poor),
        "bad|worse|worst|poor|poorer|poorest|poorly|badly|wrong|off|incorrect|terrible|awful|horrible|unnatural|\
         inaccurate|improper|unacceptable|unsatisfactory|disappointing|inappropriate|unbalanced|imbalanced|uneven|\
         annoying|weird|strange|faulty|lousy|wrongly|unpleasant|mediocre at best|odd|inadequate|inferior",
    ),
    (Sign::Grade(Grade::Low), "low|lower|lowest|weak|weaker|weakest|little|small|minimal|limited|weakly|low level"),
    // Degrees.
    (
        Sign::Degree(Degree::Any),
        "any|at all|slightest|the slightest|even the slightest|faintest|the faintest|even a little|some|visible|noticeable|visibly|noticeably|presence of|perceptible|apparent|trace of|hint of|sign of|traces of|signs of",
    ),
    (
        Sign::Degree(Degree::Slight),
        "slight|slightly|slight trace of|slight hint of|mild|mildly|minor|a little|a bit|a tad|lightly|barely|subtle|faint|a little bit|marginally|\
         partly|mildness|a touch|weak blur",
    ),
    (Sign::Degree(Degree::Moderate), "moderately|somewhat|fairly|quite|rather|partially|relatively|reasonably|pretty"),
    (
        Sign::Degree(Degree::Strong),
        "very|highly|really|significant|significantly|obvious|obviously|strongly|heavy|heavily|a lot of|lots of|much|\
         so|especially|particularly|considerable|considerably|plenty|plenty of|quite a lot of|a lot|lot of|\
         truly|pronounced|marked|markedly",
    ),
    (
        Sign::Degree(Degree::Severe),
        "severe|severely|seriously|serious|badly affected|massive|massively|seriously affected",
    ),
    (
        Sign::Degree(Degree::Extreme),
        "extreme|extremely|completely|totally|entirely|fully|perfectly|absolutely|utterly|unbearable|unbearably|\
         intolerable|intolerably|terribly|100 percent|awfully|incredibly",
    ),
    (Sign::Degree(Degree::Too), "too|overly|excessively|unduly|more than it should|more than necessary"),
    (Sign::Degree(Degree::Enough), "enough|sufficiently|adequately|acceptably"),
    (
        Sign::Issue,
        "anything wrong|something wrong|wrong with|amiss|anything bad|problem|problems|issue|issues|trouble|troubles|fault|faults|mistake|mistakes|error|errors|issue with|problem with",
    ),
    (Sign::Excess, "excessive|excess|too much|too many|too high|surplus|exaggerated"),
    (
        Sign::Lack,
        "lack|lacks|lacking|lacked|lack of|lacks of|lacking in|insufficient|insufficiently|not enough|too little|\
         missing|short of|drop in|shortage of|deficient|deficient in|loss of|poor in|devoid of detail*|not sufficient|too low|lost|loses|lose|losing|removed|been removed|gone|decreased|reduced",
    ),
    (
        Sign::Deny,
        "not|no|without|never|t|cannot|nothing|none|nor|absence of|absent|devoid of|no longer|hardly|scarcely|\
         neither of|neither|zero|fails to|fail to|untouched by|unaffected by|nowhere|avoid*|rid of|hardly any|barely any|\
         no sign of|no trace of|no signs of|no traces of|unspoiled by|isnt|arent|doesnt|dont|isn|far from",
    ),
    (Sign::Free, "free|free of|free from"),
    (
        Sign::Filler,
        "light and dark|between light and dark|between dark and light|between bright and dark|at least|at most|not only|if not|or not|no matter|no doubt|without reference|no reference|without a reference|whether or not",
    ),
    (Sign::More, "more"),
    (Sign::Less, "less|fewer"),
    (Sign::Most, "most"),
    (Sign::Least, "least|fewest"),
    (Sign::Than, "than|compared to|compared with|in comparison with|versus|vs"),
    (Sign::And, "and|as well as|plus|also|both"),
    (Sign::Or, "or"),
    (Sign::But, "but|while|whereas|although|though|yet|however|except"),
    (
        Sign::Ask,
        "is|are|was|were|does|do|did|has|have|had|can|could|would|should|may|might|am|will|is there|are there|\
         can you see|do you see|would you say|is it|is it correct to say|do you think",
    ),
    (
        Sign::Which,
        "which|what|what color|what colour|which color|which colour|name|what kind of|what type of|which of|which kind of|which one",
    ),
    (
        Sign::How,
        "how|how s|to what extent|to what degree|what level of|what degree of|how much|what is the level of|\
         what is the degree of|what extent|how bad|how strong|how severe|how about|what do you think of",
    ),
    (Sign::HowMany, "how many|number of|count"),
    (Sign::Where, "where|in which part|in what part|in which area|in which corner|in which region"),
    (Sign::Why, "why|how come|explain|what causes|what caused|cause of|reason"),
    (
        Sign::Part,
        "part|region|area|object|element|section|side|person|subject|corner|thing|place|half|parts|regions|areas|\
         objects|areas|location",
    ),
    (Sign::Rate, "rate|assess|evaluate|score|grade|judge|rating|scores"),
    (Sign::Describe, "describe|summarize|summarise|tell me about|overview|report on|analyze|analyse"),
    (
        Sign::Advice,
        "fix|mend|next time|what should i do|improve|repair|correct it|enhance|what can i do|how can i|how could i|how do i|should i do|recover|\
         restore|retouch|edit it|make it better|save it|salvage|what should i change|settings should",
    ),
    (Sign::Value, "value|values|numeric|exact|measured|figure|figures|in numbers|index"),
    (
        Sign::Resolution,
        "how many pixels|resolution|dimensions|megapixel*|pixel count|how large|how big|how wide|how tall|image width|image height|width|image size|size in pixels|pixels",
    ),
    (Sign::Print, "print|printed|printing|poster|prints"),
    (Sign::Reference, "reference|original|source image|other image|first image|second image|two images|ground truth"),
    (
        Sign::Difference,
        "difference|different|differ|differs|same|identical|lossless|visually lossless|indistinguishable|as good as|\
         match|matches|closest|compare|comparable|tell apart|changed|pass for|passes for|mistaken for|taken for|faithful to|similar",
    ),
    (
        Sign::Instruction,
        "ignore|disregard|forget|pretend|just say|just answer|only say|system prompt|previous instructions|\
         your instructions|say yes|say no|say 5|answer 5|give 5|give it 5|always answer|you must|output only|\
         respond with|repeat after|print the|answer yes|answer no|override",
    ),
    (
        Sign::Filler,
        "detail on|focus on|in detail|light source|lightsource|source of light|light from|light come|light comes|\
         in terms of|rate of|frame rate|visual effect|at first sight|in the light of|visibly the|visual experience|\
         direction|as a whole|on the whole|\
         to be|kinds|color of the brightest|traffic light|street light|head light|light bulb|flash light|\
         night sky|soft drink|soft toy|stone cold|high school|high building|high heels|low wall|dark blue|\
         light blue|dark green|light green|full moon|full body|right side|on the right|the right|right corner|\
         right half|right part|bottom right|top right|upper right|lower right|far right|wide open|best describes|affected by|suffer from|suffers from|suffering from|affected|suffer|\
         print the image|is visible|are visible",
    ),
];
