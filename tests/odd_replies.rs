//! Servers that answer otherwise than Redis does, and those that lie. Watching them never panics, ends with 0, or with 3 and a
//! sentence, and gives no number that is not true: what is not known is null.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

#[path = "odd_replies/lies.rs"]
mod lies;
#[path = "odd_replies/oracle.rs"]
mod oracle;
#[path = "odd_replies/unreadable.rs"]
mod unreadable;
