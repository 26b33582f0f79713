//! Adds a sentence to the reasoning when a score does not determine the quality level.

use super::add;
use crate::fusion;
use crate::language::Language;
use crate::reasoner::{Context, Verdict};
use crate::state::{ExecutorOutput, Interval, QualityLevel, Score};
use crate::words::between;

/// Adds the sentence if the level is not determined, for every type of reasoner.
pub(super) fn say(
    verdict: &mut Verdict,
    context: Context<'_>,
    evidence: &ExecutorOutput,
    score: Score,
    interval: Interval,
) {
    let (first, last) = interval.open_levels(score);
    if first == last {
        return;
    }
    let language = Language::of(context.state.query.as_str());
    let carriers = fusion::counted(evidence, context.registry);
    let carries = |log: &crate::state::ToolExecutionLog| carriers.iter().any(|one| std::ptr::eq(*one, log));
    let pointers = evidence.tool_logs.iter().enumerate().filter(|(_, log)| carries(log));
    let pointers = pointers.map(|(index, _)| format!("/tool_logs/{index}")).collect();
    add(verdict, sentence(first, last, interval, language), pointers);
}

fn sentence(first: QualityLevel, last: QualityLevel, interval: Interval, language: Language) -> String {
    language.phrases().level_open(interval.low(), interval.high(), &between(first, last, language))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_levels_are_named_in_both_languages() {
        let interval = Interval::new(2.875, 4.125).unwrap();
        let (first, last) = interval.open_levels(Score::new(3.5).unwrap());
        assert_eq!(
            sentence(first, last, interval, Language::English),
            "The level is not determined: the 90% prediction interval is 2.88 to 4.12, so the quality is between fair and good."
        );
        assert_eq!(
            sentence(first, last, interval, Language::Chinese),
            "平均主观评分有九成可能在2.88到4.12之间，因此质量等级无法确定，介于一般与良好之间。"
        );
    }
}
