//! Statistics for comparing quality scores with human opinions.
//!
//! Use this crate to evaluate an image quality metric: to correlate its scores with mean opinion
//! scores, to fit the usual five-parameter logistic, to add confidence intervals, and to test
//! whether one metric is better than another. It takes numbers and returns numbers; it reads no
//! files. The results equal SciPy's (`scripts/check_statistics.py` generates the test values).
//!
//! ```
//! use agenticiqa_statistics::{Bootstrap, Pairs};
//!
//! let scores = vec![0.91, 0.72, 0.88, 0.40, 0.55, 0.97];
//! let opinions = vec![4.1, 3.0, 4.3, 1.9, 2.2, 4.8];
//! let pairs = Pairs::new(scores, opinions)?;
//! assert!((pairs.spearman().unwrap() - 0.942_857).abs() < 1e-6);
//! let interval = Bootstrap::default().interval(pairs.len(), |rows| pairs.spearman_of(rows)).unwrap();
//! assert!(interval.low <= 1.0 && interval.high >= 0.9);
//! # Ok::<(), agenticiqa_statistics::Error>(())
//! ```
//!
//! # Contents
//!
//! - [`Pairs`]: predicted and observed scores, with Pearson, Spearman and Kendall correlations.
//! - [`fit`](fn@fit) and [`Curve`]: the five-parameter logistic, free or monotonic ([`Shape`]).
//! - [`Bootstrap`] and [`Interval`]: percentile intervals, reproducible by seed.
//! - [`williams`] and [`paired_bootstrap`]: tests of the difference between two correlations.
//! - [`wilson`]: confidence intervals of proportions.
//! - [`root_mean_square`] and [`outlier_ratio`]: prediction errors.

mod bootstrap;
mod curve;
mod distribution;
mod family;
mod fit;
mod kendall;
mod least_squares;
mod pairs;
mod proportion;
mod random;
mod ranks;
mod residuals;
mod significance;

pub use bootstrap::{Bootstrap, Interval};
pub use curve::Curve;
pub use distribution::{normal_quantile, student_two_sided};
pub use fit::{Fit, FitError, Shape, fit, fit_from};
pub use pairs::{Error, Pairs};
pub use proportion::wilson;
pub use random::Random;
pub use ranks::ranks;
pub use residuals::{outlier_ratio, root_mean_square};
pub use significance::{PairedBootstrap, Williams, paired_bootstrap, williams};
