//! Streams of one pattern, such as the partitions `orders:0` to `orders:63`: their names differ in the same parts only.

use super::name::Name;
use std::collections::{BTreeMap, HashMap};

/// From this many streams on, names that differ in a number or an id only are taken for one pattern.
pub const LEAST: usize = 8;

/// From this many streams on, so are names that differ in one word only. A word can as well be the name of a thing of its own, so that
/// more of them are needed.
const LEAST_OF_WORDS: usize = 20;

/// Besides the word that differs, such a name has at least this many parts.
const OTHER_PARTS: usize = 2;

/// A pattern that the user named: `*`, and a word in braces, stand for any text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// As it was typed.
    pub text: Name,
    /// What stands between the parts that differ.
    pieces: Vec<Vec<u8>>,
}

impl Given {
    /// `None` where nothing in it may differ.
    pub fn new(text: Name) -> Option<Self> {
        let mut pieces = vec![Vec::new()];
        let mut rest = text.bytes();
        while let Some((first, after)) = rest.split_first() {
            let end = if *first == b'{' { after.iter().position(|byte| *byte == b'}').map(|at| at + 1) } else { None };
            match (first, end) {
                (b'*', _) | (b'{', Some(_)) => pieces.push(Vec::new()),
                _ => pieces.last_mut()?.push(*first),
            }
            rest = &after[end.unwrap_or(0)..];
        }
        (pieces.len() > 1).then_some(Self { text, pieces })
    }

    /// Whether it fits a name as a whole.
    pub fn matches(&self, name: &Name) -> bool {
        let [first, middle @ .., last] = self.pieces.as_slice() else { return false };
        let inner = name.bytes().strip_prefix(first.as_slice()).and_then(|rest| rest.strip_suffix(last.as_slice()));
        let Some(mut rest) = inner else { return false };
        middle.iter().filter(|piece| !piece.is_empty()).all(|piece| {
            let found = rest.windows(piece.len()).position(|window| window == piece.as_slice());
            rest = found.map_or(rest, |at| &rest[at + piece.len()..]);
            found.is_some()
        })
    }
}

/// For each name the pattern that it is of: the first of those given that fits, else one that enough of the names share.
pub fn patterns(names: &[&Name], given: &[Given]) -> Vec<Option<Name>> {
    let mut patterns: Vec<Option<Name>> = names
        .iter()
        .map(|name| given.iter().find(|given| given.matches(name)).map(|given| given.text.clone()))
        .collect();
    by_numbers(names, &mut patterns);
    by_words(names, &mut patterns);
    patterns
}

/// A name taken apart: what stands between the parts that may differ, and those parts.
struct Parts<'a> {
    pieces: Vec<&'a [u8]>,
    ids: Vec<&'a [u8]>,
}

/// The place of a name among all names, and its parts that differ.
type Member<'a> = (usize, Vec<&'a [u8]>);

/// Names that differ in numbers and ids.
fn by_numbers(names: &[&Name], patterns: &mut [Option<Name>]) {
    let mut alike: HashMap<Vec<&[u8]>, Vec<Member>> = HashMap::new();
    for (index, name) in names.iter().enumerate().filter(|(index, _)| patterns[*index].is_none()) {
        let Parts { pieces, ids } = parts(name.bytes());
        if !ids.is_empty() {
            alike.entry(pieces).or_default().push((index, ids));
        }
    }
    for (pieces, members) in alike.into_iter().filter(|(_, members)| members.len() >= LEAST) {
        let mut pattern = pieces[0].to_vec();
        for (at, piece) in pieces.iter().enumerate().skip(1) {
            let id = members[0].1[at - 1];
            // what is the same in all of them is a part of the pattern
            let same = members.iter().all(|(_, ids)| ids[at - 1] == id);
            pattern.extend_from_slice(if same { id } else { b"*" });
            pattern.extend_from_slice(piece);
        }
        for (index, _) in members {
            patterns[index] = Some(Name::new(pattern.clone()));
        }
    }
}

/// Names that differ in one word; where more than one fits, the pattern of the most names.
fn by_words(names: &[&Name], patterns: &mut [Option<Name>]) {
    let mut alike: BTreeMap<(&[u8], &[u8]), Vec<usize>> = BTreeMap::new();
    for (index, name) in names.iter().enumerate().filter(|(index, _)| patterns[*index].is_none()) {
        for around in without_one_word(name.bytes()) {
            alike.entry(around).or_default().push(index);
        }
    }
    let mut largest: Vec<_> = alike.into_iter().filter(|(_, members)| members.len() >= LEAST_OF_WORDS).collect();
    largest.sort_by_key(|(_, members)| std::cmp::Reverse(members.len()));
    for ((before, after), members) in largest {
        let free: Vec<usize> = members.into_iter().filter(|index| patterns[*index].is_none()).collect();
        if free.len() >= LEAST_OF_WORDS {
            let pattern = Name::new([before, b"*", after].concat());
            for index in free {
                patterns[index] = Some(pattern.clone());
            }
        }
    }
}

/// The name without one of its words, for each of them: what stands before it, and after.
fn without_one_word(name: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let ends: Vec<usize> = (0..name.len()).filter(|at| b":./|".contains(&name[*at])).chain([name.len()]).collect();
    let begins = [0].into_iter().chain(ends.iter().map(|end| end + 1)).collect::<Vec<_>>();
    let enough = ends.len() > OTHER_PARTS;
    let words = begins.into_iter().zip(ends).filter(move |(begin, end)| enough && begin < end);
    words.map(|(begin, end)| (&name[..begin], &name[end..]))
}

/// Takes a name apart at its numbers, ids and hash tags.
fn parts(name: &[u8]) -> Parts<'_> {
    let (mut pieces, mut ids) = (Vec::new(), Vec::new());
    let (mut start, mut at) = (0, 0);
    while at < name.len() {
        let rest = &name[at..];
        let (len, id) = if let Some(len) = whole(name, at) {
            (len, Some((0, len)))
        } else {
            let len = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
            (len, id_in(&rest[..len]))
        };
        if let Some((from, to)) = id {
            pieces.push(&name[start..at + from]);
            ids.push(&rest[from..to]);
            start = at + to;
        }
        at += len.max(1);
    }
    pieces.push(&name[start..]);
    Parts { pieces, ids }
}

/// The length of what is an id as a whole: a UUID, or the text in a hash tag.
fn whole(name: &[u8], at: usize) -> Option<usize> {
    const UUID: usize = 36;
    let rest = &name[at..];
    let fits = |(at, byte): (usize, &u8)| {
        if matches!(at, 8 | 13 | 18 | 23) { *byte == b'-' } else { byte.is_ascii_hexdigit() }
    };
    if rest.len() >= UUID && rest[..UUID].iter().enumerate().all(fits) {
        return Some(UUID);
    }
    // the hash tag tells a cluster where to keep the key; in it stands what the key is about: a tenant, a user
    let in_tag = at > 0 && name[at - 1] == b'{';
    rest.iter().position(|byte| *byte == b'}').filter(|len| in_tag && *len > 0)
}

/// Which bytes of a word of letters and digits may differ between names of one pattern.
fn id_in(word: &[u8]) -> Option<(usize, usize)> {
    let digits: Vec<usize> = (0..word.len()).filter(|at| word[*at].is_ascii_digit()).collect();
    let (first, last) = (*digits.first()?, *digits.last()?);
    let is_hex = word.len() >= 8 && word.iter().all(u8::is_ascii_hexdigit);
    let one_run = last - first + 1 == digits.len();
    // `p12` and `2nd` differ in the number, `a1b2` in the whole
    if is_hex || !one_run { Some((0, word.len())) } else { Some((first, last + 1)) }
}

#[cfg(test)]
#[path = "pattern_tests.rs"]
mod tests;
