//! Creates jobs from requests. A folder, a manifest or uploaded images become a manifest in the
//! job's own folder.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agenticiqa::agent::DEFAULT_QUERY;
use agenticiqa::batch::{Input, Pictures};
use agenticiqa::imaging::files::path_text;
use jiff::Timestamp;
use serde_json::json;

use super::{Entry, Job, JobState, Plan};
use crate::app::App;
use crate::error::Problem;
use crate::http::form::Upload;
use crate::requests::JobRequest;
use crate::store::new_id;

/// The maximum number of samples in a job.
const MOST_SAMPLES: u64 = 2_000_000;
/// The maximum size of a manifest in bytes.
const LARGEST_MANIFEST: u64 = 2 << 30;

/// One line of a generated manifest.
struct Line {
    name: String,
    image: PathBuf,
    reference: Option<PathBuf>,
}

impl App {
    /// Creates and queues a job.
    pub async fn create_job(self: &Arc<Self>, request: JobRequest, files: Vec<Upload>) -> Result<Arc<Entry>, Problem> {
        request.check(self.limits.query)?;
        self.jobs.has_room()?;
        self.agent_of(request.backend.as_deref())?;
        for tool in &request.tools {
            self.registry().get(tool)?;
        }
        let app = Arc::clone(self);
        let entry = tokio::task::spawn_blocking(move || app.prepare_job(request, files)).await??;
        // Before the answer: a job that was accepted survives even a power failure.
        if let Err(error) = self.store_job(&entry).await {
            drop(std::fs::remove_dir_all(&entry.folder));
            return Err(Problem::internal(format!("cannot store a job: {error}")));
        }
        self.jobs.entries().insert(entry.job().id, Arc::clone(&entry));
        self.start_job(&entry);
        Ok(entry)
    }

    fn prepare_job(&self, request: JobRequest, files: Vec<Upload>) -> Result<Arc<Entry>, Problem> {
        let id = new_id();
        let folder = self.jobs.folder.join(&id);
        std::fs::create_dir_all(&folder)?;
        let prepared = self.fill(&folder, &request, files);
        let (input, root, total) = prepared.inspect_err(|_| drop(std::fs::remove_dir_all(&folder)))?;
        let from = request.folder.as_ref().or(request.manifest.as_ref());
        let last = from.and_then(|path| Path::new(path).file_name()).map(|name| name.to_string_lossy().into_owned());
        let named = request.name.filter(|name| !name.trim().is_empty());
        let job = Job {
            id,
            name: named.or(last).unwrap_or_else(|| format!("{total} images")),
            state: JobState::Queued,
            total,
            done: 0,
            ok: 0,
            errors: 0,
            tokens: 0,
            cost_usd: Some(0.0),
            created: Timestamp::now().to_string(),
            finished: None,
            problem: None,
            plan: Plan {
                input,
                root,
                tools: request.tools,
                backend: request.backend,
                max_replan_iterations: request.max_replan_iterations,
                concurrency: request.concurrency,
            },
        };
        Ok(Entry::new(folder, job))
    }

    /// Writes the input into the job's folder. Returns its file name, the folder that its relative
    /// paths start from, and the number of samples.
    fn fill(&self, own: &Path, request: &JobRequest, files: Vec<Upload>) -> Result<(PathBuf, PathBuf, u64), Problem> {
        let one = "set one of `folder` and `manifest`, or upload images as `image`";
        let (input, root) = match (&request.folder, &request.manifest, files.is_empty()) {
            (Some(folder), None, true) => {
                (write_lines(own, request, &self.in_folder(own, folder, request)?)?, own.to_owned())
            }
            (None, Some(manifest), true) => self.copied(own, manifest, request)?,
            (None, None, false) => (write_lines(own, request, &sent(own, files)?)?, own.to_owned()),
            _ => return Err(Problem::invalid(format!("{one}{}", if files.is_empty() { "" } else { ", not several" }))),
        };
        if request.reference_folder.is_some() && request.folder.is_none() {
            return Err(Problem::invalid("reference_folder is allowed only with `folder`"));
        }
        let total = self.check_paths(own, &Input::file(own.join(&input)), &root)?;
        match total {
            0 => Err(Problem::invalid("nothing to assess: the manifest is empty")),
            MOST_SAMPLES.. => Err(Problem::too_large(format!("a job can have at most {MOST_SAMPLES} samples"))),
            _ => Ok((input, root, total)),
        }
    }

    /// Lists the images in a folder. Links that lead out of the allowed folders are skipped.
    fn in_folder(&self, own: &Path, folder: &str, request: &JobRequest) -> Result<Vec<Line>, Problem> {
        let real = self.folder("folder", folder)?;
        let references =
            request.reference_folder.as_deref().map(|folder| self.folder("reference_folder", folder)).transpose()?;
        let found = Pictures::find(&[real.display().to_string()], DEFAULT_QUERY);
        let found = found.map_err(|_| Problem::invalid(format!("folder: no images found in {folder}")))?;
        let mut lines = Vec::new();
        for path in found.paths {
            let Ok(name) = path.strip_prefix(&real) else { continue };
            if request.recursive == Some(false) && name.components().count() > 1 {
                continue;
            }
            let Some(image) = path.canonicalize().ok().filter(|image| self.roots.holds(image)) else { continue };
            let reference = match &references {
                None => None,
                Some(folder) => Some(self.counterpart(folder, name)?),
            };
            let reference = reference.map(|reference| writable(own, reference)).transpose()?;
            lines.push(Line { name: path_text(name), image: writable(own, image)?, reference });
        }
        match lines.is_empty() {
            true => Err(Problem::invalid(format!("folder: no images found in {folder}"))),
            false => Ok(lines),
        }
    }

    /// Finds the reference image with the same name and any extension.
    fn counterpart(&self, folder: &Path, name: &Path) -> Result<PathBuf, Problem> {
        let same = folder.join(name);
        let others =
            ["png", "jpg", "jpeg", "bmp", "tif", "tiff", "webp", "avif"].map(|other| same.with_extension(other));
        let found = std::iter::once(same).chain(others).find_map(|path| path.canonicalize().ok());
        let missing = || Problem::invalid(format!("reference_folder: {} not found", name.display()));
        found.filter(|path| self.roots.holds(path)).ok_or_else(missing)
    }

    fn folder(&self, field: &str, path: &str) -> Result<PathBuf, Problem> {
        let real = self.roots.resolve(field, path)?;
        if real.is_dir() { Ok(real) } else { Err(Problem::picture(format!("{field}: {path} is not a folder"))) }
    }

    /// Copies the manifest, because the original may change while the job runs.
    fn copied(&self, own: &Path, manifest: &str, request: &JobRequest) -> Result<(PathBuf, PathBuf), Problem> {
        if request.query.is_some() || !request.options.is_empty() || request.recursive.is_some() {
            return Err(Problem::invalid(
                "query, options and recursive are not allowed with `manifest`, which has its own",
            ));
        }
        let real = self.roots.resolve("manifest", manifest)?;
        let metadata = std::fs::metadata(&real)?;
        if !metadata.is_file() {
            return Err(Problem::picture(format!("manifest: {manifest} is not a file")));
        }
        if metadata.len() > LARGEST_MANIFEST {
            return Err(Problem::too_large(format!("manifest: at most {LARGEST_MANIFEST} bytes are allowed")));
        }
        let extension = real.extension().map_or("jsonl".into(), |extension| extension.to_ascii_lowercase());
        let name = Path::new("input").with_extension(extension);
        std::fs::copy(&real, own.join(&name))?;
        Ok((name, real.parent().unwrap_or(&real).to_owned()))
    }
}

/// Returns a path that can be written into a manifest: the path itself, or, if it is not Unicode, a
/// link to it in the job's folder.
fn writable(own: &Path, path: PathBuf) -> Result<PathBuf, Problem> {
    if path.to_str().is_some() {
        return Ok(path);
    }
    let links = own.join("links");
    std::fs::create_dir_all(&links)?;
    let link = links.join(new_id());
    #[cfg(unix)]
    std::os::unix::fs::symlink(&path, &link)?;
    #[cfg(not(unix))]
    std::fs::copy(&path, &link)?;
    Ok(link)
}

/// Writes uploaded images to the job's folder.
fn sent(own: &Path, files: Vec<Upload>) -> Result<Vec<Line>, Problem> {
    let folder = own.join("pictures");
    std::fs::create_dir_all(&folder)?;
    let mut lines: Vec<Line> = Vec::new();
    for (number, Upload { field, name, bytes }) in (1..).zip(files) {
        if field != "image" {
            return Err(Problem::invalid(format!("{field:?}: unexpected file; upload images as `image`")));
        }
        // The client's file name is used only as the sample ID, never as a path.
        let image = folder.join(number.to_string());
        std::fs::write(&image, &bytes)?;
        let taken = lines.iter().any(|line| line.name == name);
        let name = if taken { format!("{number}-{name}") } else { name };
        lines.push(Line { name, image, reference: None });
    }
    Ok(lines)
}

fn write_lines(own: &Path, request: &JobRequest, lines: &[Line]) -> Result<PathBuf, Problem> {
    let name = PathBuf::from("input.jsonl");
    let mut file = BufWriter::new(File::create(own.join(&name))?);
    let query = request.query.as_deref().unwrap_or(DEFAULT_QUERY);
    for Line { name, image, reference } in lines {
        let line = json!({
            "sample_id": name,
            "query": query,
            "image_path": image,
            "reference_path": reference,
            "options": request.options,
        });
        writeln!(file, "{line}")?;
    }
    file.flush()?;
    Ok(name)
}
