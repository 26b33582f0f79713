//! A loaded model.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::builtin::BuiltIn;
use crate::inspect::{Signature, inspect};
use crate::library::Library;
use crate::{Error, Port, Runtime, Tensor};

/// Maximum size of a file in the ONNX format.
const MAX_SIZE: u64 = (1 << 31) - 1;

/// An engine with a loaded graph. Errors are messages of the engine.
pub(crate) trait Session: Send + Sync {
    /// Computes the named outputs.
    fn run(&self, inputs: &[(&str, &Tensor)], outputs: &[&str]) -> Result<Vec<Tensor>, String>;
}

/// A loaded model. Several threads can run it at the same time.
pub struct Model {
    path: PathBuf,
    signature: Signature,
    session: Box<dyn Session>,
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model").field("path", &self.path).field("signature", &self.signature).finish_non_exhaustive()
    }
}

impl Model {
    /// Loads a model from a file. ONNX Runtime gets as many threads as the caller's thread pool
    /// has at this time.
    pub fn load(path: &Path, runtime: &Runtime) -> Result<Self, Error> {
        Self::from_bytes(path, read(path)?, runtime)
    }

    /// Loads a model from bytes. `path` is used in error messages.
    pub fn from_bytes(path: &Path, bytes: Vec<u8>, runtime: &Runtime) -> Result<Self, Error> {
        let path = path.to_owned();
        let signature = match inspect(&bytes) {
            Ok(signature) => signature,
            Err(refused) => return Err(Error::Malformed { path, reason: refused.0 }),
        };
        let session: Result<Box<dyn Session>, String> = match runtime {
            Runtime::BuiltIn => BuiltIn::load(bytes).map(|session| Box::new(session) as _),
            Runtime::Library(library) => {
                let environment = crate::library::environment(library)?;
                Library::load(&environment, &bytes).map(|session| Box::new(session) as _)
            }
        };
        match session {
            Ok(session) => Ok(Self { path, signature, session }),
            Err(reason) => Err(Error::Unsupported { path, engine: runtime.name(), reason }),
        }
    }

    /// Returns the inputs. All of them must be passed to [`run`](Self::run).
    pub fn inputs(&self) -> &[Port] {
        &self.signature.inputs
    }

    /// Returns the outputs.
    pub fn outputs(&self) -> &[Port] {
        &self.signature.outputs
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the input of that name.
    pub fn input(&self, name: &str) -> Result<&Port, Error> {
        self.port(&self.signature.inputs, "input", name)
    }

    /// Returns the output of that name.
    pub fn output(&self, name: &str) -> Result<&Port, Error> {
        self.port(&self.signature.outputs, "output", name)
    }

    /// Runs the model and returns the named outputs, in this order. The built-in engine uses as
    /// many threads as the caller's thread pool has.
    pub fn run(&self, inputs: &[(&str, &Tensor)], outputs: &[&str]) -> Result<Vec<Tensor>, Error> {
        for (name, tensor) in inputs {
            self.check(self.input(name)?, tensor)?;
        }
        for port in self.inputs() {
            if !inputs.iter().any(|(name, _)| *name == port.name) {
                return Err(self.misfit(format!("it also needs the input {port}")));
            }
        }
        for name in outputs {
            self.output(name)?;
        }
        let computed = self.session.run(inputs, outputs);
        computed.map_err(|reason| Error::Run { path: self.path.clone(), reason })
    }

    fn check(&self, port: &Port, tensor: &Tensor) -> Result<(), Error> {
        if port.element != tensor.element() {
            let given = tensor.element();
            return Err(self.misfit(format!("its input {port} is given numbers of type {given}")));
        }
        if !port.accepts(tensor.shape()) {
            return Err(self.misfit(format!("its input {port} is given a tensor of shape {:?}", tensor.shape())));
        }
        Ok(())
    }

    fn port<'a>(&self, ports: &'a [Port], kind: &str, name: &str) -> Result<&'a Port, Error> {
        ports.iter().find(|port| port.name == name).ok_or_else(|| {
            let has: Vec<String> = ports.iter().map(Port::to_string).collect();
            self.misfit(format!("it has no {kind} {name:?}, but {}", has.join("; ")))
        })
    }

    fn misfit(&self, reason: String) -> Error {
        Error::Signature { path: self.path.clone(), reason }
    }
}

/// Reads a file that is not too large.
fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let unreadable = |error| Error::Unreadable { path: path.to_owned(), error };
    let file = File::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(Error::Malformed { path: path.to_owned(), reason: "it is not a file".to_owned() });
    }
    let size = metadata.len();
    if size > MAX_SIZE {
        return Err(Error::TooLarge { path: path.to_owned(), size, limit: MAX_SIZE });
    }
    let mut bytes = Vec::new();
    // Checked here, because a failed allocation would abort the program.
    let reserved = bytes.try_reserve_exact(size as usize);
    reserved.map_err(|_| unreadable(std::io::ErrorKind::OutOfMemory.into()))?;
    file.take(MAX_SIZE).read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(bytes)
}
