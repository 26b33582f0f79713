//! Whether a tool can run on this machine, and what is missing if not.

/// Whether a tool can run on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Availability {
    /// The tool can run.
    Ready,
    /// Something that the tool needs is missing.
    Missing {
        /// What is missing.
        reason: String,
        /// How to make it run. Front ends phrase the advice in their own terms.
        remedy: Option<Remedy>,
    },
}

/// How to make a tool run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// Install a package that can be downloaded.
    Install {
        /// The package.
        package: String,
    },
    /// Install a package from a file that only its authors distribute.
    InstallFrom {
        /// The package.
        package: String,
        /// Name of the file.
        file: String,
    },
}

impl Availability {
    /// Creates the state of a tool that cannot run, without a remedy.
    pub(crate) fn missing(reason: impl Into<String>) -> Self {
        Self::Missing { reason: reason.into(), remedy: None }
    }

    /// Returns whether the tool can run.
    pub fn is_available(&self) -> bool {
        matches!(self, Self::Ready)
    }

    /// Returns the reason why the tool cannot run; `None` if it can.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Ready => None,
            Self::Missing { reason, .. } => Some(reason),
        }
    }

    /// Returns how to make the tool run, if that is known.
    pub fn remedy(&self) -> Option<&Remedy> {
        match self {
            Self::Missing { remedy, .. } => remedy.as_ref(),
            Self::Ready => None,
        }
    }
}
