//! Tests with real servers of every available version, each on its own socket. Try not to add files here.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a test whose numbers are its own"
)]

/// Claims, moves of the cursor, acknowledgements: exactly the preview is done.
mod actions;
/// A real sshd, for all ways through `--via`.
mod bastion;
/// The walk over a whole pending list, and the cost of watching.
mod census;
/// A real cluster: slots that move, nodes that hang, die and return.
mod cluster;
/// The private server of the demo and its workload.
mod demo;
/// The first command of each finding, pasted into a shell.
mod first_checks;
/// 90 situations, with each number compared to a count.
mod lag_matrix;
/// Watching as the program does, with its clock; and the truth beside it.
mod live;
/// Numbers of one moment agree, also through a slow link.
mod moment;
/// Names that are not UTF-8.
mod odd_names;
/// Watching with the test's own clock: ten minutes pass in seconds.
mod paced;
/// Like the matrix, with random histories.
mod random_walk;
/// Real sentinels: a failover is followed, and what it lost is told.
mod sentinel;
/// Ten healthy minutes: nothing may be reported.
mod soak;
/// Ways to a server: TLS, a command, a name with several addresses.
mod ways;
