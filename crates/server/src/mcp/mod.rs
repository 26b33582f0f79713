//! The MCP server: language models call the tools over the Model Context Protocol.
//!
//! The work is done by the same functions as for HTTP, with the same limits. This module describes
//! the tools, reads their arguments and returns results as text, structured data and images.
//!
//! [`Service`] handles one client. [`stdio`] serves the client that started the program, and
//! [`http`] is the endpoint `/mcp` of the router.

mod access;
mod arguments;
mod assess;
mod cards;
pub mod check;
mod compare;
pub mod http;
mod list;
mod maps;
mod pictures;
mod progress;
mod regions;
mod results;
mod score;
pub mod stdio;
mod words;

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation, JsonObject,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{RoleServer, ServerHandler};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use access::Access;

use crate::app::App;
use crate::error::Problem;

/// Instructions that a client receives when it connects.
const INSTRUCTIONS: &str = "\
Measures and explains the technical quality of images: blur, noise, compression, exposure, color and processing artifacts. Runs \
locally and sends images nowhere unless a model is configured. Scores predict the mean opinion of viewers from 1 (bad) to 5 \
(excellent); the 90% prediction interval shows the uncertainty. Use assess_image to answer a question about an image in words, \
score_image for numbers, compare_images to find the best of several images or to measure what processing did to an original, and \
list_tools to look up metrics by name. Pass an image as a path in an allowed folder or as base64 data. Quote the numbers you get; do \
not guess quality by looking.";

/// The MCP service for one client.
#[derive(Debug, Clone)]
pub struct Service {
    app: Arc<App>,
    access: Arc<Access>,
}

/// A tool result: text, structured data and PNG images.
#[derive(Debug)]
struct Reply {
    text: String,
    data: Value,
    images: Vec<Vec<u8>>,
}

impl Reply {
    fn new(text: String, data: &impl Serialize, images: Vec<Vec<u8>>) -> Result<Self, Problem> {
        Ok(Self { text, data: serde_json::to_value(data).map_err(Problem::internal)?, images })
    }
}

impl From<Reply> for CallToolResult {
    fn from(reply: Reply) -> Self {
        let images = reply.images.iter().map(|png| ContentBlock::image(STANDARD.encode(png), "image/png"));
        let mut result = Self::success(std::iter::once(ContentBlock::text(reply.text)).chain(images).collect());
        result.structured_content = Some(reply.data);
        result
    }
}

impl Service {
    /// Creates a service. `access` decides which files the client may name.
    pub fn new(app: Arc<App>, access: Access) -> Self {
        Self { app, access: Arc::new(access) }
    }

    /// Runs a tool.
    async fn call(
        &self,
        name: &str,
        arguments: Option<JsonObject>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Reply, Problem> {
        match name {
            cards::ASSESS => self.assess(read(arguments)?, context).await,
            cards::SCORE => self.score(read(arguments)?, context).await,
            cards::REGIONS => self.regions(read(arguments)?, context).await,
            cards::COMPARE => self.compare(read(arguments)?, context).await,
            _ => self.list(read(arguments)?).await,
        }
    }

    /// Formats an error with advice for the model.
    async fn told(&self, problem: &Problem) -> String {
        if problem.is_outside() {
            return format!("{problem}: {}", self.access.advice().await);
        }
        problem.to_string()
    }
}

/// Deserializes arguments. Errors name the field.
fn read<T: DeserializeOwned>(arguments: Option<JsonObject>) -> Result<T, Problem> {
    serde_path_to_error::deserialize(Value::Object(arguments.unwrap_or_default())).map_err(|error| {
        let (path, reason) = (error.path().to_string(), error.inner().to_string());
        Problem::invalid(if path == "." { reason } else { format!("{path}: {reason}") })
    })
}

impl ServerHandler for Service {
    fn get_info(&self) -> ServerConfig {
        let name = Implementation::new("agenticiqa", env!("CARGO_PKG_VERSION")).with_title("AgenticIQA");
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities).with_server_info(name).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(cards::all()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        cards::all().into_iter().find(|card| card.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if !cards::NAMES.contains(&request.name.as_ref()) {
            let message = format!("unknown tool {:?}: available tools are {}", request.name, cards::NAMES.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        }
        let limit = self.app.limits.timeout;
        let work = tokio::time::timeout(limit, self.call(&request.name, request.arguments, &context));
        // Dropping the work cancels it: tools that have not started do not run.
        let done = tokio::select! {
            biased;
            () = context.ct.cancelled() => Err(Problem::invalid("canceled")),
            () = self.app.ending() => Err(Problem::busy("the server is shutting down: try again later", 10)),
            done = work => done.unwrap_or_else(|_| {
                Err(Problem::invalid(format!("no answer within {limit:?}: request less, or raise server.timeout_seconds")))
            }),
        };
        Ok(match done {
            Ok(reply) => CallToolResult::from(reply).into(),
            Err(problem) => CallToolResult::error(vec![ContentBlock::text(self.told(&problem).await)]).into(),
        })
    }

    async fn on_roots_list_changed(&self, _: NotificationContext<RoleServer>) {
        self.access.forget().await;
    }
}
