//! Tests against real servers of every version at hand, each on a socket of its own. Try not to add files here.
#![allow(clippy::unwrap_used, clippy::expect_used)]

/// Claims, moves of the cursor, acknowledgements: the preview is exactly what is done.
mod actions;
/// The walk over a whole pending list, and the bill for watching.
mod census;
/// A real cluster: slots that move, nodes that hang, die and return.
mod cluster;
/// The private server of the demo and its workload.
mod demo;
/// The first command of each finding, pasted into a shell.
mod first_checks;
/// 90 situations, each number held against a count.
mod lag_matrix;
/// Watching as the program does, by its clock; and the truth beside it.
mod live;
/// Names that are not text.
mod odd_names;
/// Watching by a clock of the test's own: ten minutes pass in seconds.
mod paced;
/// The same as the matrix along random histories.
mod random_walk;
/// Ten healthy minutes: nothing may be reported.
mod soak;
