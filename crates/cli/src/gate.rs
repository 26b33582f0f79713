//! Quality gates of `assess`, `score` and `batch`.

use std::fs::File;
use std::io::{BufWriter, Write};

use agenticiqa::gate::{self, Baseline, Case, Error, Gate, Verdict, Violation};
use comfy_table::Cell;

use crate::arguments::Gates;
use crate::exit::{Exit, Stop};
use crate::table;
use crate::terminal::tell;

/// Maximum number of failures to print.
const SHOWN: usize = 25;

/// What to do if there is nothing to check.
const NO_SCORE: &str = "choose a tool with a scale from 1 to 5 (`agenticiqa tools list`), ask about the whole image, and \
                        check the input and --sample-range";

/// Gate of the command line, and where its report goes.
pub struct Check<'a> {
    gate: Gate,
    arguments: &'a Gates,
    suite: &'static str,
}

impl<'a> Check<'a> {
    /// Builds the gate. Reads the baseline now, so that a wrong path fails before the work starts.
    pub fn new(arguments: &'a Gates, suite: &'static str) -> Result<Self, Stop> {
        let mut gate = Gate::open();
        if let Some(limit) = arguments.fail_under {
            gate = gate.fail_under(limit).map_err(|error| Stop::bad_input(format!("--fail-under {error}")))?;
        }
        if let Some(path) = &arguments.baseline {
            let baseline = Baseline::read(path).map_err(|error| Stop::bad_input(format!("--baseline {error}")))?;
            let against = gate.against(baseline, arguments.max_drop);
            gate = against.map_err(|error| Stop::bad_input(format!("--max-drop {error}")))?;
        }
        Ok(Self { gate, arguments, suite })
    }

    /// Returns whether there is nothing to check and nothing to report.
    pub fn is_idle(&self) -> bool {
        self.gate.is_open() && self.arguments.junit.is_none()
    }

    /// Checks the cases and prints failures on stderr. `cases` may be called more than once.
    pub fn run<I: Iterator<Item = Result<Case, Error>>>(
        &self,
        cases: impl Fn() -> Result<I, Error>,
    ) -> Result<Exit, Stop> {
        if self.is_idle() {
            return Ok(Exit::Done);
        }
        let verdict = self.gate.check(cases().map_err(Stop::bad_input)?).map_err(Stop::bad_input)?;
        if let Some(path) = &self.arguments.junit {
            let written = File::create(path).and_then(|file| {
                let mut out = BufWriter::new(file);
                let cases = cases().map_err(std::io::Error::other)?;
                gate::write_junit(&mut out, self.suite, &self.gate, &verdict, cases)?;
                out.flush()
            });
            written.map_err(|error| Stop::failed(format!("{}: {error}", path.display())))?;
        }
        Ok(self.emit(&verdict))
    }

    fn emit(&self, verdict: &Verdict) -> Exit {
        if self.gate.is_open() {
            return Exit::Done;
        }
        if verdict.cases == 1 {
            let violations = verdict.shown.iter().flat_map(|(_, violations)| violations);
            violations.for_each(|violation| tell!("gate not met: {violation}"));
        } else if verdict.failures > 0 {
            tell!("gate not met: {} of {} scores\n{}", verdict.failures, verdict.cases, failures(verdict));
            let more = verdict.failures as usize - verdict.shown.len().min(SHOWN);
            if more > 0 {
                tell!("and {more} more");
            }
        }
        if self.arguments.baseline.is_some() {
            if verdict.missing > 0 {
                tell!("{} scores of the baseline are missing in the results", verdict.missing);
            }
            if verdict.compared == 0 && verdict.scored() > 0 {
                tell!("cannot check the gate: the baseline and the results have no names in common");
                return Exit::BadInput;
            }
        }
        if verdict.scored() == 0 && verdict.errors == 0 {
            let reason = match verdict.cases {
                0 => "nothing was assessed, or only by tools without a scale from 1 to 5".to_owned(),
                cases => format!("none of {cases} answers has a score"),
            };
            tell!("cannot check the gate: {reason}\n  help: {NO_SCORE}");
            return Exit::BadInput;
        }
        match (verdict.failures > 0, verdict.unscored + verdict.errors > 0) {
            (true, _) => Exit::GateNotMet,
            (false, true) => {
                let unscored = verdict.unscored + verdict.errors;
                tell!(
                    "cannot check the gate for {unscored} of {}: no tool returned a score\n  help: {NO_SCORE}",
                    verdict.cases
                );
                Exit::Failed
            }
            _ => Exit::Done,
        }
    }
}

fn failures(verdict: &Verdict) -> comfy_table::Table {
    let mut table = table::new(&["name", "score", "before", "drop", "limit"]);
    let number = |number: f64| Cell::new(format!("{number:.2}"));
    let empty = || Cell::new("");
    for (name, violations) in verdict.shown.iter().take(SHOWN) {
        for violation in violations {
            let cells = match violation {
                Violation::Below { score, limit } => [number(*score), empty(), empty(), number(*limit)],
                Violation::Dropped { before, score } => {
                    [number(*score), number(*before), number(before - score), empty()]
                }
            };
            table.add_row(std::iter::once(Cell::new(name)).chain(cells));
        }
    }
    table
}
