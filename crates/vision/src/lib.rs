//! Image quality models of AgenticIQA: which distortions an image has, and quality scores from 1
//! (bad) to 5 (excellent) with a 90% prediction interval.
//!
//! The tools and the agent of AgenticIQA are built on this crate. Use it directly if you have
//! pixels in memory and want findings or scores without files, downloads or a language model: all
//! models are built in.
//!
//! ```
//! use agenticiqa_distort::{Kind, distort};
//! use agenticiqa_metrics::{Image, Pair};
//! use agenticiqa_vision::vocabulary::{Distortion, Severity};
//! use agenticiqa_vision::{fused_fr, fused_nr, perception};
//!
//! let pixels = (0..65536).map(|i| (64 + (i % 256) / 4 + (i / 4096) * 4) as u8).collect();
//! let clean = Image::from_gray8(256, 256, pixels)?;
//! let noisy = distort(&clean, Kind::WhiteNoise, 5, 1)?;
//!
//! // Which distortions does the image have? The reference is optional.
//! let examination = perception::examine(&noisy, Some(&clean))?;
//! assert!(examination.finding(Distortion::Noise).severity >= Severity::Slight);
//!
//! // How good is it, with and without the reference?
//! let with_reference = fused_fr::judge(&Pair::new(&clean, &noisy)?)?;
//! let without_reference = fused_nr::judge(&noisy)?;
//! assert!((1.0..=5.0).contains(&with_reference.score));
//! assert!(without_reference.low <= without_reference.high);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | purpose | main items |
//! | --- | --- | --- |
//! | [`analysis`] | describes an image and finds what spoils it | [`examine`](analysis::examine) |
//! | [`attributes`] | describes an image on nine axes | [`describe`](attributes::describe) |
//! | [`detector`] | finds faces and 80 kinds of objects | [`detect`](detector::detect), [`knows`](detector::knows) |
//! | [`palette`] | names the colors of an image, and measures its symmetry | [`colors`](palette::colors), [`symmetry`](palette::symmetry) |
//! | [`perception`] | detects seven categories of distortion and explains them | [`examine`](perception::examine), [`Finding`](perception::Finding) |
//! | [`regions`] | finds what a name means in an image | [`resolve`](regions::resolve) |
//! | [`fused_fr`] | score of an image against its reference | [`judge`](fused_fr::judge), [`Judgment`](fused_fr::Judgment) |
//! | [`fused_nr`] | score of an image without a reference, and a map of it | [`judge`](fused_nr::judge), [`map`](fused_nr::map()) |
//! | [`vocabulary`] | validated types that the other crates share | [`Distortion`](vocabulary::Distortion), [`Severity`](vocabulary::Severity), [`Score`](vocabulary::Score), [`Interval`](vocabulary::Interval) |
//! | [`network`] | neural networks on the CPU, for `fused_nr` and `detector` | [`Backbone`](network::Backbone) |
//!
//! This crate does not decode files (see `agenticiqa-imaging`) and does not train models (see
//! `agenticiqa-fit`). The documents `docs/perception.md`, `docs/models/fused-fr.md` and
//! `docs/models/fused-nr.md` of the repository contain training data and accuracy.

pub mod analysis;
pub mod attributes;
pub mod contributions;
pub mod detector;
pub mod fused_fr;
pub mod fused_nr;
mod model_file;
pub mod network;
pub mod palette;
pub mod perception;
pub mod regions;
pub mod repair;
pub mod vocabulary;
