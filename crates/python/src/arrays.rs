//! Converts NumPy arrays to images: height, width and channels (last or first) of 8-bit, 16-bit or
//! floating-point samples.
//!
//! 8-bit and 16-bit samples are read in place, once, into the planes that metrics work on.
//! Floating-point samples are fractions of white. They become 8-bit if that is exact, so that
//! `array / 255` has the score of `array`, and 16-bit otherwise.

use agenticiqa::imaging::{Interleaved, composited};
use agenticiqa::metrics::{Image, Samples};
use numpy::{Element, PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::errors::Problem;
use crate::threads::compute;

/// Samples per conversion task.
const STRIP: usize = 1 << 15;
/// The largest distance from an integer at which a fraction times 255 counts as that integer.
/// Single precision is off by less than half of it.
const WHOLE: f32 = 1.0 / 4096.0;

/// The layout of the samples of an array.
#[derive(Debug, Clone, Copy)]
struct Form {
    width: usize,
    height: usize,
    channels: usize,
    /// Whether the samples are stored channel by channel and not pixel by pixel.
    planar: bool,
}

impl Form {
    fn of(shape: &[usize]) -> Result<Self, Problem> {
        let form = match *shape {
            [height, width] => Self { width, height, channels: 1, planar: false },
            [height, width, channels @ (1 | 3 | 4)] => Self { width, height, channels, planar: false },
            [channels @ (1 | 3 | 4), height, width] => Self { width, height, channels, planar: true },
            _ => {
                let shape: Vec<String> = shape.iter().map(ToString::to_string).collect();
                return Err(Problem::Picture(format!(
                    "an array of shape ({}) is not an image: it must have height and width, and 1, 3 or 4 channels after \
                     or before them",
                    shape.join(", ")
                )));
            }
        };
        if form.width == 0 || form.height == 0 {
            let (width, height) = (form.width, form.height);
            return Err(Problem::Picture(format!("the image has no pixels ({width}x{height})")));
        }
        Ok(form)
    }
}

/// A sample type of arrays that can be converted to an image.
trait Sample: Element + Copy + Send + Sync {
    fn image(form: Form, samples: &[Self]) -> Result<Image, Problem>;
}

impl Sample for u8 {
    fn image(form: Form, samples: &[Self]) -> Result<Image, Problem> {
        let Form { width, height, channels, planar } = form;
        Ok(match (channels, planar) {
            (1, _) => Image::from_gray8(width, height, samples.to_vec())?,
            (3, false) => Image::of_rgb8(width, height, samples)?,
            (3, true) => Image::from_planar_rgb(width, height, Samples::Eight(samples.to_vec()))?,
            _ => flat(form, Interleaved::Eight(interleaved(form, samples)))?,
        })
    }
}

impl Sample for u16 {
    fn image(form: Form, samples: &[Self]) -> Result<Image, Problem> {
        let Form { width, height, channels, planar } = form;
        Ok(match (channels, planar) {
            (1, _) => Image::from_gray16(width, height, samples.to_vec())?,
            (3, false) => Image::of_rgb16(width, height, samples)?,
            (3, true) => Image::from_planar_rgb(width, height, Samples::Sixteen(samples.to_vec()))?,
            _ => flat(form, Interleaved::Sixteen(interleaved(form, samples)))?,
        })
    }
}

impl Sample for f32 {
    fn image(form: Form, samples: &[Self]) -> Result<Image, Problem> {
        fractions(form, samples, |sample| sample)
    }
}

impl Sample for f64 {
    fn image(form: Form, samples: &[Self]) -> Result<Image, Problem> {
        fractions(form, samples, |sample| sample as f32)
    }
}

/// Composites transparent pixels over white, as for files.
fn flat(form: Form, samples: Interleaved) -> Result<Image, Problem> {
    Ok(composited(form.width, form.height, form.channels, samples)?.0)
}

/// Copies the samples in pixel order, because compositing works in place.
fn interleaved<T: Copy>(form: Form, samples: &[T]) -> Vec<T> {
    if !form.planar {
        return samples.to_vec();
    }
    let size = form.width * form.height;
    (0..size).flat_map(|pixel| (0..form.channels).map(move |channel| samples[channel * size + pixel])).collect()
}

/// The range and properties of floating-point samples.
#[derive(Clone, Copy)]
struct Found {
    least: f32,
    most: f32,
    nan: bool,
    whole: bool,
}

fn fractions<T: Copy + Sync>(form: Form, samples: &[T], single: impl Fn(T) -> f32 + Sync) -> Result<Image, Problem> {
    let start = Found { least: 0.0, most: 0.0, nan: false, whole: true };
    let look = |found: Found, sample: &T| {
        let value = single(*sample);
        let scaled = value * 255.0;
        Found {
            least: found.least.min(value),
            most: found.most.max(value),
            nan: found.nan | value.is_nan(),
            whole: found.whole & ((scaled - scaled.round()).abs() <= WHOLE),
        }
    };
    let strips = samples.par_chunks(STRIP).map(|strip| strip.iter().fold(start, look));
    let found = strips.reduce(
        || start,
        |one, other| Found {
            least: one.least.min(other.least),
            most: one.most.max(other.most),
            nan: one.nan | other.nan,
            whole: one.whole & other.whole,
        },
    );
    if found.nan {
        return Err(Problem::Picture("the array contains NaN: every sample must be a number from 0 to 1".to_owned()));
    }
    if found.least < -WHOLE || found.most > 1.0 + WHOLE {
        let (least, most) = (found.least, found.most);
        return Err(Problem::Picture(format!(
            "floating-point samples must be fractions of white, from 0 to 1, but these go from {least} to {most}: divide \
             them by the white value, or pass integers as uint8 or uint16"
        )));
    }
    if found.whole {
        let eight: Vec<u8> = samples.par_iter().map(|sample| (single(*sample) * 255.0).round() as u8).collect();
        u8::image(form, &eight)
    } else {
        let sixteen: Vec<u16> = samples.par_iter().map(|sample| (single(*sample) * 65535.0).round() as u16).collect();
        u16::image(form, &sixteen)
    }
}

/// Converts an array to an image. Arrays that are not contiguous are copied first.
pub fn image(array: &Bound<'_, PyUntypedArray>) -> PyResult<Image> {
    let form = Form::of(array.shape())?;
    // `to_string()` would discard a pending KeyboardInterrupt.
    let name = array.dtype().typeobj().name()?;
    match name.to_str()? {
        "uint8" => typed::<u8>(array, form, None),
        "uint16" => typed::<u16>(array, form, None),
        "float32" => typed::<f32>(array, form, None),
        "float64" => typed::<f64>(array, form, None),
        "float16" => typed::<f32>(array, form, Some("float32")),
        _ => {
            let dtype = array.dtype().str()?;
            Err(Problem::Picture(format!(
                "an array of {} is not an image: samples must be uint8, uint16, or floating-point numbers from 0 to 1",
                dtype.to_str()?
            ))
            .into())
        }
    }
}

fn typed<T: Sample>(array: &Bound<'_, PyUntypedArray>, form: Form, cast: Option<&str>) -> PyResult<Image> {
    let py = array.py();
    let given = array.cast::<PyArrayDyn<T>>().ok().filter(|_| array.is_c_contiguous());
    let ours;
    let given = match given {
        Some(given) => given,
        None => {
            // Not contiguous, not in native byte order, or of a type that needs a cast.
            let dtype = match cast {
                Some(name) => name.into_pyobject(py)?.into_any(),
                None => array.dtype().call_method1("newbyteorder", ("=",))?,
            };
            let copied = py.import("numpy")?.call_method1("ascontiguousarray", (array, dtype))?;
            ours = copied.cast_into::<PyArrayDyn<T>>()?;
            &ours
        }
    };
    let borrowed = given.try_readonly().map_err(|_| {
        Problem::Picture("another call is writing to this array: wait for it, or pass a copy".to_owned())
    })?;
    let samples = borrowed.as_slice().map_err(|error| Problem::Picture(error.to_string()))?;
    Ok(py.detach(|| compute(|| T::image(form, samples)))??)
}
