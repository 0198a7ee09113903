//! A command as a list of words, and as one line for a shell.

use super::{id::EntryId, name::Name};
use std::fmt;

/// The words of one command as they go to the server: bytes, not text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Argv(Vec<Name>);

impl Argv {
    /// The command that shows one entry.
    pub fn entry(key: &Name, id: EntryId) -> Self {
        let id = id.to_string();
        Self::of(&[b"XRANGE", key.bytes(), id.as_bytes(), id.as_bytes()])
    }

    pub fn of(words: &[&[u8]]) -> Self {
        Self(words.iter().map(|word| Name::new(word.to_vec())).collect())
    }

    pub fn push(&mut self, word: impl Into<Name>) {
        self.0.push(word.into());
    }

    pub fn extend(&mut self, words: impl IntoIterator<Item = Name>) {
        self.0.extend(words);
    }

    pub fn words(&self) -> &[Name] {
        &self.0
    }
}

/// For a shell: plain words unchanged; all others in single quotes or, if they contain bytes that do not print, in the `$'…'` form of
/// bash.
impl fmt::Display for Argv {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, word) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(" ")?;
            }
            f.write_str(&quoted(word.bytes()))?;
        }
        Ok(())
    }
}

fn quoted(bytes: &[u8]) -> String {
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"-_.:/+,@%=".contains(b);
    if !bytes.is_empty() && bytes.iter().all(plain) {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    if bytes.iter().all(|b| (0x20..0x7f).contains(b)) {
        return format!("'{}'", String::from_utf8_lossy(bytes).replace('\'', "'\\''"));
    }
    let inner: String = bytes
        .iter()
        .map(|b| match b {
            b'\'' => "\\'".to_owned(),
            b'\\' => "\\\\".to_owned(),
            0x20..0x7f => char::from(*b).to_string(),
            _ => format!("\\x{b:02x}"),
        })
        .collect();
    format!("$'{inner}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell_where_they_must_be() {
        let words: [&[u8]; 7] = [b"XPENDING", b"", b"a b", b"it's", b"\x1b[31m", b"back\\slash\n", b"k:{1}"];
        let expected = r"XPENDING '' 'a b' 'it'\''s' $'\x1b[31m' $'back\\slash\x0a' 'k:{1}'";
        assert_eq!(Argv::of(&words).to_string(), expected);
    }
}
