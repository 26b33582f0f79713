//! Vision-language models against mock servers: requests, and the result of every fault.

/// The cache of answers, as configured.
mod answer_cache;
/// Models that ask for too much, think without end or obey somebody else.
mod bad_models;
/// The fallback when a backend fails permanently.
mod fallback;
/// Faults that a real server cannot be made to show, and the resulting errors.
mod faults;
/// The encoding of images.
mod pictures;
/// Requests and responses field by field, in the published formats of the providers.
mod requests;
/// Which calls are retried, and when.
mod retries;
/// API keys are never leaked.
mod secrets;
/// Servers, models and logs for tests.
mod support;
