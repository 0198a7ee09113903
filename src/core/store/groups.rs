//! The groups of a stream, by name.

use super::GroupState;
use crate::core::{model::GroupFacts, name::Name, time::Mono};
use std::{collections::BTreeMap, ops::Index};

/// A map of groups. Each is in a place of its own: a map keeps room for eleven in every leaf, and most streams have a few large ones.
#[derive(Clone, Debug, Default)]
pub struct Groups(BTreeMap<Name, Box<GroupState>>);

impl Groups {
    /// The group of that name.
    pub fn get(&self, name: &Name) -> Option<&GroupState> {
        self.0.get(name).map(|group| &**group)
    }

    /// The group of that name, to be changed.
    pub fn get_mut(&mut self, name: &Name) -> Option<&mut GroupState> {
        self.0.get_mut(name).map(|group| &mut **group)
    }

    /// The group that `facts` are of, first seen now if it is not there.
    pub(super) fn get_or_insert(&mut self, facts: &GroupFacts, at: Mono) -> &mut GroupState {
        self.0.entry(facts.name.clone()).or_insert_with(|| Box::new(GroupState::new(facts.clone(), at)))
    }

    /// Takes the group of that name out.
    pub(super) fn remove(&mut self, name: &Name) -> Option<Box<GroupState>> {
        self.0.remove(name)
    }

    /// Takes all out.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Whether there is a group of that name.
    pub fn contains_key(&self, name: &Name) -> bool {
        self.0.contains_key(name)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Their names, in order.
    pub fn keys(&self) -> impl Iterator<Item = &Name> {
        self.0.keys()
    }

    /// The groups, in the order of their names.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &GroupState> + ExactSizeIterator + Clone {
        self.0.values().map(|group| &**group)
    }

    /// The groups, to be changed.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut GroupState> {
        self.0.values_mut().map(|group| &mut **group)
    }
}

impl Index<&Name> for Groups {
    type Output = GroupState;

    fn index(&self, name: &Name) -> &GroupState {
        &self.0[name]
    }
}
