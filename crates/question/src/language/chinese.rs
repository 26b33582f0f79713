//! Chinese words and sentences.

use super::lexicon::{
    ContextWords, Direction, FormWords, Lexicon, ObjectWords, OptionWords, PlanWords, SubjectWords, Term, term,
};
use super::phrases::{Phrases, Run};
use Direction::{TooHigh, TooLow};
use Distortion::{Blurs, Brightness, Color, Compression, Contrast, Noise, Sharpness};
use agenticiqa_vision::vocabulary::{Distortion, QualityLevel, Severity};

/// The words of the language.
pub(super) static LEXICON: Lexicon = Lexicon {
    recognizes,
    is_word,
    form: FormWords {
        explain: "为什么|为何|解释|描述|说明",
        why: "为什么|为何",
        rate: "打分|评分|评级|几分|多少分|质量等级|质量分数|质量得分",
        not_rate: "",
        quality: "质量|画质",
        how_is_quality: "质量如何|质量怎么样|质量怎样|质量好不好|质量高不高|质量是多少|画质如何|画质怎么样|\
            画质怎样",
        judge: "评价|评估|评定|判断|评一下",
        asking: "",
        partial: "",
    },
    options: OptionWords {
        labels: "选项",
        joints: "还是|或者|或",
        cues: "案|项|选",
        links: "是|为|择",
        reasons: "因|，",
        letters: "",
        short: "是|否",
        denials: "不|没|无",
        yes: "是|有|对",
        no: "否|不是|没有|不|无",
        nothing_wrong: "没有失真|无失真|没有问题|正常|合适|适中|以上都不是|都没有",
        unsure: "不确定|无法判断|无法确定|不知道",
    },
    terms: &TERMS,
    context: ContextWords {
        adjectives: "暗",
        denials: "不|没|无|非",
        contracted: "",
        fillers: "有|够|太",
        asking_denials: &[("是", "不"), ("有", "没")],
        has_other_meaning,
        quality: "质量|画质|失真|缺陷|瑕疵|问题|退化",
    },
    objects: ObjectWords {
        image: "图像|图片|照片|画面|图|相片|影像|截图|照",
        nouns: "人|人物|人像|男人|女人|男孩|女孩|孩子|小孩|人群|人脸|脸|脸部|面部|眼睛|头发|皮肤|肤色|手部|\
            身体|主体|物体|前景|背景|天空|云|云朵|太阳|月亮|星星|汽车|车|车辆|轿车|卡车|公交车|火车|自行车|\
            摩托车|船|飞机|车牌|车轮|道路|马路|路面|街道|桥|建筑|建筑物|房子|房屋|大楼|楼房|塔|墙|墙壁|\
            墙面|屋顶|窗户|窗|门|地面|地板|天花板|树|树木|树叶|树枝|森林|草|草地|草坪|花|花朵|花瓣|植物|山|\
            山脉|石头|沙滩|海|海面|海水|湖|湖面|河流|水|水面|瀑布|雪|雪地|动物|狗|小狗|猫|小猫|鸟|马|牛|羊|\
            鱼|昆虫|蝴蝶|毛发|羽毛|文字|字|字母|标志|招牌|屏幕|电脑|手机|桌子|椅子|沙发|床|灯|台灯|路灯|\
            蜡烛|杯子|瓶子|碗|食物|蛋糕|水果|苹果|衣服|帽子|鞋子|栅栏|雕像|球|旗帜|阴影|倒影|左侧|右侧|\
            左边|右边|上方|下方|上半部分|下半部分|左上角|右上角|左下角|右下角|中心|中央|角落",
        is_plural: |_, _| false,
        sayings: "给人|人眼|人工|令人|让人",
        generic: "",
        stop: "",
        determiners: "",
        articles: "",
        places: "",
        verbs: "",
        which: "哪|哪个|哪些|哪只|哪辆|哪位|什么",
        possessive: "的",
        possessive_places: "中|里|上|内|处|部|分|方",
        subjects: Some(SubjectWords {
            before: "请问|请|这张|那张|这幅|图像|图片|照片|画面|图|中|里|上|内|的|这个|那个|这|那|判断|看|\
                一下|整体|是否|请判断|相片",
            after: "的|是否|是不是|有没有|有无|是|很|太|够|足够|看起来|看上去|有|存在|部分|区域|不|比较|\
                有点|拍得|出现|显得|非常|严重|明显|上|中|里|会|受到|都|吗|被|过于",
            excluded: "质量|画质|它|哪|什么|怎|如何|为|整|因|和|与|或|还|没|光|程度|失真|种|最|多|给|用|使|\
                评|打|否|张|幅|这|那|度|现|觉|说|而|只|难|自动|边缘|以|把|让|得|也|都|就|才|又|可|想|我|你|他|她|们|朋友|细节|色",
        }),
    },
    plan: PlanWords {
        taste: "情感|情绪|心情|氛围|风格|美感|美学|审美|好看|漂亮|美丽|优美|美吗|吸引力|吸引人|构图|意境|\
            艺术|感觉|有趣|创意|感受",
        moods: "暗|明亮|灰暗|暗淡",
        content: "多少个|多少人|几个|几只|几人|谁|什么颜色|什么动物|在做什么|在干什么|哪个国家|什么时候",
        presence: "有没有|有几",
        technical: "质量|画质|失真",
        near_tools: "指标|工具|分数|得分|算法",
        everyday_tools: "",
        clauses: "和|而|还是|以及",
        contradiction: "矛盾",
        missing_scores: "分数|工具",
        missing_analysis: "分析",
    },
    level,
};

static TERMS: [Term; 28] = [
    term(&[Blurs], None, "模糊|运动模糊|虚焦|失焦|脱焦|跑焦|没对上焦|对焦不准|抖动|拖影|糊|不清楚|发虚"),
    term(&[Blurs], None, "清晰|清楚|看清|看得清|锐利|对焦准确|合焦|清晰可见"),
    term(&[Blurs], None, "虚化|纹理|清晰度|清晰程度|模糊程度|模糊度|对焦|焦点|细节|聚焦"),
    term(&[Blurs, Sharpness], None, "锐度|锐利度|锐利程度"),
    term(&[Sharpness], Some(TooHigh), "过度锐化|锐化过度|过锐|锐化|光晕|白边|黑边"),
    term(&[Noise], None, "噪点|噪声|噪音|颗粒|颗粒感|杂点|麻点|斑点|椒盐"),
    term(&[Noise], None, "噪声水平|噪点程度"),
    term(&[Noise], None, "干净|纯净"),
    term(&[Compression], None, "压缩|块效应|方块|马赛克|色带|条带|伪影|像素化|锯齿|振铃|色阶断层|断层"),
    term(&[Brightness], Some(TooLow), "欠曝|曝光不足|太暗|过暗|偏暗|昏暗|太黑|很暗|较暗|暗淡|逆光|暗"),
    term(&[Brightness], Some(TooHigh), "过曝|曝光过度|过度曝光|太亮|过亮|偏亮|刺眼|眩光|高光溢出"),
    term(&[Brightness], None, "曝光正常|曝光合适|明亮|光线充足|光线良好|曝光正确"),
    term(&[Brightness], None, "亮度|曝光|光线|光照|照明|明暗|明暗程度"),
    term(
        &[Contrast],
        Some(TooLow),
        "对比度低|低对比度|对比度不足|对比度太低|对比度过低|反差小|发灰|灰蒙蒙|朦胧|雾蒙蒙|雾霾|有雾|灰暗",
    ),
    term(&[Contrast], Some(TooHigh), "对比度过高|对比度太高|对比度过强|反差过大"),
    term(&[Contrast], None, "对比鲜明"),
    term(&[Contrast], None, "对比度|反差|动态范围|对比"),
    term(&[Color], None, "偏色|色偏|色差|颜色失真|色彩失真|颜色不自然|色彩不自然|偏黄|偏绿|偏蓝|偏红|串色|紫边"),
    term(&[Color], Some(TooHigh), "过饱和|过于鲜艳|饱和度过高|饱和度太高|太艳|色彩过艳"),
    term(&[Color], Some(TooLow), "褪色|饱和度低|饱和度不足|饱和度过低|颜色暗淡|色彩暗淡|色彩单调|不鲜艳|苍白"),
    term(&[Color], None, "鲜艳|色彩丰富|颜色自然|色彩自然|绚丽"),
    term(&[Color], None, "颜色|色彩|色调|饱和度|饱和|白平衡|色温"),
    // Judgments of a property: the property decides the category, the adjective decides good or
    // bad.
    term(&[Blurs], None, "清晰度高"),
    term(&[Blurs], None, "清晰度低|不够清晰"),
    term(&[Brightness], None, "光线差|光线不好"),
    term(&[Brightness], Some(TooLow), "亮度低|亮度不足|光线不足"),
    term(&[Brightness], Some(TooHigh), "亮度过高"),
    term(&[Color], None, "饱和度高"),
];

/// Words for a quality level.
fn level(level: QualityLevel) -> &'static str {
    match level {
        QualityLevel::Excellent => "优秀|极好|非常好|很好|完美|优",
        QualityLevel::Good => "好|良好|较好|高|良|不错",
        QualityLevel::Fair => "中等|一般|普通|尚可|中|适中",
        QualityLevel::Poor => "差|较差|低|不好|不佳",
        QualityLevel::Bad => "很糟|极糟|极差|很差|非常差|很低|糟糕",
    }
}

fn recognizes(text: &str) -> bool {
    text.chars().any(is_word)
}

fn is_word(character: char) -> bool {
    matches!(character, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}')
}

fn has_other_meaning(word: &str, before: Option<&str>, _: Option<&str>, _: usize) -> bool {
    word == "颜" && before == Some("么")
}

/// The sentences of the language.
#[derive(Debug)]
pub(super) struct Chinese;

impl Phrases for Chinese {
    fn full_stop(&self) -> &'static str {
        "。"
    }

    fn sentence_ends(&self) -> &'static [char] {
        &['。', '！', '？']
    }

    fn between_sentences(&self) -> &'static str {
        ""
    }

    fn between_clauses(&self) -> &'static str {
        "；"
    }

    fn whole_image(&self) -> &'static str {
        "整张图像"
    }

    fn object(&self, name: &str) -> String {
        name.to_owned()
    }

    fn distortion(&self, distortion: Distortion) -> &'static str {
        match distortion {
            Blurs => "模糊",
            Color => "色彩失真",
            Compression => "压缩失真",
            Noise => "噪声",
            Brightness => "亮度异常",
            Sharpness => "过度锐化",
            Contrast => "对比度异常",
        }
    }

    fn directed(&self, distortion: Distortion, direction: Direction) -> &'static str {
        match (distortion, direction) {
            (Brightness, TooLow) => "曝光不足",
            (Brightness, TooHigh) => "曝光过度",
            (Contrast, TooLow) => "对比度不足",
            (Contrast, TooHigh) => "对比度过高",
            (Color, TooLow) => "色彩暗淡",
            (Color, TooHigh) => "色彩过饱和",
            _ => self.distortion(distortion),
        }
    }

    fn severity(&self, severity: Severity) -> &'static str {
        match severity {
            Severity::None => "无",
            Severity::Slight => "轻微",
            Severity::Moderate => "中等",
            Severity::Severe => "严重",
            Severity::Extreme => "极其严重",
        }
    }

    fn level(&self, level: QualityLevel) -> &'static str {
        match level {
            QualityLevel::Bad => "很差",
            QualityLevel::Poor => "较差",
            QualityLevel::Fair => "一般",
            QualityLevel::Good => "良好",
            QualityLevel::Excellent => "优秀",
        }
    }

    fn levels(&self, first: &str, last: &str) -> String {
        format!("介于{first}与{last}之间")
    }

    fn not_a_number(&self) -> &'static str {
        "no number"
    }

    fn infinity(&self, positive: bool) -> &'static str {
        if positive { "infinity" } else { "minus infinity" }
    }

    fn found(&self, severity: &str, distortion: &str, part: &str) -> String {
        format!("{part}有{severity}的{distortion}")
    }

    fn not_found(&self, distortion: &str, part: &str) -> String {
        format!("{part}没有可见的{distortion}")
    }

    fn explained(&self, found: &str, explanation: &str) -> String {
        format!("{found}：{explanation}")
    }

    fn nothing_found(&self) -> &'static str {
        "没有发现可见的失真"
    }

    fn nothing_analyzed(&self) -> &'static str {
        "没有进行失真分析"
    }

    fn quality(&self, level: &str) -> String {
        format!("整体质量{level}")
    }

    fn direction(&self, lower_is_better: bool) -> &'static str {
        if lower_is_better { "（越低越好）" } else { "（越高越好）" }
    }

    fn interval(&self, low: f64, high: f64) -> String {
        format!("（平均主观评分有九成可能在{low:.2}到{high:.2}之间）")
    }

    fn scored(&self, run: &Run<'_>, score: f64, interval: &str) -> String {
        let Run { tool, raw, direction, part } = run;
        format!("{tool}对{part}给出{raw}{direction}，换算为1到5分制的{score:.2}分{interval}")
    }

    fn unscaled(&self, run: &Run<'_>) -> String {
        let Run { tool, raw, direction, part } = run;
        format!("{tool}对{part}给出{raw}{direction}，没有换算分数")
    }

    fn failed(&self, tool: &str, part: &str, error: Option<&str>) -> String {
        format!("{tool}对{part}没有给出分数：{}", error.unwrap_or("原因不明"))
    }

    fn replaces(&self) -> &'static str {
        "它代替了无法运行的工具。"
    }

    fn together(&self, score: f64) -> String {
        format!("各工具综合为1到5分制的{score:.2}分")
    }

    fn carried(&self, tools: &str) -> String {
        format!("分数以{tools}为准，它按人的主观评分拟合；其他工具作为旁证")
    }

    fn no_scores(&self) -> &'static str {
        "没有测得工具分数，答案仅依据失真分析"
    }

    fn region_unknown(&self, part: &str) -> String {
        format!("{part}的位置未知，因此测量的是整张图像")
    }

    fn contradiction(&self, found: &str, tool: &str, score: f64) -> String {
        format!("证据矛盾：{found}，但{tool}给出{score:.2}分")
    }

    fn level_open(&self, low: f64, high: f64, levels: &str) -> String {
        format!("平均主观评分有九成可能在{low:.2}到{high:.2}之间，因此质量等级无法确定，{levels}。")
    }

    fn undetermined(&self) -> &'static str {
        "无法确定"
    }

    fn nothing_measured(&self) -> &'static str {
        "没有可以回答该问题的测量结果。"
    }

    fn no_level(&self) -> &'static str {
        "没有可用于判断质量等级的测量结果"
    }

    fn chosen(&self, letter: char, because: &str) -> String {
        format!("选项{letter}最符合证据：{because}")
    }

    fn tied(&self) -> &'static str {
        "另有选项同样符合，取其中的第一个"
    }

    fn guess(&self, letter: char) -> String {
        format!("现有证据无法在选项之间做出判断，{letter}只是最保守的猜测")
    }
}
