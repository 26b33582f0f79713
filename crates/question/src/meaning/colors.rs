//! The names of colors.

use agenticiqa_vision::palette::Hue;

use crate::words::{phrase_at, words};

/// The names of a color, separated by `|`.
type Names = (Hue, &'static str);

const ENGLISH: &[Names] = &[
    (Hue::Red, "red|reddish|scarlet|crimson|maroon"),
    (Hue::Orange, "orange|orangish"),
    (Hue::Yellow, "yellow|yellowish|golden|gold"),
    (Hue::Green, "green|greenish|olive"),
    (Hue::Cyan, "cyan|turquoise|teal|aqua"),
    (Hue::Blue, "blue|bluish|blueish|navy|azure"),
    (Hue::Purple, "purple|violet|purplish|lilac"),
    (Hue::Pink, "pink|pinkish|magenta|rose"),
    (Hue::Brown, "brown|brownish|beige|tan"),
    (Hue::Black, "black|blackish"),
    (Hue::Gray, "gray|grey|grayish|greyish|silver"),
    (Hue::White, "white|whitish"),
];

const CHINESE: &[Names] = &[
    (Hue::Red, "红"),
    (Hue::Orange, "橙|橘"),
    (Hue::Yellow, "黄|金色"),
    (Hue::Green, "绿"),
    (Hue::Cyan, "青"),
    (Hue::Blue, "蓝"),
    (Hue::Purple, "紫"),
    (Hue::Pink, "粉|品红|洋红"),
    (Hue::Brown, "棕|褐|咖啡色"),
    (Hue::Black, "黑"),
    (Hue::Gray, "灰|银色"),
    (Hue::White, "白"),
];

/// Phrases with the name of a color that name none.
const OTHER: &str = "black and white|white balance|黑白|白平衡";

/// Returns the colors that a text names, in its order.
pub fn colors_in(text: &str) -> Vec<Hue> {
    let words = words(text);
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        if let Some(length) = phrase_at(&words, at, OTHER) {
            at += length;
            continue;
        }
        let named = ENGLISH.iter().chain(CHINESE).find(|(_, names)| phrase_at(&words, at, names).is_some());
        if let Some((hue, _)) = named.filter(|(hue, _)| !found.contains(hue)) {
            found.push(*hue);
        }
        at += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_are_found_in_both_languages() {
        assert_eq!(colors_in("Is the main color of the petals blue?"), [Hue::Blue]);
        assert_eq!(colors_in("Dark green / Grayish"), [Hue::Green, Hue::Gray]);
        assert_eq!(colors_in("主要颜色是红色还是绿色？"), [Hue::Red, Hue::Green]);
        assert_eq!(colors_in("Is it in black and white? 白平衡"), []);
    }
}
