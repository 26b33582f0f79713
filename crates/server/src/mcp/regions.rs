//! `find_regions`: finds objects and other parts of an image.

use agenticiqa::state::RegionBox;
use rmcp::RoleServer;
use rmcp::service::RequestContext;

use super::arguments::RegionsArguments;
use super::pictures::name_of;
use super::results::RegionsResult;
use super::{Reply, Service};
use crate::error::Problem;
use crate::requests::RegionsRequest;

impl Service {
    /// Finds what is where in an image.
    pub(super) async fn regions(
        &self,
        arguments: RegionsArguments,
        context: &RequestContext<RoleServer>,
    ) -> Result<Reply, Problem> {
        let image = self.picture(context, "image", &arguments.image, "picture").await?;
        let name = name_of(&image);
        let names = arguments.names.unwrap_or_default();
        let found = self.app.regions(RegionsRequest { names, ..RegionsRequest::default() }, image).await?;
        let result = RegionsResult { image: name, width: found.width, height: found.height, regions: found.regions };
        Reply::new(text(&result), &result, Vec::new())
    }
}

fn text(result: &RegionsResult) -> String {
    let line = |region: &RegionBox| {
        let RegionBox { name, x, y, width, height, origin, .. } = region;
        let sure = region.probability.map(|one| format!(", probability {one:.2}")).unwrap_or_default();
        match region.is_place() {
            true => format!("{name}: x {x}, y {y}, width {width}, height {height} ({}{sure})", origin.name()),
            false => format!("{name}: not found"),
        }
    };
    let found = if result.regions.is_empty() { " nothing was found" } else { "" };
    let first = format!("{} ({}x{}):{found}", result.image, result.width, result.height);
    std::iter::once(first).chain(result.regions.iter().map(line)).collect::<Vec<_>>().join("\n")
}
