//! The built-in engine: rten, in pure Rust.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use rten::{Model, ModelOptions, RunOptions, ThreadPool, Value, ValueOrView, ValueView};
use rten_tensor::{AsView, Layout};

use crate::guard::guarded;
use crate::model::Session;
use crate::{Data, Element, Tensor};

/// A graph loaded by rten.
pub(crate) struct BuiltIn {
    model: Model,
}

impl BuiltIn {
    pub fn load(bytes: Vec<u8>) -> Result<Self, String> {
        guarded(|| {
            let model = ModelOptions::with_all_ops().prepack_weights(true).load(bytes);
            model.map(|model| Self { model }).map_err(|error| sentence(&error.to_string()))
        })
    }

    fn compute(&self, inputs: &[(&str, &RtenInput)], outputs: &[&str], threads: usize) -> Result<Vec<Tensor>, String> {
        let failed = |error: rten::RunError| sentence(&error.to_string());
        let node = |name: &str| self.model.node_id(name).map_err(failed);
        let views = inputs.iter().map(|(name, given)| Ok((node(name)?, given.view()?)));
        let views = views.collect::<Result<Vec<(_, ValueOrView)>, String>>()?;
        let nodes = outputs.iter().map(|name| node(name)).collect::<Result<Vec<_>, _>>()?;
        let options = RunOptions::default().with_thread_pool(Some(pool(threads)));
        let values = self.model.run(views, &nodes, Some(options)).map_err(failed)?;
        values.into_iter().map(tensor).collect()
    }
}

impl Session for BuiltIn {
    fn run(&self, inputs: &[(&str, &Tensor)], outputs: &[&str]) -> Result<Vec<Tensor>, String> {
        let threads = rayon::current_num_threads();
        let given = inputs.iter().map(|(_, tensor)| RtenInput::new(tensor)).collect::<Result<Vec<_>, _>>()?;
        let named: Vec<_> = inputs.iter().map(|(name, _)| *name).zip(&given).collect();
        guarded(|| self.compute(&named, outputs, threads))
    }
}

/// An input tensor of rten. rten uses 32-bit integers even where the file says 64.
enum RtenInput<'a> {
    Float(&'a [usize], &'a [f32]),
    Integer(&'a [usize], Vec<i32>),
}

impl<'a> RtenInput<'a> {
    fn new(tensor: &'a Tensor) -> Result<Self, String> {
        match tensor.data() {
            Data::Float(elements) => Ok(Self::Float(tensor.shape(), elements)),
            Data::Integer(elements) => {
                let narrow = |&number| i32::try_from(number).map_err(|_| format!("{number} is beyond 32 bits"));
                let elements = elements.iter().map(narrow).collect::<Result<_, _>>()?;
                Ok(Self::Integer(tensor.shape(), elements))
            }
        }
    }

    fn view(&self) -> Result<ValueOrView<'_>, String> {
        match self {
            Self::Float(shape, elements) => {
                ValueView::from_shape(shape, elements).map(Into::into).map_err(|error| error.to_string())
            }
            Self::Integer(shape, elements) => {
                ValueView::from_shape(shape, elements).map(Into::into).map_err(|error| error.to_string())
            }
        }
    }
}

fn tensor(value: Value) -> Result<Tensor, String> {
    let wrong = |error: String| format!("it gives no numbers that can be used: {error}");
    match value {
        Value::FloatTensor(values) => Tensor::float(values.shape().to_vec(), values.to_vec()),
        Value::Int32Tensor(values) => {
            Tensor::integer(values.shape().to_vec(), values.iter().map(|&number| number.into()).collect())
        }
        _ => return Err(wrong(format!("they are of another type than {} and {}", Element::Float, Element::Integer))),
    }
    .map_err(|error| wrong(error.to_string()))
}

/// Returns the thread pool with this many threads, which is started once.
fn pool(threads: usize) -> Arc<ThreadPool> {
    static POOLS: Mutex<BTreeMap<usize, Arc<ThreadPool>>> = Mutex::new(BTreeMap::new());
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(pools.entry(threads).or_insert_with(|| Arc::new(ThreadPool::with_num_threads(threads))))
}

/// Removes line breaks from a message of the engine.
fn sentence(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}
