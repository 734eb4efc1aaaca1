//! `git trace fsck` reports only what is broken; `git trace gc` loses nothing.

mod breakage;
mod cases;
mod clean;
mod copies;
mod gc;
mod torn;
