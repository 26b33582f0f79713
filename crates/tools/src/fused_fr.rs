//! Fused-FR as a tool. Its raw score is already on the scale from 1 to 5.

use agenticiqa_metrics::Measurement;

use super::engine::Engine;
use super::{Availability, Failure, ToolInput};
use agenticiqa_vision::fused_fr::{self, Error, Model};

/// Engine of Fused-FR.
#[derive(Debug)]
pub(super) struct FusedFr;

impl Engine for FusedFr {
    fn availability(&self) -> Availability {
        Availability::Ready
    }

    fn fingerprint(&self) -> String {
        Model::fingerprint()
    }

    fn has_interval(&self) -> bool {
        true
    }

    fn measure(&self, input: &ToolInput<'_>) -> Result<Measurement, Failure> {
        let judgment = fused_fr::judge(input.pair()).map_err(Failure::from)?;
        Ok(Measurement::new(judgment.score).with_interval(judgment.low, judgment.high))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        match error {
            Error::Member { source, .. } | Error::Pair(source) => match Self::from(source) {
                Self::Input(_) => Self::Input(message),
                Self::NotApplicable(_) => Self::NotApplicable(message),
                Self::Tool(_) => Self::Tool(message),
            },
            _ => Self::Tool(message),
        }
    }
}

#[cfg(test)]
mod tests {
    use agenticiqa_metrics::{Image, Pair};

    use super::*;
    use crate::Registry;

    #[test]
    fn it_is_a_tool_of_the_list_on_its_own_scale() {
        let registry = Registry::builtin().unwrap();
        let tool = registry.get("fused_fr").unwrap();
        assert!(tool.availability().is_available() && tool.needs_reference());
        let reference = Image::from_gray8(32, 32, (0..1024).map(|i| (i * i % 251) as u8).collect()).unwrap();
        let distorted = Image::from_gray8(32, 32, (0..1024).map(|i| (i * i % 239) as u8).collect()).unwrap();
        let run = tool.run(&ToolInput::new(Pair::new(&reference, &distorted).unwrap()));
        assert_eq!(run.raw_score, run.normalized_score, "{run:?}");
        let (low, high) = run.interval.unwrap();
        assert!(1.0 <= low && low <= run.raw_score.unwrap() && run.raw_score.unwrap() <= high && high <= 5.0);
        let same = tool.run(&ToolInput::new(Pair::new(&reference, &reference).unwrap()));
        assert_eq!(same.normalized_score, Some(5.0));
    }

    #[test]
    fn what_cannot_be_measured_is_said_with_its_reason() {
        let flat = |level: u8| Image::from_gray8(8, 8, vec![level; 64]).unwrap();
        let (reference, distorted) = (flat(7), flat(9));
        let failure = FusedFr.measure(&ToolInput::new(Pair::new(&reference, &distorted).unwrap())).unwrap_err();
        assert!(
            matches!(&failure, Failure::Input(reason) if reason.starts_with("Fused-FR needs") && reason.contains("at least"))
        );
        let alone = FusedFr.measure(&ToolInput::new(Pair::single(&distorted))).unwrap_err();
        assert!(matches!(alone, Failure::Input(_)));
    }
}
