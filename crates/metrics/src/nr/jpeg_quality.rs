//! JPEG-Quality, the quality factor that a JPEG file was saved with.
//!
//! **What it measures**: the file, not the pixels: the factor of the libjpeg scale whose luma
//! quantization table is closest to the table in the file. It shows how coarse the last
//! compression was; earlier compressions leave no trace in it.
//!
//! **Range and direction**: 1 (coarsest) to 100; higher is better. Not defined for files of other
//! formats.
//!
//! **Reference**: ITU-T T.81, annex K, tables scaled as in the Independent JPEG Group's library.
//!
//! **Deviations**: none. The decoder reads the tables; see
//! [`Source::jpeg_quality`](crate::Source::jpeg_quality).

use crate::metric::no_reference;
use crate::{Direction, Error, Info, Kind, Measurement, Metric, Pair, Result};

/// Quality factor of the file's quantization table.
#[derive(Debug, Clone, Copy, Default)]
pub struct JpegQuality;

static INFO: Info = Info {
    name: "JPEG-Quality",
    kind: Kind::NoReference,
    direction: Direction::HigherIsBetter,
    range: (1.0, 100.0),
    unit: "",
    summary: "Quality factor of the JPEG file, estimated from its quantization tables.",
    paper: "ITU-T T.81, Digital compression and coding of continuous-tone still images, 1992, annex K",
    has_map: false,
    minimum_side: 1,
};

impl JpegQuality {
    /// The default: the libjpeg scale.
    pub const DEFAULT: Self = Self;
}

no_reference!(JpegQuality);

impl Metric for JpegQuality {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn measure(&self, pair: &Pair<'_>) -> Result<Measurement> {
        let source = pair.single_checked(&INFO)?.source();
        let undefined = Error::Undefined { metric: INFO.name, reason: "its file is no JPEG" };
        source.jpeg_quality.map(Measurement::new).ok_or(undefined)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Image, Source};

    #[test]
    #[allow(clippy::needless_update)] // `Source` may get more fields
    fn the_factor_of_the_file_is_given_and_other_files_have_none() {
        let image = Image::from_gray8(2, 2, vec![0; 4]).unwrap();
        let error = JpegQuality.score(&image).unwrap_err();
        assert_eq!(error.to_string(), "JPEG-Quality is not defined for this image: its file is no JPEG");
        let image = image.with_source(Source { jpeg_quality: Some(75.0) });
        assert_eq!(JpegQuality.score(&image).unwrap(), 75.0);
    }
}
