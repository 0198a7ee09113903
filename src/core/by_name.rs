//! Values by name, for a handful or for thousands of them.

use super::name::Name;
use std::ops::Index;

/// A sorted list. There is one for each stream, most streams have few groups, and groups are large: a map would reserve room for eleven
/// names in every leaf. Each value is boxed, so that adding one moves only pointers.
#[derive(Clone, Debug)]
pub struct ByName<T>(Vec<(Name, Box<T>)>);

impl<T> Default for ByName<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> ByName<T> {
    fn at(&self, name: &Name) -> Result<usize, usize> {
        self.0.binary_search_by(|(one, _)| one.cmp(name))
    }

    pub fn get(&self, name: &Name) -> Option<&T> {
        self.at(name).ok().map(|index| &*self.0[index].1)
    }

    pub fn get_mut(&mut self, name: &Name) -> Option<&mut T> {
        self.at(name).ok().map(|index| &mut *self.0[index].1)
    }

    /// The value of that name. If it is not there, it is made and added.
    pub fn get_or_insert_with(&mut self, name: &Name, make: impl FnOnce() -> T) -> &mut T {
        let index = self.at(name).unwrap_or_else(|index| {
            // one at a time: most lists never get a second value
            self.0.reserve_exact(usize::from(self.0.len() < 4));
            self.0.insert(index, (name.clone(), Box::new(make())));
            index
        });
        &mut self.0[index].1
    }

    pub fn remove(&mut self, name: &Name) -> Option<T> {
        self.at(name).ok().map(|index| *self.0.remove(index).1)
    }

    /// Keeps those with names that pass.
    pub fn retain(&mut self, passes: impl Fn(&Name) -> bool) {
        self.0.retain(|(name, _)| passes(name));
    }

    pub fn clear(&mut self) {
        self.0 = Vec::new();
    }

    pub fn contains_key(&self, name: &Name) -> bool {
        self.at(name).is_ok()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// In order.
    pub fn keys(&self) -> impl Iterator<Item = &Name> {
        self.0.iter().map(|(name, _)| name)
    }

    /// In the order of their names.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &T> + ExactSizeIterator + Clone {
        self.0.iter().map(|(_, value)| &**value)
    }

    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().map(|(_, value)| &mut **value)
    }
}

impl<T> Index<&Name> for ByName<T> {
    type Output = T;

    /// # Panics
    /// When no value has that name.
    fn index(&self, name: &Name) -> &T {
        self.get(name).unwrap_or_else(|| panic!("there is nothing called {name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn it_holds_what_a_map_holds_in_the_same_order(steps in prop::collection::vec((0_u8..3, 0_u8..20), 0..60)) {
            let (mut list, mut map) = (ByName::default(), BTreeMap::new());
            for (step, (what, name)) in steps.into_iter().enumerate() {
                let name = Name::from(format!("n{name}").as_str());
                match what {
                    0 => prop_assert_eq!(list.remove(&name), map.remove(&name)),
                    1 => prop_assert_eq!(*list.get_or_insert_with(&name, || step), *map.entry(name).or_insert(step)),
                    _ => prop_assert_eq!(list.get(&name), map.get(&name)),
                }
                prop_assert_eq!(list.values().collect::<Vec<_>>(), map.values().collect::<Vec<_>>());
                prop_assert_eq!(list.keys().collect::<Vec<_>>(), map.keys().collect::<Vec<_>>());
            }
        }
    }
}
