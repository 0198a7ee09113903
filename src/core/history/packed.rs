//! Points in few bytes: each stores only what changed since the previous one. A point of a quiet group takes three bytes, one of a busy
//! group about a dozen; unpacked it takes 128.

use super::Point;
use crate::core::{id::EntryId, time::Mono};

/// Points in one chunk. To reach one of them, all before it in the chunk are unpacked.
const FULL: usize = 32;

const WORDS: usize = 10;

/// A point as numbers. Those that change most often come first.
type Words = [Option<u64>; WORDS];

fn words(point: &Point) -> Words {
    let signed = |n: Option<i64>| n.map(i64::cast_unsigned);
    // bounds are stored relative to the lag: an exact lag is its own bound, so they do not change with it
    let beside = |n: Option<i64>| signed(n.map(|n| n.wrapping_sub(point.lag.unwrap_or(0))));
    [
        Some(point.at.0),
        signed(point.pending),
        Some(point.cursor.ms),
        signed(point.added),
        signed(point.delivered),
        signed(point.lag),
        signed(point.length),
        Some(point.cursor.seq),
        beside(point.bounds.0),
        beside(point.bounds.1),
    ]
}

fn point(words: &Words) -> Point {
    let [at, pending, ms, added, delivered, lag, length, seq, least, most] = *words;
    let signed = |n: Option<u64>| n.map(u64::cast_signed);
    let beside = |n: Option<u64>| signed(n).map(|n| n.wrapping_add(signed(lag).unwrap_or(0)));
    Point {
        at: Mono(at.unwrap_or(0)),
        added: signed(added),
        delivered: signed(delivered),
        pending: signed(pending),
        cursor: EntryId::new(ms.unwrap_or(0), seq.unwrap_or(0)),
        lag: signed(lag),
        bounds: (beside(least), beside(most)),
        length: signed(length),
    }
}

/// Seven bits a byte, the lowest first; the highest bit means that more follow.
fn put(out: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        out.push((n & 0x7f) as u8 | 0x80);
        n >>= 7;
    }
    out.push((n & 0x7f) as u8);
}

fn take(bytes: &mut std::slice::Iter<u8>) -> u64 {
    if let [one @ ..0x80, ..] = bytes.as_slice() {
        bytes.next();
        return u64::from(*one);
    }
    let mut n = 0;
    for (shift, byte) in (0..64).step_by(7).zip(bytes) {
        n |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    n
}

/// Maps small steps in either direction to small numbers.
fn fold_sign(step: u64) -> u64 {
    (step << 1) ^ (step.cast_signed() >> 63).cast_unsigned()
}

fn unfold_sign(folded: u64) -> u64 {
    (folded >> 1) ^ (folded & 1).wrapping_neg()
}

/// First a mask: which words differ and, above those bits, which of them have no value. Then the steps of the others.
fn pack(out: &mut Vec<u8>, before: &Words, after: &Words) {
    let mut differ = 0_u64;
    for (index, (old, new)) in before.iter().zip(after).enumerate() {
        if old != new {
            let absent = u64::from(new.is_none()) << WORDS;
            differ |= (1 | absent) << index;
        }
    }
    put(out, differ);
    for (old, new) in before.iter().zip(after).filter(|(old, new)| old != new) {
        if let Some(new) = new {
            put(out, fold_sign(new.wrapping_sub(old.unwrap_or(0))));
        }
    }
}

fn unpack(bytes: &mut std::slice::Iter<u8>, words: &mut Words) {
    let differ = take(bytes);
    let mut left = differ & ((1 << WORDS) - 1);
    while left != 0 {
        let index = left.trailing_zeros() as usize;
        left &= left - 1;
        let absent = differ >> (index + WORDS) & 1 == 1;
        let word = &mut words[index];
        *word = if absent { None } else { Some(word.unwrap_or(0).wrapping_add(unfold_sign(take(bytes)))) };
    }
}

/// Consecutive points, packed.
#[derive(Clone, Debug, Default)]
pub struct Chunk {
    /// Time of its first point.
    pub from: Mono,
    /// Time of its last point.
    pub to: Mono,
    pub count: usize,
    bytes: Vec<u8>,
}

impl Chunk {
    pub fn is_full(&self) -> bool {
        self.count >= FULL
    }

    /// Adds a point; `last` must be the newest point it holds.
    pub fn push(&mut self, last: Option<&Point>, next: &Point) {
        let before = last.filter(|_| self.count > 0).map_or([None; WORDS], words);
        pack(&mut self.bytes, &before, &words(next));
        if self.count == 0 {
            self.from = next.at;
        }
        self.to = next.at;
        self.count += 1;
        if self.is_full() {
            self.bytes.shrink_to_fit();
        }
    }

    /// Oldest first.
    pub fn points(&self) -> impl Iterator<Item = Point> {
        let (mut bytes, mut state) = (self.bytes.iter(), [None; WORDS]);
        (0..self.count).map(move |_| {
            unpack(&mut bytes, &mut state);
            point(&state)
        })
    }

    /// In bytes of memory.
    pub fn size(&self) -> usize {
        size_of::<Self>() + self.bytes.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_number() -> impl Strategy<Value = Option<i64>> {
        prop::option::of(prop_oneof![0..1000i64, any::<i64>(), Just(i64::MIN), Just(i64::MAX)])
    }

    prop_compose! {
        fn any_point()(
            at: u64,
            numbers in (any_number(), any_number(), any_number(), any_number(), any_number(), any_number()),
            pending: Option<i64>,
            cursor: (u64, u64),
        ) -> Point {
            let (added, delivered, lag, least, most, length) = numbers;
            let cursor = EntryId::new(cursor.0, cursor.1);
            Point { at: Mono(at), added, delivered, pending, cursor, lag, bounds: (least, most), length }
        }
    }

    proptest! {
        #[test]
        fn what_is_packed_comes_out_as_it_was(points in prop::collection::vec(any_point(), 1..40)) {
            let mut chunk = Chunk::default();
            let mut last = None;
            for point in &points {
                chunk.push(last, point);
                last = Some(point);
            }
            prop_assert_eq!(chunk.points().collect::<Vec<_>>(), points);
        }
    }

    #[test]
    fn a_point_in_which_nothing_changed_takes_three_bytes() {
        let first = point(&[Some(5), Some(3), Some(7), None, None, None, None, Some(0), None, None]);
        let mut chunk = Chunk::default();
        chunk.push(None, &first);
        let before = chunk.bytes.len();
        chunk.push(Some(&first), &Point { at: Mono(1005), ..first });
        assert_eq!(chunk.bytes.len() - before, 3);
    }
}
