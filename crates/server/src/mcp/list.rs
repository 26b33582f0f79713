//! `list_tools`: lists the metrics.

use super::arguments::{ListArguments, TypeArgument};
use super::results::ListResult;
use super::{Reply, Service};
use crate::answers::ToolEntry;
use crate::api::about;
use crate::error::Problem;

impl Service {
    /// Lists the metrics and their availability.
    pub(super) async fn list(&self, arguments: ListArguments) -> Result<Reply, Problem> {
        let app = self.app.clone();
        // Checking availability reads the file system.
        let all =
            tokio::task::spawn_blocking(move || app.registry().iter().map(about::tool).collect::<Vec<_>>()).await?;
        let fits = |tool: &ToolEntry| match arguments.tool_type {
            None => true,
            Some(TypeArgument::FR) => tool.tool_type == "FR",
            Some(TypeArgument::NR) => tool.tool_type == "NR",
        };
        let everything = arguments.include_unavailable.unwrap_or_default();
        let (mut tools, others): (Vec<_>, Vec<_>) = all.into_iter().filter(fits).partition(|tool| tool.available);
        let unavailable = others.len();
        tools.extend(others.into_iter().filter(|_| everything));
        let result = ListResult { tools, unavailable };
        Reply::new(text(&result), &result, Vec::new())
    }
}

fn text(result: &ListResult) -> String {
    let line = |tool: &ToolEntry| {
        let direction = match tool.lower_is_better {
            Some(true) => ", lower is better",
            Some(false) => ", higher is better",
            None => "",
        };
        let map = if tool.has_map { ", has a map" } else { "" };
        let missing = tool.reason.as_ref().map(|reason| format!("; cannot run here: {reason}")).unwrap_or_default();
        format!("{} ({}{direction}{map}): {}{missing}", tool.name, tool.tool_type, tool.description)
    };
    let mut lines: Vec<String> = result.tools.iter().map(line).collect();
    if result.unavailable > 0 && result.tools.iter().all(|tool| tool.available) {
        lines.push(format!("{} more are not available here: set include_unavailable to list them", result.unavailable));
    }
    lines.join("\n")
}
