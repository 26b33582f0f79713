//! Reads misspelled words of the field: the nearest word, one slip away.

use super::dictionary::Dictionary;
use super::sign::Sign;
use crate::language::is_listed;
use crate::words::Word;

/// English words that are one slip away from a word of the field.
const NOT_MISSPELLED: &str = "shark|sharks|contract|sharpie|sights|colony|colors|blocked|founded|clearing|brights|\
    frights|noised|nose|noses|sharer|glean|clears|flakes|shape|shapes|grains|foxy|foggy|dirk|lights|flight|sight|\
    fright|knight|weight|height|eight|night|right|might|tight|fight|slight|plight|delight|bands|hands|bonding|\
    bending|branding|landing|sanding|standing|shade|shady|paler|dark|texture|posture|mixture|picture|vapor|favored|\
    hardness|daring|dancing|kindness|sadness|madness|badness|exposed|composed|imposed|opposed|explosion|moving|\
    loving|living|burred|slurred|stirred|blushed|blessed|focuses|locus|crocus|course|coarse|brighton|lighting|\
    fighting|sighting|lightning|righting|clarify|charity|parity|rarity|quantity|equality|locality|cold|gold|\
    golden|valley|motions|notion|potion|lotion|option|emotion|caption|motor|mentor|flowers|flower|floor|\
    saturday|station|situation|location|donation|vacation|creation|tinted|printed|pointed|painted|planted|\
    crowd|crown|brown|grown|detailed|retail|tailed|railed|jogged|ragged|nagged|milky|silky|hilly|misty|musty|dusty|\
    rusty|sandy|candy|handy|hazel|lazy|crazy|hairy|fairy|grass|glass|class|brass|glare|flare|square|square|share|\
    shore|store|score|stone|stones|tone|tones|phone|close|closet|clothes|cloths|clearer|cleaner|cleaners|\
    cleaning|sharping|shopping|stamping|camping|crisps|crispy|compass|compose|composes|sweater|vivid|livid|rapid|\
    solid|pallid|faced|paced|laced|raced|shadow|shadows|meadow|window|windows|block|black|clock|flock|blacks|\
    clocks|rocky|boat|boats|bloat|blouse|house|houses|horse|horses|mouse|moose|goose|geese|snowy|showy|dome|domes|\
    image|images|village|garage|garbage|bandage|drama|trauma|bush|brush|brushes|branch|branches|bunch|bench";

/// Returns the sign of the word of the field that is one slip away from an unknown word, and the
/// word.
pub(super) fn nearest(words: &[Word<'_>], at: usize) -> Option<(Sign, &'static str)> {
    let written = words.get(at)?.folded.as_str();
    let letters = written.len();
    if !(5..=20).contains(&letters) || !written.bytes().all(|letter| letter.is_ascii_lowercase()) {
        return None;
    }
    let known = NOT_MISSPELLED.split('|').any(|word| word == written)
        || is_listed(written, |lexicon| lexicon.objects.nouns)
        || is_listed(written, |lexicon| lexicon.objects.stop)
        || is_listed(written, |lexicon| lexicon.objects.generic)
        || is_listed(written, |lexicon| lexicon.objects.image)
        || is_listed(written, |lexicon| lexicon.objects.places);
    if known {
        return None;
    }
    let dictionary = Dictionary::get();
    let lengths = [letters, letters + 1, letters - 1];
    let near = |word: &&'static str| {
        // Short words are near to many others: only swapped and doubled letters count.
        word.as_bytes()[0] == written.as_bytes()[0]
            && one_slip(written.as_bytes(), word.as_bytes(), letters < 6 || word.len() < 6)
    };
    let word = lengths.into_iter().flat_map(|length| dictionary.words_of_length(length)).copied().find(near)?;
    let as_word = Word { text: word, folded: word.to_owned(), start: 0, end: word.len(), after_mark: false };
    dictionary.sign_at(std::slice::from_ref(&as_word), 0).map(|(_, sign)| (sign, word))
}

/// Whether one slip turns a word into another: two letters swapped, one doubled or single; if not
/// `careful`, also one letter wrong, missing or added.
fn one_slip(written: &[u8], word: &[u8], careful: bool) -> bool {
    let same = written.iter().zip(word).take_while(|(one, other)| one == other).count();
    let (rest, other) = (&written[same..], &word[same..]);
    match (rest, other) {
        ([a, b, rest @ ..], [c, d, other @ ..]) if a == d && b == c && rest == other => true,
        ([_, rest @ ..], [_, other @ ..]) if rest == other => !careful,
        (longer, [..]) if longer.len() == other.len() + 1 => {
            longer[1..] == *other && (!careful || same > 0 && longer[0] == written[same - 1])
        }
        (_, longer) if longer.len() == rest.len() + 1 => {
            longer[1..] == *rest && (!careful || same > 0 && longer[0] == word[same - 1])
        }
        _ => false,
    }
}
