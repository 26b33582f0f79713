//! Vision-language models against servers of our own: what is sent, and what comes of every fault.

/// Who answers when a backend fails for good.
mod fallback;
/// Faults that a real server cannot be made to show, and the errors that they become.
mod faults;
/// Images as they are sent.
mod pictures;
/// Requests field by field, in the formats that the providers publish, and their answers.
mod requests;
/// Which calls are made again, and when.
mod retries;
/// Keys stay where they belong.
mod secrets;
/// Servers, models and logs for the tests.
mod support;
