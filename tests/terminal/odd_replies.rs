//! Servers that answer differently from Redis, and servers that lie. Watching them never panics. It ends with 0, or with 3 and a
//! sentence. It shows no untrue number: an unknown number is null.

mod lies;
mod oracle;
mod unreadable;
