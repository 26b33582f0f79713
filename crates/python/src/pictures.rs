//! What Python may give as an image: a path, the bytes of a file, an array, or an image that is decoded already.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agenticiqa::agent::Input;
use agenticiqa::imaging::{Decoder, Format, Picture as Decoded, encode_png_exact};
use agenticiqa::inputs::Source;
use agenticiqa::metrics::{Image, Region};
use numpy::PyUntypedArray;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyString};

use crate::arrays;
use crate::errors::{self, Problem};
use crate::threads::{attended, compute};

/// Something that is, or can be made, an image. It no longer needs the interpreter.
pub enum ImageArgument {
    /// A file.
    Path(PathBuf),
    /// The bytes of a file.
    Bytes(PyBackedBytes),
    /// Pixels.
    Picture(Pixels),
    /// An array whose pixels are looked at when they are needed.
    Array(Py<PyUntypedArray>),
}

/// Pixels, and the file that they came from.
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
    /// Looks what it is, and takes the pixels of an array.
    pub fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        match Self::later(object)? {
            Self::Array(array) => Ok(Self::Picture(Pixels::plain(arrays::image(array.bind(object.py()))?))),
            given => Ok(given),
        }
    }

    /// Looks what it is; an array stays one until it is opened. Objects of other libraries are first made plain by
    /// `agenticiqa._pictures.plain`.
    pub fn later(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        static PLAIN: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        if let Some(given) = Self::of_plain(object)? {
            return Ok(given);
        }
        let plain = PLAIN.import(object.py(), "agenticiqa._pictures", "plain")?.call1((object,))?;
        let unknown = || Problem::Picture(format!("{} is no image", object.get_type()));
        Ok(Self::of_plain(&plain)?.ok_or_else(unknown)?)
    }

    /// The same of a reference; what is wrong with it is said of it.
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

    /// The pixels; decoded here and now.
    pub fn open(self, decoder: &Decoder) -> Result<Pixels, Problem> {
        match self {
            Self::Path(path) => Ok(Pixels::of(decoder.open(&path)?, Some(path))),
            Self::Bytes(bytes) => Ok(Pixels::of(decoder.decode(&bytes)?, None)),
            Self::Picture(pixels) => Ok(pixels),
            Self::Array(array) => {
                // ImageArgument back before the lock of the interpreter is.
                let taken = Python::try_attach(move |py| {
                    let array = array.into_bound(py);
                    arrays::image(&array).map_err(|error| Problem::of_picture(py, &error))
                });
                let ending = || Problem::Other("the interpreter is ending".to_owned());
                Ok(Pixels::plain(taken.ok_or_else(ending)??))
            }
        }
    }

    /// The image as the agent takes it. Pixels become a PNG without loss: a model is shown files.
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

/// Whether it is an array; numpy is not loaded to find out.
fn is_array(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let module = object.get_type().module()?;
    Ok(module.to_str()?.starts_with("numpy") && object.cast::<PyUntypedArray>().is_ok())
}

/// An image that is decoded: give it to several metrics, and it is decoded once.
#[pyclass(frozen, module = "agenticiqa._native")]
pub struct Picture(Pixels);

#[pymethods]
impl Picture {
    #[new]
    #[pyo3(signature = (image, max_pixels=None))]
    fn new(py: Python<'_>, image: &Bound<'_, PyAny>, max_pixels: Option<u64>) -> PyResult<Self> {
        let given = ImageArgument::later(image)?;
        let decoder = max_pixels.map_or_else(Decoder::default, |max_pixels| Decoder { max_pixels });
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

    /// 1 for gray, 3 for RGB.
    #[getter]
    fn channels(&self) -> usize {
        self.0.image.channels()
    }

    /// Bits a sample, 8 or 16.
    #[getter]
    fn bit_depth(&self) -> u8 {
        self.0.image.bit_depth()
    }

    /// What was done to the pixels of the file to make them sRGB.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.0.notes.clone()
    }

    /// The file, if it was opened by path.
    #[getter]
    fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    /// The part of the image at `x` and `y`.
    fn crop(&self, x: usize, y: usize, width: usize, height: usize) -> PyResult<Self> {
        let image = self.0.image.crop(&Region { x, y, width, height }).map_err(Problem::from)?;
        Ok(Self(Pixels { image, path: None, ..self.0.clone() }))
    }

    /// The image as the bytes of a PNG file, without loss.
    fn to_png<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| compute(|| encode_png_exact(&self.0.image)))?.map_err(Problem::from)?;
        Ok(PyBytes::new(py, &bytes))
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
