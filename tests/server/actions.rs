//! Claims and moves of the cursor against real servers: the preview is exactly what is done, and nothing else is written.

mod access;
mod cli;
mod cut;
mod desk;
mod groups;
mod large;
mod moving;
mod proxy;
mod random;
