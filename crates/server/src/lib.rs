//! Image quality assessment over HTTP: an API, jobs in the background, and a page that shows the evidence.
//!
//! [`App`] is what all requests share; [`router`] is the interface, [`Server`] the process that listens. Nothing is loaded
//! from outside, nothing is read but what is sent or lies below an allowed folder, and pixels are never worked on by the
//! threads that answer.

mod admission;
pub mod answers;
mod api;
mod app;
mod call;
mod error;
mod http;
mod jobs;
pub mod mcp;
mod openapi;
mod page;
mod pictures;
pub mod requests;
mod roots;
mod routes;
mod sources;
mod store;
mod telemetry;
mod token;
mod work;

pub use admission::{Admission, Turn};
pub use app::{App, Limits, Reload, StartError};
pub use call::Call;
pub use error::{Detail, ErrorBody, Problem};
pub use http::listen::Server;
pub use jobs::{
    Entry, ExportFormat, Facets, Finding, Histogram, Job, JobState, JobView, Jobs, Plan, ResultRow, Results,
    ResultsQuery, Row, Sort,
};
pub use pictures::{Kept, Pictures};
pub use roots::Roots;
pub use routes::{calls, guarded, router};
pub use sources::{LoadedImage, RequestImage, Sources};
pub use store::{Store, StoreError, new_id};
pub use telemetry::Telemetry;
pub use token::Token;
pub use work::{Assessment, Mapped};
