//! Names of the classes, and what people call them in English and Chinese.

/// Number of classes of the network of objects.
pub(super) const OBJECTS: usize = 80;
/// Place of persons among the classes.
pub(super) const PERSON: usize = 0;
/// Place of faces among the classes.
pub const FACE: usize = OBJECTS;

/// Kinds of classes that the network recognizes equally well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Animal,
    Vehicle,
    Food,
    Furniture,
    Other,
}

/// Returns the kind of a class.
pub(super) fn kind(class: usize) -> Kind {
    match class {
        14..=23 => Kind::Animal,
        1..=8 => Kind::Vehicle,
        46..=55 => Kind::Food,
        13 | 56..=61 => Kind::Furniture,
        _ => Kind::Other,
    }
}

/// All classes: those of COCO in their order, and faces.
#[rustfmt::skip]
pub const CLASSES: [&str; OBJECTS + 1] = [
    "person", "bicycle", "car", "motorcycle", "airplane", "bus", "train", "truck", "boat", "traffic light",
    "fire hydrant", "stop sign", "parking meter", "bench", "bird", "cat", "dog", "horse", "sheep", "cow",
    "elephant", "bear", "zebra", "giraffe", "backpack", "umbrella", "handbag", "tie", "suitcase", "frisbee",
    "skis", "snowboard", "sports ball", "kite", "baseball bat", "baseball glove", "skateboard", "surfboard",
    "tennis racket", "bottle", "wine glass", "cup", "fork", "knife", "spoon", "bowl", "banana", "apple",
    "sandwich", "orange", "broccoli", "carrot", "hot dog", "pizza", "donut", "cake", "chair", "couch",
    "potted plant", "bed", "dining table", "toilet", "tv", "laptop", "mouse", "remote", "keyboard",
    "cell phone", "microwave", "oven", "toaster", "sink", "refrigerator", "book", "clock", "vase", "scissors",
    "teddy bear", "hair drier", "toothbrush",
    "face",
];

/// For each class: other names, in the singular, separated by commas. A class that is missing has
/// no other name.
const SYNONYMS: &[(&str, &str)] = &[
    (
        "person",
        "human,human being,people,man,woman,men,women,guy,lady,gentleman,child,children,kid,boy,girl,baby,toddler,infant,\
         teenager,adult,couple,crowd,family,dancer,cyclist,player,runner,rider,singer,musician,guitarist,surfer,swimmer,\
         skier,skater,athlete,pedestrian,bride,groom,worker,soldier,officer,policeman,policewoman,performer,motorcyclist,\
         model,speaker,climber,hiker,spectator,fisherman,人,人物,行人,男人,女人,男子,女子,男士,女士,孩子,小孩,儿童,男孩,\
         女孩,婴儿,宝宝,人群,人们,老人,游客,运动员,骑手,舞者,歌手",
    ),
    ("bicycle", "bike,cycle,自行车,单车"),
    ("car", "automobile,taxi,cab,jeep,suv,sedan,van,vehicle,汽车,轿车,小汽车,车,车辆,出租车,吉普车"),
    ("motorcycle", "motorbike,scooter,moped,摩托车,摩托"),
    ("airplane", "plane,aeroplane,aircraft,jet,airliner,飞机"),
    ("bus", "coach,公交车,公共汽车,巴士,客车"),
    ("train", "locomotive,tram,火车,列车,电车"),
    ("truck", "lorry,pickup,pickup truck,卡车,货车"),
    ("boat", "ship,sailboat,canoe,kayak,yacht,ferry,rowboat,船,小船,帆船,轮船"),
    ("traffic light", "traffic signal,stoplight,红绿灯,交通灯,信号灯"),
    ("fire hydrant", "hydrant,消防栓"),
    ("stop sign", "停车标志"),
    ("parking meter", "停车计时器"),
    ("bench", "长椅,长凳"),
    (
        "bird",
        "parrot,owl,eagle,osprey,hawk,falcon,pigeon,dove,gull,seagull,penguin,duck,duckling,goose,geese,swan,flamingo,\
         pelican,hummingbird,peacock,rooster,hen,ostrich,heron,stork,sparrow,crow,raven,robin,kingfisher,woodpecker,鸟,小鸟,\
         鸟儿,鹰,鱼鹰,鹦鹉,鸽子,鸭子,鹅,天鹅,企鹅,猫头鹰,海鸥",
    ),
    ("cat", "kitten,kitty,tomcat,猫,小猫,猫咪"),
    ("dog", "puppy,hound,狗,小狗,犬"),
    ("horse", "pony,foal,马,小马"),
    ("sheep", "lamb,羊,绵羊,羊羔"),
    ("cow", "cattle,calf,calves,bull,ox,oxen,牛,奶牛,小牛"),
    ("elephant", "大象,象"),
    ("bear", "polar bear,grizzly,熊,北极熊"),
    ("zebra", "斑马"),
    ("giraffe", "长颈鹿"),
    ("backpack", "rucksack,knapsack,背包,书包"),
    ("umbrella", "parasol,雨伞,伞,阳伞"),
    ("handbag", "purse,bag,手提包,包,手袋"),
    ("tie", "necktie,领带"),
    ("suitcase", "luggage,行李箱,箱子"),
    ("frisbee", "飞盘"),
    ("skis", "ski,滑雪板"),
    ("snowboard", "单板滑雪板"),
    ("sports ball", "ball,football,soccer ball,basketball,tennis ball,volleyball,baseball,球,足球,篮球,网球,排球"),
    ("kite", "风筝"),
    ("baseball bat", "bat,球棒"),
    ("baseball glove", "棒球手套"),
    ("skateboard", "滑板"),
    ("surfboard", "冲浪板"),
    ("tennis racket", "racket,网球拍,球拍"),
    ("bottle", "flask,瓶子,瓶"),
    ("wine glass", "goblet,酒杯"),
    ("cup", "mug,teacup,tea cup,coffee cup,杯子,杯,茶杯,咖啡杯"),
    ("fork", "叉子"),
    ("knife", "knives,刀,刀子"),
    ("spoon", "勺子,汤匙"),
    ("bowl", "碗"),
    ("banana", "香蕉"),
    ("apple", "苹果"),
    ("sandwich", "burger,hamburger,三明治,汉堡"),
    ("orange", "橙子,橘子"),
    ("broccoli", "西兰花"),
    ("carrot", "胡萝卜"),
    ("hot dog", "hotdog,热狗"),
    ("pizza", "披萨,比萨"),
    ("donut", "doughnut,甜甜圈"),
    ("cake", "cupcake,蛋糕"),
    ("chair", "armchair,椅子"),
    ("couch", "sofa,settee,沙发"),
    ("potted plant", "plant,houseplant,house plant,flower pot,plant pot,植物,盆栽"),
    ("bed", "床"),
    ("dining table", "table,desk,桌子,餐桌,书桌"),
    ("toilet", "马桶"),
    ("tv", "television,tv set,monitor,screen,电视,电视机,屏幕,显示器"),
    ("laptop", "notebook computer,computer,笔记本电脑,电脑"),
    ("mouse", "computer mouse,鼠标"),
    ("remote", "remote control,遥控器"),
    ("keyboard", "键盘"),
    ("cell phone", "phone,mobile,mobile phone,smartphone,cellphone,手机,电话"),
    ("microwave", "microwave oven,微波炉"),
    ("oven", "stove,烤箱"),
    ("toaster", "烤面包机"),
    ("sink", "basin,washbasin,水槽,洗手池"),
    ("refrigerator", "fridge,冰箱"),
    ("book", "书,书本,书籍"),
    ("clock", "alarm clock,钟,时钟,闹钟"),
    ("vase", "花瓶"),
    ("scissors", "scissor,剪刀"),
    ("teddy bear", "teddy,stuffed bear,泰迪熊,玩具熊"),
    ("hair drier", "hair dryer,hairdryer,吹风机"),
    ("toothbrush", "牙刷"),
    ("face", "facial expression,脸,面部,人脸,脸部,面孔,面容"),
];

/// Words before a name that do not change what it is.
const ADJECTIVES: &str = ",the,a,an,my,your,his,her,its,their,our,this,that,these,those,some,all,each,any,both,one,two,three,\
    red,orange,yellow,green,blue,purple,pink,brown,black,white,gray,grey,silver,golden,dark,bright,light,\
    big,small,large,little,tiny,huge,tall,short,long,old,young,new,main,first,second,third,other,\
    left,right,middle,center,central,upper,lower,front,rear,nearest,closest,blurry,sharp,colorful,parked,standing,sitting,";

/// Measure words and demonstratives before a Chinese name.
const BEFORE: &str = "这那一两三几些个只位辆张朵条匹头台部把本艘架名座棵株";

/// Returns the class that a name means: singular or plural, with an article or a simple adjective,
/// in English or Chinese.
pub fn knows(name: &str) -> Option<&'static str> {
    let name = name.trim().to_lowercase().replace(['_', '-'], " ");
    let name = name.trim_end_matches(['.', '?', '!', '。', '？']).trim();
    let words: Vec<&str> = name.split_whitespace().collect();
    for start in 0..words.len() {
        let (before, rest) = words.split_at(start);
        if !before.iter().all(|word| ADJECTIVES.contains(&format!(",{word},"))) {
            break;
        }
        if let Some(class) = class_of(&rest.join(" ")) {
            return Some(class);
        }
    }
    chinese(name)
}

/// Returns the other names of a class.
pub fn other_names(class: &str) -> impl Iterator<Item = &'static str> {
    let names = SYNONYMS.iter().find(|(known, _)| *known == class).map_or("", |(_, others)| *others);
    names.split(',').filter(|name| !name.is_empty())
}

/// Drops what stands before a Chinese name: "红色的", "那只".
fn chinese(name: &str) -> Option<&'static str> {
    let name = name.rsplit('的').next().unwrap_or(name);
    let name = name.trim_start_matches(|letter| BEFORE.contains(letter));
    if name.is_ascii() { None } else { exactly(name) }
}

/// Returns the class of a name without words before it.
fn class_of(name: &str) -> Option<&'static str> {
    if let Some(class) = exactly(name) {
        return Some(class);
    }
    let without = |ending: &str, instead: &str| name.strip_suffix(ending).map(|stem| format!("{stem}{instead}"));
    let singulars = [without("ies", "y"), without("ves", "f"), without("es", ""), without("s", "")];
    singulars.into_iter().flatten().find_map(|singular| exactly(&singular))
}

fn exactly(name: &str) -> Option<&'static str> {
    let known = |(_, others): &&(&str, &str)| others.split(',').any(|other| other == name);
    let class = SYNONYMS.iter().find(known).map_or(name, |(class, _)| class);
    CLASSES.into_iter().find(|known| *known == class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_people_mean_classes() {
        let cases = [
            ("person", "person"),
            ("The women", "person"),
            ("boys", "person"),
            ("babies", "person"),
            ("Bikes", "bicycle"),
            ("plane", "airplane"),
            ("kittens", "cat"),
            ("buses", "bus"),
            ("knives", "knife"),
            ("the red car", "car"),
            ("cell_phone", "cell phone"),
            ("potted plants", "potted plant"),
            ("an osprey", "bird"),
            ("faces", "face"),
            ("oranges", "orange"),
            ("skis", "skis"),
            ("那只猫", "cat"),
            ("红色的汽车", "car"),
            ("人脸", "face"),
            ("人", "person"),
        ];
        for (name, class) in cases {
            assert_eq!(knows(name), Some(class), "{name}");
        }
        for unknown in ["the chandelier", "sky", "", "the", "flower", "car seat", "toy car", "天空", "花", "bus stop"]
        {
            assert_eq!(knows(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn kinds_are_ranges_of_classes() {
        for (name, expected) in [
            ("person", Kind::Other),
            ("bicycle", Kind::Vehicle),
            ("boat", Kind::Vehicle),
            ("bird", Kind::Animal),
            ("giraffe", Kind::Animal),
            ("banana", Kind::Food),
            ("cake", Kind::Food),
            ("bench", Kind::Furniture),
            ("toilet", Kind::Furniture),
            ("bowl", Kind::Other),
        ] {
            let class = CLASSES.iter().position(|class| *class == name).unwrap();
            assert_eq!(kind(class), expected, "{name}");
        }
    }

    #[test]
    fn every_synonym_belongs_to_one_class() {
        let mut seen: Vec<&str> = CLASSES.to_vec();
        for (class, others) in SYNONYMS {
            assert!(CLASSES.contains(class), "{class}");
            for other in others.split(',') {
                assert_eq!(exactly(other), Some(*class), "{other}");
                assert!(!seen.contains(&other), "{other}");
                seen.push(other);
            }
        }
    }
}
