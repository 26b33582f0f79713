//! `agenticiqa batch`: assesses many samples, and can be resumed.

mod live;
mod print;
pub mod signals;

use std::sync::Arc;

use agenticiqa::agent::{Agent, DEFAULT_QUERY};
use agenticiqa::batch::{
    Batch, Budget, Ending, Existing, Input, LogFile, Options, PathRules, Pictures, StopSignal, Summary,
};
use agenticiqa::config::{Backend, Environment, Settings};
use agenticiqa::vlm::{Calls, Limits, Traffic};
use agenticiqa::{gate, setup};

use crate::arguments;
use crate::exit::{Exit, Stop};
use crate::gate::Check;

/// Default number of concurrent model calls.
const CALLS: usize = 8;

/// Assesses every sample and prints the summary.
pub fn run(
    arguments: &arguments::Batch,
    settings: &Settings,
    environment: &Environment,
    quiet: bool,
) -> Result<Exit, Stop> {
    let threads = rayon::current_num_threads();
    let calls = arguments.concurrency.map_or(CALLS, usize::from);
    let check = Check::new(&arguments.gate, "agenticiqa batch")?;
    // While some samples wait for models, others use the CPU.
    let concurrency = if asks_models(settings) { calls + threads } else { threads + 1 };
    let batch = batch(arguments, concurrency)?;
    check_prices(arguments, settings)?;
    if arguments.dry_run {
        return print::estimate(&batch.estimate(&settings.models.models(), &settings.models.rates)?, arguments.format);
    }
    let mut agent = agent(arguments, settings, environment, calls)?;
    agent.options.decoder = arguments.limits.decoder(settings);
    for tool in &arguments.tools {
        agent.registry.get(tool)?;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build()?;
    let live = live::Live::new(quiet);
    let stop = StopSignal::default();
    let summary = runtime.block_on(async {
        signals::listen(stop.clone(), quiet);
        batch.run(Arc::new(agent), &stop, &|progress| live.show(progress)).await
    });
    live.finish();
    // Does not wait for tools that run longer than their time limit.
    runtime.shutdown_background();
    let summary = summary?;
    if !quiet {
        print::summary(&summary, &batch, arguments.format)?;
    }
    // The gate checks all records, including those of earlier runs.
    let gate = check.run(|| gate::cases(&batch.lines()))?;
    Ok(outcome(&summary).max(gate))
}

fn agent(
    arguments: &arguments::Batch,
    settings: &Settings,
    environment: &Environment,
    calls: usize,
) -> Result<Agent, Stop> {
    let registry = crate::registry(settings, &arguments.models.models)?;
    let for_all = Limits {
        requests_per_minute: arguments.requests_per_minute.map(f64::from),
        tokens_per_minute: arguments.tokens_per_minute.map(f64::from),
    };
    let recording = crate::recording(&arguments.recording);
    let calls = Some(Calls::new(calls));
    let traffic = Traffic { for_all, recording, calls, ..setup::traffic(settings) };
    Ok(setup::agent_with(settings, environment, registry, traffic)?)
}

/// Checks that all prices are known, because a cost limit needs them.
fn check_prices(arguments: &arguments::Batch, settings: &Settings) -> Result<(), Stop> {
    if arguments.max_cost.is_none() {
        return Ok(());
    }
    for (_, role) in settings.models.roles() {
        for backend in std::iter::once(&role.backend).chain(&role.fallback_backend) {
            if *backend != Backend::Builtin && settings.models.rates.rates(backend.as_str()).is_none() {
                let advice = format!(
                    "add it to rates in model_backends.yaml, or use --backend-override rates.{backend}.prompt=2.5 \
                     --backend-override rates.{backend}.completion=10"
                );
                let problem = Stop::bad_input(format!("--max-cost: no price is known for {backend}"));
                return Err(problem.with(Some(advice)));
            }
        }
    }
    Ok(())
}

fn asks_models(settings: &Settings) -> bool {
    settings.models.roles().iter().any(|(_, role)| role.backend != Backend::Builtin)
}

fn batch(arguments: &arguments::Batch, concurrency: usize) -> Result<Batch, Stop> {
    let input = match &arguments.input {
        Some(path) => Input::file(path),
        None => {
            let query = arguments.query.as_deref().unwrap_or(DEFAULT_QUERY);
            let (options, reference) = (arguments.options.clone(), arguments.reference.clone());
            Input::Pictures(Pictures { options, reference, ..Pictures::find(&arguments.images, query)? })
        }
    };
    if let Some(cost) = arguments.max_cost.filter(|cost| !(cost.is_finite() && *cost > 0.0)) {
        return Err(Stop::bad_input(format!("--max-cost {cost}: must be greater than 0")));
    }
    let existing = match (arguments.resume, arguments.overwrite) {
        (true, _) => Existing::Resume,
        (_, true) => Existing::Overwrite,
        _ => Existing::Refuse,
    };
    Ok(Batch {
        paths: PathRules::new(arguments.root.as_deref(), input.path()),
        input,
        output: arguments.output.clone(),
        existing,
        options: Options {
            concurrency,
            max_samples: arguments.max_samples.map(u64::from),
            sample_range: arguments.sample_range.clone().map_or(1..=u64::MAX, |range| range.0),
            sample_timeout: arguments.sample_timeout,
            budget: Budget { max_cost: arguments.max_cost, max_time: arguments.max_time },
            tools: arguments.tools.clone(),
            what_if: arguments.what_if,
            execution_log: execution_log(arguments),
        },
    })
}

fn execution_log(arguments: &arguments::Batch) -> Option<LogFile> {
    let path = match arguments.execution_log.as_deref() {
        Some("off") => return None,
        Some(path) => path.into(),
        // Next to a device such as /dev/null is no place for a file.
        None if std::fs::metadata(&arguments.output).is_ok_and(|output| !output.is_file()) => return None,
        None => {
            let mut name = arguments.output.as_os_str().to_owned();
            name.push(".log");
            name
        }
    };
    Some(LogFile { max_bytes: arguments.execution_log_size.get() << 20, ..LogFile::new(path) })
}

fn outcome(summary: &Summary) -> Exit {
    if summary.failed > 0 || summary.ending != Ending::Complete { Exit::Failed } else { Exit::Done }
}
