//! The groups of a stream, by name.

use super::GroupState;
use crate::core::{model::GroupFacts, name::Name, time::Mono};
use std::{collections::BTreeMap, ops::Index};

/// A map of groups, each boxed: a map reserves room for eleven values in every leaf, groups are large, and most streams have few.
#[derive(Clone, Debug, Default)]
pub struct Groups(BTreeMap<Name, Box<GroupState>>);

impl Groups {
    pub fn get(&self, name: &Name) -> Option<&GroupState> {
        self.0.get(name).map(|group| &**group)
    }

    pub fn get_mut(&mut self, name: &Name) -> Option<&mut GroupState> {
        self.0.get_mut(name).map(|group| &mut **group)
    }

    /// The group that `facts` describe. If it is not there, it is added, first seen at `at`.
    pub(super) fn get_or_insert(&mut self, facts: &GroupFacts, at: Mono) -> &mut GroupState {
        self.0.entry(facts.name.clone()).or_insert_with(|| Box::new(GroupState::new(facts.clone(), at)))
    }

    pub(super) fn remove(&mut self, name: &Name) -> Option<Box<GroupState>> {
        self.0.remove(name)
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub fn contains_key(&self, name: &Name) -> bool {
        self.0.contains_key(name)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// In the order of names.
    pub fn keys(&self) -> impl Iterator<Item = &Name> {
        self.0.keys()
    }

    /// In the order of their names.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &GroupState> + ExactSizeIterator + Clone {
        self.0.values().map(|group| &**group)
    }

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
