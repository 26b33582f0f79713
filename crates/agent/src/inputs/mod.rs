//! The image, its reference, and regions of both: decoded once and shared by all nodes.

pub mod views;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use agenticiqa_imaging::Error as DecodeError;
use agenticiqa_metrics::{Error as MetricError, Map, Region};
pub use agenticiqa_tools::{Digest, Part, Source};

use self::views::{Album, Made, Order, Wish};
use crate::state::{View, Views};
use agenticiqa_vision::perception::Examination;
use agenticiqa_vision::repair::Effort;
use agenticiqa_vision::vocabulary::RegionBox;
use agenticiqa_vision::{analysis, regions};
use agenticiqa_vlm::{Attachment, ImageLimits, prepare};

/// The heat map that a tool made while it measured.
#[derive(Debug, Clone)]
pub struct ToolMap {
    /// The tool.
    pub tool: String,
    /// The region that was measured; `None` is the whole image.
    pub region: Option<Region>,
    /// The map.
    pub map: Map,
}

/// The image and its optional reference.
#[derive(Debug)]
pub struct Inputs {
    image: Source,
    reference: Option<Source>,
    whole: Arc<Part>,
    parts: Mutex<HashMap<Region, Arc<Part>>>,
    attachments: tokio::sync::Mutex<Vec<(ImageLimits, Vec<Attachment>)>>,
    examinations: Mutex<HashMap<Option<Region>, Arc<Examination>>>,
    maps: Option<Mutex<Vec<ToolMap>>>,
    what_if: Option<Effort>,
    albums: tokio::sync::Mutex<Vec<(Order, Album)>>,
    sent: Mutex<Option<Views>>,
}

impl Inputs {
    /// Combines an image and its reference. Both must have the same size.
    pub fn new(image: Source, reference: Option<Source>) -> Result<Self, MetricError> {
        let whole =
            Part::new(image.picture.image.clone(), reference.as_ref().map(|source| source.picture.image.clone()));
        whole.whole_pair()?;
        let file = |source: &Source| source.path.clone();
        let whole = whole.with_files(file(&image), reference.as_ref().and_then(file));
        Ok(Self {
            image,
            reference,
            whole: Arc::new(whole),
            parts: Mutex::default(),
            attachments: Default::default(),
            examinations: Mutex::default(),
            maps: None,
            what_if: None,
            albums: Default::default(),
            sent: Mutex::default(),
        })
    }

    /// Keeps the heat maps of the tools that run on these images.
    pub fn with_maps(self) -> Self {
        Self { maps: Some(Mutex::default()), ..self }
    }

    /// Tries edits on the image, if an effort is given.
    pub fn with_what_if(self, what_if: Option<Effort>) -> Self {
        Self { what_if, ..self }
    }

    /// How many edits are tried, if any.
    pub fn what_if(&self) -> Option<Effort> {
        self.what_if
    }

    /// Whether heat maps are kept.
    pub fn wants_maps(&self) -> bool {
        self.maps.is_some()
    }

    /// Keeps the heat map of a tool.
    pub(crate) fn keep_map(&self, map: ToolMap) {
        if let Some(maps) = &self.maps {
            maps.lock().unwrap_or_else(PoisonError::into_inner).push(map);
        }
    }

    /// The heat map of a tool on a region, if it was kept.
    pub fn map(&self, tool: &str, region: Option<Region>) -> Option<ToolMap> {
        let maps = self.maps.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        maps.iter().find(|map| map.tool == tool && map.region == region).cloned()
    }

    /// The image to assess.
    pub fn image(&self) -> &Source {
        &self.image
    }

    /// The reference image.
    pub fn reference(&self) -> Option<&Source> {
        self.reference.as_ref()
    }

    /// Returns a region of the image and its reference, or the whole without a region. Each region
    /// is cut once and then shared.
    pub fn part(&self, region: Option<Region>) -> Result<Arc<Part>, MetricError> {
        let Some(region) = region else { return Ok(Arc::clone(&self.whole)) };
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(part) = parts.get(&region) {
            return Ok(Arc::clone(part));
        }
        let part = Arc::new(self.whole.crop(Some(&region))?);
        parts.insert(region, Arc::clone(&part));
        Ok(part)
    }

    /// Examines a region of the image, or the whole image, for distortions. Each region is examined
    /// once. This takes a while: do not call it on a thread of the async runtime.
    pub fn examine(&self, region: Option<Region>) -> Result<Arc<Examination>, String> {
        let part = self.part(region).map_err(|error| error.to_string())?;
        let mut examinations = self.examinations.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(examination) = examinations.get(&region) {
            return Ok(Arc::clone(examination));
        }
        let examined = match region.filter(|_| part.reference.is_none()) {
            Some(region) => analysis::examine_part(&self.whole.image, &region),
            None => analysis::examine(&part.image, part.reference.as_ref()),
        };
        let examined = examined.map_err(|error| error.to_string())?;
        let examined = Arc::new(examined);
        examinations.insert(region, Arc::clone(&examined));
        Ok(examined)
    }

    /// Locates names in the image without a model and returns an entry for each. What is found is kept
    /// with the image.
    pub async fn locate(&self, names: &[&str]) -> Result<Vec<RegionBox>, String> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let image = self.image.picture.image.clone();
        let work = move || regions::resolve(&image, &names).map_err(|error| error.to_string());
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|failure| Err(failure.to_string()))
    }

    /// Finds things of a class, or of any class, without a model, and returns their names, the most probable
    /// first.
    pub async fn things(&self, class: Option<&'static str>) -> Result<Vec<String>, String> {
        let image = self.image.picture.image.clone();
        let work = move || regions::things(&image, class).map_err(|error| error.to_string());
        tokio::task::spawn_blocking(work).await.unwrap_or_else(|failure| Err(failure.to_string()))
    }

    /// Returns the image and the marked reference in a form that a model accepts. Attachments are
    /// encoded once per limits.
    pub async fn attachments(self: &Arc<Self>, limits: ImageLimits) -> Result<Vec<Attachment>, DecodeError> {
        let mut made = self.attachments.lock().await;
        if let Some((_, attachments)) = made.iter().find(|(made_for, _)| *made_for == limits) {
            return Ok(attachments.clone());
        }
        let (inputs, made_for) = (Arc::clone(self), limits.clone());
        let work = move || -> Result<Vec<Attachment>, DecodeError> {
            let image = std::iter::once(("<image>", &inputs.image));
            let all = image.chain(inputs.reference.iter().map(|reference| ("<reference image>", reference)));
            all.map(|(label, source)| prepare(label, &source.bytes, &source.picture, &made_for)).collect()
        };
        // The task fails to join only if it panicked: resume the panic here.
        let attachments = tokio::task::spawn_blocking(work).await;
        let attachments = attachments.unwrap_or_else(|failure| std::panic::resume_unwind(failure.into_panic()))?;
        made.push((limits, attachments.clone()));
        Ok(attachments)
    }

    /// Returns the views that an order asks for. Each order is made once.
    pub(crate) async fn views(self: &Arc<Self>, order: &Order) -> Album {
        let mut albums = self.albums.lock().await;
        if let Some((_, album)) = albums.iter().find(|(made_for, _)| made_for == order) {
            return album.clone();
        }
        let (inputs, made_for) = (Arc::clone(self), order.clone());
        let album = tokio::task::spawn_blocking(move || views::make(&inputs, &made_for)).await;
        let album = album.unwrap_or_else(|failure| std::panic::resume_unwind(failure.into_panic()));
        albums.push((order.clone(), album.clone()));
        album
    }

    /// Makes a view that a model asked for.
    pub(crate) async fn grant(
        self: &Arc<Self>,
        order: &Order,
        wish: Wish,
        task: &str,
        label: String,
    ) -> Result<Made, String> {
        let (inputs, order, task) = (Arc::clone(self), order.clone(), task.to_owned());
        let made = tokio::task::spawn_blocking(move || views::grant(&inputs, &order, wish, &task, label)).await;
        made.unwrap_or_else(|failure| Err(failure.to_string()))
    }

    /// Notes that a view was sent. Returns whether it was sent for the first time.
    pub(crate) fn note_sent(&self, order: &Order, view: &View) -> bool {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        let views = sent.get_or_insert_with(|| order.limits(&self.image.picture.image));
        let new = !views.sent.contains(view);
        if new {
            views.sent.push(view.clone());
        }
        new
    }

    /// The views that models were sent so far.
    pub fn sent_views(&self) -> Option<Views> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The conversions that the decoder applied to the images.
    pub fn notes(&self) -> Vec<String> {
        let of = |name: &str, source: &Source| -> Vec<String> {
            source.picture.notes.iter().map(|note| format!("{name}: {note}")).collect()
        };
        let mut notes = of("image", &self.image);
        notes.extend(self.reference.iter().flat_map(|source| of("reference", source)));
        notes
    }
}
