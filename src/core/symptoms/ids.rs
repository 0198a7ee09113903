//! A set of checks of groups, in one number: each group keeps three of them.

use super::CHECKS;

/// Checks of a group, in the order in which they are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ids(u32);

// each check has a bit
const _: () = assert!(CHECKS.len() <= u32::BITS as usize);

impl Ids {
    /// Adds the check with this index in the table of checks.
    pub(super) fn add(&mut self, index: usize) {
        self.0 |= 1 << index;
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn contains(self, id: &str) -> bool {
        self.iter().any(|one| one == id)
    }

    pub fn iter(self) -> impl Iterator<Item = &'static str> {
        CHECKS.iter().enumerate().filter(move |(index, _)| self.0 & (1 << index) != 0).map(|(_, check)| check.about.id)
    }

    /// The ids, separated by commas.
    pub fn text(self) -> String {
        self.iter().collect::<Vec<_>>().join(", ")
    }
}
