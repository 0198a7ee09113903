//! Names and commands in JSON, the same in every document and in the journal.

use super::{command::Argv, name::Name};
use serde_json::{Value, json};

/// A name: the text shown on the screen, and the bytes in hex where that text is not the name itself.
pub fn name(name: &Name) -> Value {
    json!({"text": name.shown(), "hex": name.hex()})
}

/// The words of a command: a string each, or a name object where the bytes are not UTF-8 or would act on a terminal.
pub fn argv(command: &Argv) -> Value {
    let word = |word: &Name| match std::str::from_utf8(word.bytes()) {
        Ok(text) if !text.chars().any(char::is_control) => json!(text),
        _ => name(word),
    };
    command.words().iter().map(word).collect()
}
