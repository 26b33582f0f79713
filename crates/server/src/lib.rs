//! HTTP API, background jobs, web page and MCP server for image quality assessment.
//!
//! Most users do not need this crate: `agenticiqa serve` starts the HTTP server and
//! `agenticiqa mcp` starts the MCP server. Use the crate to run the server inside another Rust
//! program, or to add its routes to an existing [axum](https://docs.rs/axum) application.
//!
//! ```no_run
//! use agenticiqa::config::{Environment, Overrides, Settings};
//! use agenticiqa::setup;
//! use agenticiqa_server::{App, Reload, Server, router};
//!
//! # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
//! let environment = Environment::load()?;
//! let mut settings = Settings::load(None, &environment, &Overrides::default())?;
//! settings.pipeline.server.port = 8000;
//! settings.pipeline.server.allow_roots = vec!["photos".into()];
//!
//! let registry = setup::registry(&settings)?;
//! let app = App::new(settings, environment, registry, Reload::default())?;
//! let server = Server::bind(app.clone()).await?;
//! println!("listening on http://{}", server.address()?);
//! server.run(router(&app)).await;
//! # Ok(())
//! # }
//! ```
//!
//! # Overview
//!
//! - [`App`] holds the state that all requests share: the agent, the tools, the allowed folders,
//!   the stored images and assessments, and the [`Limits`].
//! - [`App::prepare`] and [`App::assess`] answer a question about an image. [`App::score`] runs the
//!   metrics and [`App::map`] computes a heat map. HTTP and MCP both call these methods.
//! - [`router`] builds the HTTP API. [`calls`] lists its endpoints; the router and `/openapi.json`
//!   are generated from the same list.
//! - [`Server`] accepts connections until [`App::end`] is called, then waits for running work.
//! - [`Jobs`] runs batches in the background. They continue after a restart.
//! - [`mcp`] serves the same functions to language models, over stdio or at `/mcp`.
//! - [`requests`] and [`answers`] define the JSON types. [`Problem`] is the error type of all
//!   endpoints.
//!
//! # Security
//!
//! - Files are read only from [`Roots`], the allowed folders. Links and `..` are resolved before
//!   the check.
//! - Requests must send the [`Token`] if one is configured.
//! - The page and the API documentation load nothing from other hosts.
//! - Images are decoded and measured on blocking threads, so that the async runtime stays
//!   responsive.
//!
//! # Features
//!
//! - `parquet` (default): job manifests in Parquet format.

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
mod work_what_if;

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
pub use roots::{RootError, Roots};
pub use routes::{calls, guarded, router};
pub use sources::{LoadedImage, RequestImage, Sources};
pub use store::{Store, StoreError, new_id};
pub use telemetry::Telemetry;
pub use token::Token;
pub use work::{Assessment, Mapped};
