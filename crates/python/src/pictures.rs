//! Image arguments from Python: a path, the bytes of a file, an array, or a decoded image.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agenticiqa::agent::Input;
use agenticiqa::imaging::{Decoder, Format, Picture as Decoded, encode_png_exact};
use agenticiqa::inputs::Source;
use agenticiqa::metrics::{Image, Region};
use agenticiqa::regions;
use numpy::PyUntypedArray;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyString};

use crate::arrays;
use crate::errors::{self, Problem};
use crate::threads::{self, attended, compute};

/// An image argument.
pub enum ImageArgument {
    /// A file.
    Path(PathBuf),
    /// The bytes of a file.
    Bytes(PyBackedBytes),
    /// Pixels.
    Picture(Pixels),
    /// An array, converted when it is opened.
    Array(Py<PyUntypedArray>),
}

/// Decoded pixels, with conversion notes and the path of the file.
#[derive(Debug, Clone)]
pub struct Pixels {
    pub image: Image,
    pub notes: Vec<String>,
    pub path: Option<PathBuf>,
}

impl Pixels {
    fn plain(image: Image) -> Self {
        Self { image, notes: Vec::new(), path: None }
    }

    fn of(decoded: Decoded, path: Option<PathBuf>) -> Self {
        Self { notes: decoded.notes.iter().map(ToString::to_string).collect(), image: decoded.image, path }
    }
}

impl ImageArgument {
    /// Converts a Python object. Arrays are converted to pixels at once.
    pub fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        match Self::later(object)? {
            Self::Array(array) => Ok(Self::Picture(Pixels::plain(arrays::image(array.bind(object.py()))?))),
            given => Ok(given),
        }
    }

    /// Converts a Python object. Arrays are converted to pixels when they are opened. Objects of
    /// other libraries are first converted by `agenticiqa._pictures.plain`.
    pub fn later(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        static PLAIN: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        if let Some(given) = Self::of_plain(object)? {
            return Ok(given);
        }
        let plain = PLAIN.import(object.py(), "agenticiqa._pictures", "plain")?.call1((object,))?;
        let unknown = || Problem::Picture(format!("{} is not an image", object.get_type()));
        Ok(Self::of_plain(&plain)?.ok_or_else(unknown)?)
    }

    /// Like [`of`](Self::of), with errors that name the reference.
    pub fn of_reference(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::of(object).map_err(|error| errors::of_reference(object.py(), error))
    }

    fn of_plain(object: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        Ok(Some(if let Ok(picture) = object.cast::<Picture>() {
            Self::Picture(picture.get().0.clone())
        } else if let Ok(path) = object.cast::<PyString>() {
            Self::Path(path.extract()?)
        } else if let Ok(bytes) = object.cast::<PyBytes>() {
            Self::Bytes(bytes.clone().into())
        } else if is_array(object)? {
            Self::Array(object.cast::<PyUntypedArray>()?.clone().unbind())
        } else {
            return Ok(None);
        }))
    }

    /// Decodes the image on the current thread.
    pub fn open(self, decoder: &Decoder) -> Result<Pixels, Problem> {
        match self {
            Self::Path(path) => Ok(Pixels::of(decoder.open(&path)?, Some(path))),
            Self::Bytes(bytes) => Ok(Pixels::of(decoder.decode(&bytes)?, None)),
            Self::Picture(pixels) => Ok(pixels),
            Self::Array(array) => {
                // The array is dropped while the thread is still attached to the interpreter.
                let taken = threads::visit(move |py| {
                    let array = array.into_bound(py);
                    arrays::image(&array).map_err(|error| Problem::of_picture(py, &error))
                });
                let ending = || Problem::Other("the interpreter is shutting down".to_owned());
                Ok(Pixels::plain(taken.ok_or_else(ending)??))
            }
        }
    }

    /// Converts the image to an input of the agent. Pixels are encoded as lossless PNG, because
    /// models receive files.
    pub fn input(self, name: Option<String>) -> Result<Input, Problem> {
        let named = || name.clone().unwrap_or_else(|| "image".to_owned());
        match self {
            Self::Path(path) | Self::Picture(Pixels { path: Some(path), .. }) if name.is_none() => {
                Ok(Input::Path(path))
            }
            Self::Path(path) => {
                let bytes = std::fs::read(&path).map_err(|error| match error.kind() {
                    ErrorKind::NotFound => Problem::Missing(format!("{}: no such file", path.display())),
                    _ => Problem::Picture(format!("{}: the file cannot be read: {error}", path.display())),
                })?;
                Ok(Input::Bytes(named(), bytes))
            }
            Self::Bytes(bytes) => Ok(Input::Bytes(named(), bytes.to_vec())),
            Self::Array(_) => self.open(&Decoder::default()).and_then(|pixels| Self::Picture(pixels).input(name)),
            Self::Picture(pixels) => {
                let bytes = encode_png_exact(&pixels.image)?;
                let (format, notes) = (Format::Png, Vec::new());
                let source = Source::new(bytes, Decoded { image: pixels.image, format, notes });
                Ok(Input::Source(named(), Arc::new(source)))
            }
        }
    }
}

/// Returns whether an object is a NumPy array, without importing NumPy.
fn is_array(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let module = object.get_type().module()?;
    Ok(module.to_str()?.starts_with("numpy") && object.cast::<PyUntypedArray>().is_ok())
}

/// A decoded image. Pass it to several metrics to decode it only once.
#[pyclass(frozen, module = "agenticiqa._native")]
pub struct Picture(Pixels);

#[pymethods]
impl Picture {
    #[new]
    #[pyo3(signature = (image, max_pixels=None))]
    fn new(py: Python<'_>, image: &Bound<'_, PyAny>, max_pixels: Option<u64>) -> PyResult<Self> {
        let given = ImageArgument::later(image)?;
        let decoder =
            max_pixels.map_or_else(Decoder::default, |max_pixels| Decoder { max_pixels, ..Decoder::default() });
        Ok(Self(attended(py, move || given.open(&decoder))??))
    }

    /// Width in pixels.
    #[getter]
    fn width(&self) -> usize {
        self.0.image.width()
    }

    /// Height in pixels.
    #[getter]
    fn height(&self) -> usize {
        self.0.image.height()
    }

    /// Number of channels: 1 for gray, 3 for RGB.
    #[getter]
    fn channels(&self) -> usize {
        self.0.image.channels()
    }

    /// Bits per sample: 8 or 16.
    #[getter]
    fn bit_depth(&self) -> u8 {
        self.0.image.bit_depth()
    }

    /// Conversions of the pixels of the file, such as to sRGB.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.0.notes.clone()
    }

    /// The path of the file, if the image was opened by path.
    #[getter]
    fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    /// Returns the part of the image with its upper left corner at `x` and `y`.
    fn crop(&self, x: usize, y: usize, width: usize, height: usize) -> PyResult<Self> {
        let image = self.0.image.crop(&Region { x, y, width, height }).map_err(Problem::from)?;
        Ok(Self(Pixels { image, path: None, ..self.0.clone() }))
    }

    /// Returns the image as the bytes of a lossless PNG file.
    fn to_png<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| compute(|| encode_png_exact(&self.0.image)))?.map_err(Problem::from)?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Finds names in the image, or everything that can be found, as a list in JSON.
    fn regions(&self, py: Python<'_>, names: Option<Vec<String>>) -> PyResult<String> {
        let found = py.detach(|| {
            compute(|| match &names {
                None => regions::list(&self.0.image),
                Some(names) => regions::resolve(&self.0.image, names),
            })
        })?;
        let found = found.map_err(|error| Problem::Picture(error.to_string()))?;
        Ok(serde_json::to_string(&found).map_err(|error| Problem::Other(error.to_string()))?)
    }

    fn __repr__(&self) -> String {
        let image = &self.0.image;
        let (channels, bits) = (image.channels(), image.bit_depth());
        format!("Picture({}x{}, {channels} channels, {bits} bits)", image.width(), image.height())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        Ok((py.get_type::<Self>().into_any(), (self.to_png(py)?,)))
    }
}
