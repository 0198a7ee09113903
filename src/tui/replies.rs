//! Takes a late answer of the terminal out of the keys. `ESC ] 1 1 ; …` arrives as Alt-] and letters, or as Esc and letters where it comes
//! in two parts: over a slow line that can be seconds later, with a dialog open.

use super::{
    background::{self, Answer},
    palette::Background,
};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use std::time::{Duration, Instant};

/// The rest of an answer comes within this time. A key that began like one is given on after it.
const REST: Duration = Duration::from_millis(100);
/// An answer is not longer than this, in keys.
const MOST: usize = 64;
/// How the answer to OSC 11 begins, after `ESC ]`.
const BEGIN: &str = "11;";

/// The keys between the terminal and the program.
#[derive(Clone, Debug, Default)]
pub struct Replies {
    /// An answer may still come.
    awaited: bool,
    /// Keys that may be a part of it, in order.
    held: Vec<KeyEvent>,
    since: Option<Instant>,
}

/// What became of an event.
#[derive(Clone, Debug, PartialEq)]
pub enum Sorted {
    /// These are for the program, in order.
    Keys(Vec<Event>),
    /// The terminal's answer is complete.
    Answer(Option<Background>),
}

impl Replies {
    /// The terminal was asked: what it has not answered may still come. `now` is when that began.
    pub fn after(answer: &Answer, now: Instant) -> Self {
        let begun = answer.rest.iter().skip(1).map(|byte| KeyEvent::from(KeyCode::Char(char::from(*byte))));
        let since = (!answer.rest.is_empty()).then_some(now);
        Self { awaited: !answer.complete, held: begun.collect(), since }
    }

    /// When the keys that are held have to be given on.
    pub fn due(&self) -> Option<Instant> {
        self.since.map(|since| since + REST)
    }

    /// No more came: the keys were keys.
    pub fn give_up(&mut self) -> Vec<Event> {
        self.since = None;
        let typed: String = self.held.iter().filter_map(letter).collect();
        let held = std::mem::take(&mut self.held);
        // the beginning of an answer is not a key, although its rest was lost
        if typed.starts_with(']') && typed[1..].starts_with(BEGIN) {
            Vec::new()
        } else {
            held.into_iter().map(Event::Key).collect()
        }
    }

    /// Sorts one event.
    pub fn take(&mut self, event: Event, now: Instant) -> Sorted {
        let Event::Key(key) = event else { return Sorted::Keys(self.then(event)) };
        if !self.awaited || key.kind == KeyEventKind::Release || self.held.is_empty() && !begins(&key) {
            return Sorted::Keys(self.then(Event::Key(key)));
        }
        self.held.push(key);
        self.since = Some(now);
        let text: String = self.held.iter().filter_map(letter).collect();
        let expected = format!("]{BEGIN}");
        let fits = text.len() <= expected.len() && expected.starts_with(&text) || text.starts_with(&expected);
        if !fits || self.held.len() > MOST {
            return Sorted::Keys(self.give_up());
        }
        if text.starts_with(&expected) && ends(&key) {
            self.held.clear();
            self.since = None;
            self.awaited = false;
            return Sorted::Answer(background::of_reply(&text.as_bytes()[1..]));
        }
        Sorted::Keys(Vec::new())
    }

    fn then(&mut self, event: Event) -> Vec<Event> {
        let mut events = if self.held.is_empty() { Vec::new() } else { self.give_up() };
        events.push(event);
        events
    }
}

/// Alt-], or an Esc that `]` may follow.
fn begins(key: &KeyEvent) -> bool {
    key.code == KeyCode::Esc || key.code == KeyCode::Char(']') && key.modifiers.contains(KeyModifiers::ALT)
}

/// BEL, which is Ctrl-G, or `ESC \`.
fn ends(key: &KeyEvent) -> bool {
    let (alt, ctrl) = (key.modifiers.contains(KeyModifiers::ALT), key.modifiers.contains(KeyModifiers::CONTROL));
    key.code == KeyCode::Char('g') && ctrl || key.code == KeyCode::Char('\\') && alt
}

fn letter(key: &KeyEvent) -> Option<char> {
    match key.code {
        KeyCode::Char(c) if !ends(key) => Some(c),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(c: char, modifiers: KeyModifiers) -> Event {
        Event::Key(KeyEvent::new(KeyCode::Char(c), modifiers))
    }

    fn answer(first: &[Event], last: Event) -> Vec<Event> {
        let letters = "11;rgb:ffff/ffff/ffff".chars().map(|c| key(c, KeyModifiers::NONE));
        first.iter().cloned().chain(letters).chain([last]).collect()
    }

    fn waiting() -> Replies {
        Replies::after(&Answer::default(), Instant::now())
    }

    fn sort(replies: &mut Replies, events: Vec<Event>) -> (Vec<Event>, Option<Background>) {
        let (mut keys, mut found) = (Vec::new(), None);
        for event in events {
            match replies.take(event, Instant::now()) {
                Sorted::Keys(more) => keys.extend(more),
                Sorted::Answer(background) => found = background,
            }
        }
        (keys, found)
    }

    #[test]
    fn a_late_answer_is_no_key_whole_or_in_two_parts() {
        let esc = Event::Key(KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE));
        let bell = key('g', KeyModifiers::CONTROL);
        let st = key('\\', KeyModifiers::ALT);
        for first in [vec![key(']', KeyModifiers::ALT)], vec![esc, key(']', KeyModifiers::NONE)]] {
            for last in [bell.clone(), st.clone()] {
                let mut replies = waiting();
                let mut events = answer(&first, last);
                events.push(key('q', KeyModifiers::NONE));
                let (keys, found) = sort(&mut replies, events);
                assert_eq!((keys, found), (vec![key('q', KeyModifiers::NONE)], Some(Background::Light)));
            }
        }
    }

    #[test]
    fn keys_that_only_begin_like_an_answer_are_given_on_in_order() {
        let esc = Event::Key(KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE));
        let mut replies = waiting();
        let typed =
            vec![esc.clone(), key(']', KeyModifiers::NONE), key('1', KeyModifiers::NONE), key('2', KeyModifiers::NONE)];
        assert_eq!(sort(&mut replies, typed.clone()).0, typed);
        assert_eq!(sort(&mut replies, vec![esc.clone()]).0, []);
        assert!(replies.due().is_some());
        assert_eq!(replies.give_up(), std::slice::from_ref(&esc));
        assert_eq!(replies.due(), None);
        let mut asked_nothing = Replies::after(&Answer { complete: true, ..Answer::default() }, Instant::now());
        assert_eq!(sort(&mut asked_nothing, vec![esc.clone()]).0, [esc]);
    }

    #[test]
    fn the_rest_of_an_answer_that_began_in_time_is_no_key() {
        let begun = Answer { rest: b"\x1b]11;rgb:ff".to_vec(), ..Answer::default() };
        let mut replies = Replies::after(&begun, Instant::now());
        let mut events: Vec<Event> = "ff/ffff/ffff".chars().map(|c| key(c, KeyModifiers::NONE)).collect();
        events.push(key('\\', KeyModifiers::ALT));
        assert_eq!(sort(&mut replies, events), (Vec::new(), Some(Background::Light)));
    }

    #[test]
    fn an_answer_that_breaks_off_is_no_key() {
        let mut replies = waiting();
        let mut events = answer(&[key(']', KeyModifiers::ALT)], key('g', KeyModifiers::CONTROL));
        events.truncate(8);
        assert_eq!(sort(&mut replies, events).0, []);
        assert_eq!(replies.give_up(), []);
    }
}
