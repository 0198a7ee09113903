//! Claims and moves of the cursor on real servers: exactly the preview is done, and nothing else is written.

mod access;
mod cli;
mod cut;
mod desk;
mod groups;
mod large;
mod moving;
mod proxy;
mod random;
