//! The agent graph: the order of the nodes, and a diagram of it.

use crate::state::AgenticIqaState;
use crate::state::Node;

/// Returns the next node for a state, or `None` at the end. Only the edge after the summarizer is
/// conditional.
pub fn next(state: &AgenticIqaState) -> Option<Node> {
    match (&state.plan, &state.executor_evidence, &state.summarizer_result) {
        (_, _, Some(result)) if result.need_replan() => Some(Node::Planner),
        (None, _, _) => Some(Node::Planner),
        (Some(_), None, _) => Some(Node::Executor),
        (Some(_), Some(_), None) => Some(Node::Summarizer),
        (Some(_), Some(_), Some(_)) => None,
    }
}

/// Returns the graph as a Mermaid diagram.
pub fn mermaid() -> String {
    "\
flowchart TD
    start([image, reference?, query, options?, regions?]) --> planner
    planner[Planner<br/>what is asked, of which parts, which steps] -->|plan| executor
    subgraph executor [Executor]
        direction TB
        grounding[grounding?] --> execution
        detection[distortion detection?] --> analysis[distortion analysis?]
        detection --> selection[tool selection?]
        selection --> execution[tool execution?<br/>all tools at once, each once]
    end
    executor -->|evidence| summarizer{Summarizer<br/>enough evidence?}
    summarizer -->|no, and iteration_count < max_replan_iterations:<br/>replan_reason| planner
    summarizer -->|yes: fuse scores, answer, cite| done([assessment record])
"
    .to_owned()
}
