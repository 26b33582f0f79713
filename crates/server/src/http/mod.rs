//! The layer between the network and the handlers: connections, limits, access checks and logging.

pub mod drain;
pub mod form;
pub mod guard;
pub mod listen;
pub mod observe;
pub mod query;
