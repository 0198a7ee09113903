//! Why a value is there or missing. Unknown is never 0.

/// A field of a reply: a value, or the reason why there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Known<T> {
    /// The server gave this value.
    Is(T),
    /// This server has no such field (for example `lag` before 7.0).
    Unsupported,
    /// The server has the field and answered nil.
    Undetermined,
    /// The server gave a value that cannot be true: a negative count, a number too large for 64 bits, or two different values at once.
    /// Some servers send such numbers (docs/server-facts.md 12).
    Contradictory,
    /// No permission to ask.
    Denied,
    /// Not asked for yet.
    #[default]
    Unasked,
}

impl<T> Known<T> {
    pub fn value(self) -> Option<T> {
        match self {
            Self::Is(value) => Some(value),
            _ => None,
        }
    }

    pub fn as_ref(&self) -> Known<&T> {
        match self {
            Self::Is(value) => Known::Is(value),
            Self::Unsupported => Known::Unsupported,
            Self::Undetermined => Known::Undetermined,
            Self::Contradictory => Known::Contradictory,
            Self::Denied => Known::Denied,
            Self::Unasked => Known::Unasked,
        }
    }

    /// Why there is no value; `None` when there is one.
    pub fn reason(&self) -> Option<&'static str> {
        match self {
            Self::Is(_) => None,
            Self::Unsupported => Some("not reported by this server"),
            Self::Undetermined => Some("the server answers nil"),
            Self::Contradictory => Some("the server's number cannot be true"),
            Self::Denied => Some("no permission"),
            Self::Unasked => Some("not asked for yet"),
        }
    }
}

impl Known<i64> {
    /// Whether it is known and larger than `n`.
    pub fn exceeds(self, n: i64) -> bool {
        self.value().is_some_and(|value| value > n)
    }
}
