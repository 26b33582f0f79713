//! Fused-NR as a tool. Its raw score is already on the scale from 1 to 5.

use agenticiqa_metrics::Measurement;

use super::engine::Engine;
use super::{Availability, Failure, ToolInput};
use agenticiqa_vision::fused_nr::{self, Error, Model};

/// Engine of Fused-NR.
#[derive(Debug)]
pub(super) struct FusedNr;

impl Engine for FusedNr {
    fn availability(&self) -> Availability {
        Availability::Ready
    }

    fn fingerprint(&self) -> String {
        Model::fingerprint()
    }

    fn prepare(&self) {
        fused_nr::prepare();
    }

    fn has_interval(&self) -> bool {
        true
    }

    fn measure(&self, input: &ToolInput<'_>) -> Result<Measurement, Failure> {
        let image = input.pair().distorted();
        let judgment = fused_nr::judge(image)?;
        let measurement = Measurement::new(judgment.score).with_interval(judgment.low, judgment.high);
        if !input.pair().wants_map() {
            return Ok(measurement);
        }
        let tiles = fused_nr::map(fused_nr::builtin().map_err(Error::from)?, image)?;
        Ok(measurement.with_map(tiles, fused_nr::BEST as f32, fused_nr::WORST as f32))
    }

    fn has_map(&self) -> bool {
        true
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        match error {
            Error::Empty | Error::Perception(_) | Error::Region(_) => Self::Input(message),
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
    fn it_is_a_tool_of_the_list_with_an_interval_and_a_map() {
        let registry = Registry::builtin().unwrap();
        let tool = registry.get("fused_nr").unwrap();
        assert!(tool.availability().is_available() && !tool.needs_reference() && tool.has_map());
        let image = Image::from_gray8(200, 100, (0..20_000).map(|i| (i * i % 251) as u8).collect()).unwrap();
        let run = tool.run(&ToolInput::new(Pair::single(&image).with_map()));
        assert_eq!(run.raw_score, run.normalized_score, "{run:?}");
        let (low, high) = run.interval.unwrap();
        assert!(1.0 <= low && low <= run.raw_score.unwrap() && run.raw_score.unwrap() <= high && high <= 5.0);
        let map = run.map.unwrap();
        assert_eq!((map.plane.width(), map.plane.height()), (2, 1));
        assert!(map.plane.data().iter().all(|score| (1.0..=5.0).contains(score)));
    }

    #[test]
    fn what_is_too_small_is_refused_with_the_reason() {
        let image = Image::from_gray8(16, 400, vec![9; 6400]).unwrap();
        let failure = FusedNr.measure(&ToolInput::new(Pair::single(&image))).unwrap_err();
        assert!(matches!(&failure, Failure::Input(reason) if reason.contains("too small")), "{failure:?}");
    }
}
