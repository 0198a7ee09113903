//! Servers that answer otherwise than Redis does, and those that lie. Watching them never panics, ends with 0, or with 3 and a
//! sentence, and gives no number that is not true: what is not known is null.

mod lies;
mod oracle;
mod unreadable;
