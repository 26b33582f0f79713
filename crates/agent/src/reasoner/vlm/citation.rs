//! Finds the evidence for each sentence of a model's reasoning by the names in it.

use crate::state::{ExecutorOutput, GLOBAL, UsedEvidence};

/// Returns the sentences of `reasoning`, each with the tool runs and analyses that it names.
pub fn cite(reasoning: &str, evidence: &ExecutorOutput) -> Vec<UsedEvidence> {
    let cited = |sentence: &str| UsedEvidence { sentence: sentence.to_owned(), evidence: pointers(sentence, evidence) };
    sentences(reasoning).into_iter().map(cited).collect()
}

/// Splits at full stops that end a sentence, not at decimal points.
fn sentences(text: &str) -> Vec<&str> {
    let (mut sentences, mut start) = (Vec::new(), 0);
    for (index, c) in text.char_indices() {
        let end = index + c.len_utf8();
        let ends = match c {
            '.' | '!' | '?' => text[end..].chars().next().is_none_or(char::is_whitespace),
            '。' | '！' | '？' => true,
            _ => false,
        };
        if ends {
            sentences.push(text[start..end].trim());
            start = end;
        }
    }
    sentences.push(text[start..].trim());
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

fn pointers(sentence: &str, evidence: &ExecutorOutput) -> Vec<String> {
    let folded = sentence.to_lowercase();
    let mut pointers = Vec::new();
    for (index, log) in evidence.tool_logs.iter().enumerate() {
        if names(&folded, &log.tool_name.as_str().to_lowercase()) {
            pointers.push(format!("/tool_logs/{index}"));
        }
    }
    for (object, analyses) in evidence.distortion_analysis.iter().flatten() {
        let place = object.as_str() == GLOBAL || names(&folded, &object.as_str().to_lowercase());
        let several = evidence.distortion_analysis.as_ref().is_some_and(|analysis| analysis.len() > 1);
        for (index, analysis) in analyses.iter().enumerate() {
            if analysis.distortion.is_named_in(&folded) && (place || !several) {
                pointers.push(format!("/distortion_analysis/{}/{index}", escape(object.as_str())));
            }
        }
    }
    pointers
}

/// Returns whether `name` occurs in the sentence as a whole word.
fn names(folded: &str, name: &str) -> bool {
    folded.match_indices(name).any(|(at, _)| {
        let part = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
        !folded[..at].ends_with(part) && !folded[at + name.len()..].starts_with(part)
    })
}

/// Escapes a name for a JSON pointer.
pub fn escape(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sentences_cite_what_they_name() {
        let log = |tool: &str| {
            json!({"tool_name": tool, "object_name": "Global", "distortion": "Noise", "raw_score": 1.0,
                   "normalized_score": 3.5, "execution_time": 0.1, "timestamp": "2026-01-01T00:00:00Z"})
        };
        let evidence: ExecutorOutput = serde_json::from_value(json!({
            "distortion_analysis": {"Global": [
                {"type": "Blurs", "severity": "none", "explanation": "sharp"},
                {"type": "Noise", "severity": "severe", "explanation": "grain"}]},
            "tool_logs": [log("SSIM"), log("MS-SSIM")]
        }))
        .unwrap();
        let cited = cite("The image is very grainy. MS-SSIM gives 3.5 of 5, which is fair! It is a cat", &evidence);
        let evidence: Vec<_> = cited.iter().map(|used| used.evidence.join(" ")).collect();
        assert_eq!(evidence, ["/distortion_analysis/Global/1", "/tool_logs/1", ""]);
        assert_eq!(cited[1].sentence, "MS-SSIM gives 3.5 of 5, which is fair!");
    }

    #[test]
    fn parts_of_words_are_not_cited() {
        let of = |distortion: &str| json!([{"type": distortion, "severity": "slight", "explanation": "x"}]);
        let evidence: ExecutorOutput = serde_json::from_value(json!({
            "distortion_analysis": {"car": of("Brightness change"), "sky": of("Contrast")}
        }))
        .unwrap();
        let cited = |text: &str| cite(text, &evidence)[0].evidence.join(" ");
        assert_eq!(cited("The scar in the lighting is slight."), "");
        assert_eq!(cited("The lighting of the car is weak."), "/distortion_analysis/car/0");
        assert_eq!(cited("The highlights of the car have slight grain."), "");
    }
}
