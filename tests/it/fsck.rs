//! `git trace fsck` tells what is broken, and nothing else; `git trace gc` loses nothing.

mod breakage;
mod cases;
mod clean;
mod copies;
mod gc;
