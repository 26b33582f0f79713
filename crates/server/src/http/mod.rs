//! What stands between the network and the calls: connections, limits, who may call, what is noted of it.

pub mod form;
pub mod guard;
pub mod listen;
pub mod observe;
pub mod query;
