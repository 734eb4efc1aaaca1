//! Trajectories and telemetry: what agents write for those who evaluate and observe them.

pub(crate) mod atif;
pub(crate) mod inspect;
mod langchain;
pub(crate) mod mini_swe_agent;
pub(crate) mod openhands;
pub(crate) mod otel;
pub(crate) mod runs;
pub(crate) mod swe_agent;
mod zip;
