//! Whether a tool can run here, and what it would take.

/// Whether a tool can run here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Availability {
    /// It can.
    Ready,
    /// Something that it needs is missing.
    Missing {
        /// What is missing.
        reason: String,
        /// What would make it run; front ends word the advice in their own terms.
        remedy: Option<Remedy>,
    },
}

/// What would make a tool run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// Installing a package, which is downloaded.
    Install {
        /// The package.
        package: String,
    },
    /// Installing a package from a file that only its authors hand out.
    InstallFrom {
        /// The package.
        package: String,
        /// The name of the file.
        file: String,
    },
}

impl Availability {
    /// A tool that cannot run, for a reason without a remedy.
    pub(crate) fn missing(reason: impl Into<String>) -> Self {
        Self::Missing { reason: reason.into(), remedy: None }
    }

    /// Whether the tool can run.
    pub fn is_available(&self) -> bool {
        matches!(self, Self::Ready)
    }

    /// Why the tool cannot run; `None` if it can.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Ready => None,
            Self::Missing { reason, .. } => Some(reason),
        }
    }

    /// What would make the tool run, if that is known.
    pub fn remedy(&self) -> Option<&Remedy> {
        match self {
            Self::Missing { remedy, .. } => remedy.as_ref(),
            Self::Ready => None,
        }
    }
}
