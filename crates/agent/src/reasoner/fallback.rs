//! A reasoner with a fallback.

use futures_util::FutureExt;
use std::sync::Arc;

use super::{Analyses, Context, Descriptions, DistortionSet, Error, Joined, Reasoner, Selection, Thought, Verdict};
use crate::fusion::Estimate;
use crate::state::Node;
use crate::state::{ExecutorOutput, PlannerOutput, RegionBox};
use agenticiqa_tools::Tool;

/// Uses the second reasoner when the first one fails or has no usable answer. If both fail, the
/// error of the second is returned; the error of the first is in the event log.
#[derive(Debug, Clone)]
pub struct WithFallback {
    /// The node that uses the reasoners.
    pub node: Node,
    /// The reasoner that is tried first.
    pub first: Arc<dyn Reasoner>,
    /// The reasoner that is used when the first fails.
    pub second: Arc<dyn Reasoner>,
}

impl WithFallback {
    async fn or_second<'a, T>(
        &'a self,
        context: Context<'a>,
        first: Thought<'a, T>,
        second: impl FnOnce() -> Thought<'a, T>,
    ) -> Result<T, Error> {
        match first.await {
            Ok(value) => Ok(value),
            Err(error) => {
                context.events.fallback(self.node, self.first.name(), self.second.name(), &error);
                second().await
            }
        }
    }
}

impl Reasoner for WithFallback {
    fn name(&self) -> &str {
        self.first.name()
    }

    fn detects_in_regions(&self) -> bool {
        self.first.detects_in_regions()
    }

    fn plan<'a>(&'a self, context: Context<'a>) -> Thought<'a, PlannerOutput> {
        self.or_second(context, self.first.plan(context), move || self.second.plan(context)).boxed()
    }

    fn detect<'a>(&'a self, context: Context<'a>, plan: &'a PlannerOutput) -> Thought<'a, DistortionSet> {
        self.or_second(context, self.first.detect(context, plan), move || self.second.detect(context, plan)).boxed()
    }

    fn describe<'a>(&'a self, context: Context<'a>, plan: &'a PlannerOutput) -> Thought<'a, Option<Descriptions>> {
        self.or_second(context, self.first.describe(context, plan), move || self.second.describe(context, plan)).boxed()
    }

    fn measure<'a>(&'a self, context: Context<'a>, plan: &'a PlannerOutput) -> Thought<'a, Option<Analyses>> {
        self.first.measure(context, plan)
    }

    fn is_checked(&self) -> bool {
        self.first.is_checked()
    }

    /// A failure leads to separate steps, each with its own fallback.
    fn join<'a>(
        &'a self,
        context: Context<'a>,
        plan: &'a PlannerOutput,
        tools: &'a [&'a Tool],
    ) -> Thought<'a, Option<Joined>> {
        self.first.join(context, plan, tools)
    }

    fn analyze<'a>(
        &'a self,
        context: Context<'a>,
        plan: &'a PlannerOutput,
        distortions: &'a DistortionSet,
    ) -> Thought<'a, Analyses> {
        let first = self.first.analyze(context, plan, distortions);
        self.or_second(context, first, move || self.second.analyze(context, plan, distortions)).boxed()
    }

    fn select<'a>(
        &'a self,
        context: Context<'a>,
        plan: &'a PlannerOutput,
        distortions: &'a DistortionSet,
        tools: &'a [&'a Tool],
    ) -> Thought<'a, Selection> {
        let first = self.first.select(context, plan, distortions, tools);
        self.or_second(context, first, move || self.second.select(context, plan, distortions, tools)).boxed()
    }

    fn ground<'a>(&'a self, context: Context<'a>, objects: &'a [&'a str]) -> Thought<'a, Vec<RegionBox>> {
        self.or_second(context, self.first.ground(context, objects), move || self.second.ground(context, objects))
            .boxed()
    }

    fn conclude<'a>(
        &'a self,
        context: Context<'a>,
        plan: &'a PlannerOutput,
        evidence: &'a ExecutorOutput,
        fused: Option<Estimate>,
    ) -> Thought<'a, Verdict> {
        let first = self.first.conclude(context, plan, evidence, fused);
        self.or_second(context, first, move || self.second.conclude(context, plan, evidence, fused)).boxed()
    }
}
