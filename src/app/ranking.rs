//! The order of the overview's rows and how bad each is, kept as long as nothing is folded and nothing else is asked for: with
//! thousands of groups, to look at each of them at every key and for every frame takes longer than a frame may.

use super::{App, Order, overview::Row};
use crate::core::symptoms::Level;
use std::cell::{Ref, RefCell};

/// What the order was computed from.
#[derive(Clone, Debug, PartialEq)]
struct Basis {
    ticks: u64,
    sampled_ms: Option<u64>,
    rows: usize,
    frozen: bool,
    order: Order,
    reversed: bool,
    filter: String,
}

/// The order last computed.
#[derive(Clone, Debug, Default)]
pub struct Ranking(RefCell<Ranked>);

/// Rows by their place among all rows.
#[derive(Clone, Debug, Default)]
pub struct Ranked {
    basis: Option<Basis>,
    /// Those that the filter lets through, in order.
    pub order: Vec<usize>,
    /// How bad each row is, of all rows.
    pub levels: Vec<Option<Level>>,
}

impl Ranked {
    /// How many of the rows in order are worse than a word of information.
    pub fn troubled(&self) -> usize {
        self.order.iter().filter(|row| self.levels[**row].is_some_and(|level| level > Level::Info)).count()
    }
}

impl App {
    /// The order of these rows, which are all there are.
    pub fn ranked(&self, rows: &[Row]) -> Ref<'_, Ranked> {
        let store = &self.shown().store;
        let basis = Basis {
            ticks: store.ticks,
            sampled_ms: store.sampled.map(|at| at.mono.0),
            rows: rows.len(),
            frozen: self.frozen.is_some(),
            order: self.order,
            reversed: self.reversed,
            filter: self.filter.clone(),
        };
        if self.ranking.0.borrow().basis.as_ref() != Some(&basis) {
            let levels: Vec<Option<Level>> = rows.iter().map(Row::level).collect();
            let mut order: Vec<usize> = (0..rows.len()).filter(|row| self.passes(&rows[*row])).collect();
            // names break ties, so that equal rows never change places
            if self.order != Order::Name {
                order.sort_by_cached_key(|row| self.rank(&rows[*row], levels[*row]));
            }
            if self.reversed {
                order.reverse();
            }
            self.ranking.0.replace(Ranked { basis: Some(basis), order, levels });
        }
        self.ranking.0.borrow()
    }
}
