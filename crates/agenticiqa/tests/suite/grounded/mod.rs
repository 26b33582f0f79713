//! Models with views and measurements: what they are sent, what they may ask for, and what happens if
//! their claims contradict measurements. Models are scripted here; `real_vlm` has the real server.

mod bad_input;
mod disagreements;
mod joined;
mod paper;
mod profiles;
mod second_opinion;
mod support;
mod views;
