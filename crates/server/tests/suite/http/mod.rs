//! The service as its clients see it: a real server on a port of this machine, real images, a real client.
mod abuse;
mod access;
mod assess;
mod files;
mod jobs;
mod page;
mod score;
mod support;
