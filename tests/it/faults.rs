//! What breaks under a command: the process killed, the disk full, objects gone, clones that have not everything, odd places.

mod calls;
mod clones;
mod commands;
mod objects;
mod system;
mod tracer;
