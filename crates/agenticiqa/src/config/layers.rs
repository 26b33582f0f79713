//! The layers of a configuration: defaults, files, environment, command line. Later layers win.

use std::path::Path;

use super::files::{MODEL_BACKENDS, PIPELINE};
use super::read::unknown_field;
use super::tree::{Entry, Node, Value};
use super::{Environment, Error, Origin, Overrides, Source, trust};
use agenticiqa_imaging::files::read_limited;
use agenticiqa_vlm::{Provider, ollama_url};

const DEFAULT_MODELS: &str = include_str!("../../configs/model_backends.yaml");
const DEFAULT_PIPELINE: &str = include_str!("../../configs/pipeline.yaml");

/// The environment variables and the fields that they set.
pub(super) const VARIABLES: [(&str, &[&[&str]]); 11] = [
    ("AGENTICIQA_BACKEND", &[&["planner", "backend"], &["executor", "backend"], &["summarizer", "backend"]]),
    ("AGENTICIQA_PLANNER_BACKEND", &[&["planner", "backend"]]),
    ("AGENTICIQA_EXECUTOR_BACKEND", &[&["executor", "backend"]]),
    ("AGENTICIQA_SUMMARIZER_BACKEND", &[&["summarizer", "backend"]]),
    ("AGENTICIQA_MAX_REPLAN", &[&["max_replan_iterations"]]),
    ("AGENTICIQA_CACHE_DIR", &[&["cache", "disk"]]),
    ("AGENTICIQA_CHECKPOINT_DIR", &[&["checkpoints", "dir"]]),
    ("AGENTICIQA_DATA_DIR", &[&["tools", "data_dir"]]),
    ("AGENTICIQA_PYPI_MIRROR", &[&["tools", "pypi_mirror"]]),
    ("AGENTICIQA_PYTHON", &[&["tools", "worker", "python"]]),
    ("AGENTICIQA_ILNIQE_MODEL", &[&["tools", "models", "ILNIQE"]]),
];

/// The maximum size of a file in bytes.
const LARGEST_FILE: u64 = 1 << 20;

const ROLES: [&str; 3] = ["planner", "executor", "summarizer"];

/// Both documents as trees: the whole configuration, or one layer of it.
#[derive(Debug, Clone)]
pub(super) struct Documents {
    pub models: Node,
    pub pipeline: Node,
}

impl Documents {
    /// Returns the built-in defaults. Every provider has a section, also one that the file leaves out.
    pub fn defaults() -> Result<Self, Error> {
        let parse = |yaml| Node::parse(yaml, None, &|_| None);
        let mut models = parse(DEFAULT_MODELS)?;
        for provider in Provider::ALL {
            for field in ["base_url", "api_key_env"] {
                let path = ["providers", provider.name(), field];
                if models.get(&path).is_none() {
                    models.set(&path, Node { origin: Origin::Default, value: Value::Null });
                }
            }
        }
        Ok(Self { models, pipeline: parse(DEFAULT_PIPELINE)? })
    }

    /// Applies a file. Returns the fields that are ignored because the file is not trusted.
    pub fn lay_file(&mut self, path: &Path, trusted: bool, environment: &Environment) -> Result<Vec<Source>, Error> {
        let unreadable = |reason: String| Error::Unreadable { path: path.to_owned(), reason };
        let bytes = read_limited(path, LARGEST_FILE).map_err(|error| unreadable(error.to_string()))?;
        let yaml = String::from_utf8(bytes).map_err(|_| unreadable("not a text file (UTF-8)".to_owned()))?;
        let mut layer = Node::parse(&yaml, Some(path), &|name| environment.lookup(name))?;
        let mut ignored = Vec::new();
        if !trusted {
            trust::withhold(&mut layer, environment.directory(), &mut ignored);
        }
        let name =
            path.file_stem().and_then(|stem| stem.to_str()).filter(|name| [MODEL_BACKENDS, PIPELINE].contains(name));
        self.lay(layer, name)?;
        Ok(ignored)
    }

    /// Applies the environment variables.
    pub fn lay_environment(&mut self, environment: &Environment) -> Result<(), Error> {
        let mut layer = Node::empty();
        for (name, paths) in VARIABLES {
            if let Some((value, origin)) = environment.find(name) {
                paths.iter().for_each(|path| layer.set(path, Node::text(value.trim(), origin.clone())));
            }
        }
        for provider in Provider::ALL {
            let names = provider.base_url_variables();
            let mut found = names.iter().filter_map(|name| Some((*name, environment.find(name)?)));
            if let Some((name, (value, origin))) = found.next() {
                let address = if name == "OLLAMA_HOST" { ollama_url(&value) } else { value.trim().to_owned() };
                layer.set(&["providers", provider.name(), "base_url"], Node::text(&address, origin));
            }
        }
        self.lay(layer, None)
    }

    /// Applies the overrides of the caller.
    pub fn lay_overrides(&mut self, overrides: &Overrides, environment: &Environment) -> Result<(), Error> {
        let mut layer = Node::empty();
        for role in ROLES {
            if let Some(backend) = &overrides.backend {
                layer.set(&[role, "backend"], Node::text(backend, Origin::Override("backend".to_owned())));
            }
        }
        let own = [&overrides.planner_backend, &overrides.executor_backend, &overrides.summarizer_backend];
        for (role, backend) in ROLES.into_iter().zip(own) {
            if let Some(backend) = backend {
                layer.set(&[role, "backend"], Node::text(backend, Origin::Override(format!("{role}_backend"))));
            }
        }
        if let Some(max_replan) = overrides.max_replan {
            let origin = Origin::Override("max_replan".to_owned());
            layer.set(&["max_replan_iterations"], Node { origin, value: Value::Integer(max_replan.into()) });
        }
        for (key, value) in &overrides.assignments {
            let origin = Origin::Override(format!("backend_override {key}"));
            layer.set(&segments(key), assigned(value, &origin, environment)?);
        }
        self.lay(layer, None)
    }

    /// Applies a layer. A file with the name of one document may contain only its fields.
    fn lay(&mut self, layer: Node, document: Option<&str>) -> Result<(), Error> {
        let Self { models, pipeline } = self.route(layer, document)?;
        for role in ROLES {
            if let Some(origin) = self.moves_to_another_provider(role, &models) {
                // The address belongs to the old provider. Reset it, so that the old server does
                // not get the new key.
                self.models.set(&[role, "base_url"], Node { origin, value: Value::Null });
            }
        }
        self.models.merge(models);
        self.pipeline.merge(pipeline);
        Ok(())
    }

    fn moves_to_another_provider(&self, role: &str, layer: &Node) -> Option<Origin> {
        let provider = |node: &Node| match &node.value {
            Value::Text(text) => text.expanded.split_once('.').map(|(provider, _)| provider.to_owned()),
            _ => None,
        };
        let backend = layer.get(&[role, "backend"])?;
        let (before, after) = (provider(self.models.get(&[role, "backend"])?)?, provider(backend));
        let moves = layer.get(&[role, "base_url"]).is_none() && after.is_some_and(|after| after != before);
        moves.then(|| backend.origin.clone())
    }

    /// Splits the fields of a layer between the two documents.
    fn route(&self, layer: Node, document: Option<&str>) -> Result<Self, Error> {
        let empty = || Node { origin: layer.origin.clone(), ..Node::empty() };
        let mut routed = Self { models: empty(), pipeline: empty() };
        let fields = match layer.value {
            Value::Map(fields) => fields,
            Value::Null => return Ok(routed),
            _ => {
                let reason = "must be fields with values, such as max_replan_iterations: 2".to_owned();
                return Err(Error::Invalid { origin: layer.origin, field: "the file".to_owned(), reason });
            }
        };
        for (name, entry) in fields {
            let known = |node: &Node| node.get(&[&name]).is_some();
            match (known(&self.models), known(&self.pipeline), document) {
                (true, true, None) => self.split(&name, entry, &mut routed),
                (true, _, None | Some(MODEL_BACKENDS)) => routed.models.insert(name, entry),
                (_, true, None | Some(PIPELINE)) => routed.pipeline.insert(name, entry),
                (false, false, _) => {
                    let names: Vec<&str> = self.names(document).collect();
                    let reason = unknown_field(&name, &names);
                    return Err(Error::Invalid { origin: entry.name_origin, field: name, reason });
                }
                (in_models, ..) => {
                    let other = if in_models { MODEL_BACKENDS } else { PIPELINE };
                    let reason = format!("this field belongs in {other}.yaml");
                    return Err(Error::Invalid { origin: entry.name_origin, field: name, reason });
                }
            }
        }
        Ok(routed)
    }

    /// Splits a section that both documents have: each gets its own fields.
    fn split(&self, section: &str, entry: Entry, routed: &mut Self) {
        let Value::Map(fields) = entry.node.value else {
            routed.models.insert(section.to_owned(), entry);
            return;
        };
        for (name, field) in fields {
            let of_pipeline = self.pipeline.get(&[section, &name]).is_some();
            let document = if of_pipeline { &mut routed.pipeline } else { &mut routed.models };
            document.section(section, &entry.name_origin).insert(name, field);
        }
    }

    /// Returns the names of all sections that a file may contain.
    fn names(&self, document: Option<&str>) -> impl Iterator<Item = &str> {
        let models = self.models.fields().filter(|_| document != Some(PIPELINE));
        let pipeline = self.pipeline.fields().filter(|_| document != Some(MODEL_BACKENDS));
        let twice = models.is_some();
        let first = models.into_iter().flat_map(|fields| fields.keys());
        let second = pipeline.into_iter().flat_map(|fields| fields.keys());
        first.chain(second.filter(move |name| !twice || *name != "executor")).map(String::as_str)
    }

    /// Returns every field with its value and origin.
    pub fn sources(&self) -> Vec<Source> {
        let mut sources = Vec::new();
        collect(&self.models, &mut Vec::new(), &mut sources);
        collect(&self.pipeline, &mut Vec::new(), &mut sources);
        sources
    }
}

/// Parses the value of a `--backend-override` as YAML.
fn assigned(value: &str, origin: &Origin, environment: &Environment) -> Result<Node, Error> {
    if value.trim().is_empty() {
        return Ok(Node { origin: origin.clone(), value: Value::Null });
    }
    Node::parse_at(value, &|_| origin.clone(), &|name| environment.lookup(name))
}

/// Splits a dotted name into a path. Backend names in `rates` and `limits` contain dots themselves.
fn segments(key: &str) -> Vec<&str> {
    let of = |section: &str| key.strip_prefix(section)?.strip_prefix('.')?.rsplit_once('.');
    match (of("rates"), of("limits")) {
        (Some((backend, field @ ("prompt" | "completion"))), _) => vec!["rates", backend, field],
        (_, Some((backend, field @ ("requests_per_minute" | "tokens_per_minute")))) => vec!["limits", backend, field],
        _ => key.split('.').collect(),
    }
}

fn collect<'a>(node: &'a Node, path: &mut Vec<&'a str>, sources: &mut Vec<Source>) {
    // The prices of a model are shown on one line.
    let is_price = matches!(path.as_slice(), ["rates", _, ..]);
    match node.fields() {
        Some(fields) if !fields.is_empty() && !is_price => {
            for (name, entry) in fields {
                path.push(name);
                collect(&entry.node, path, sources);
                path.pop();
            }
        }
        _ => sources.push(Source { field: path.join("."), value: node.to_string(), origin: node.origin.clone() }),
    }
}
