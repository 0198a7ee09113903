//! Whether the terminal is dark or light: it is asked (OSC 11), and answers with a colour, or not at all. A question that every terminal
//! answers (DA1) is sent behind it, so that nobody waits for an answer that never comes.

use super::palette::Background;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::read,
};
use std::{
    io::{self, IsTerminal, Write},
    time::{Duration, Instant},
};

const QUESTION: &[u8] = b"\x1b]11;?\x1b\\\x1b[c";
/// A terminal at the other end of a slow line answers later; then its answer is taken out of the keys (`Replies`).
const PATIENCE: Duration = Duration::from_millis(200);
/// What comes before the answer is not longer than this, in bytes.
const MOST: usize = 4096;

/// What the terminal said so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    pub background: Option<Background>,
    /// It has answered everything, so nothing comes late.
    pub complete: bool,
    /// What was typed meanwhile, and the beginning of an answer whose rest has not come so far.
    pub typed: Vec<u8>,
    pub rest: Vec<u8>,
}

/// Asks the terminal, in raw mode and before anybody reads keys. Letters that were typed meanwhile are kept.
///
/// # Errors
/// When the terminal cannot be written to or read from.
pub fn ask() -> io::Result<Answer> {
    let input = io::stdin();
    if !input.is_terminal() {
        return Ok(Answer { complete: true, ..Answer::default() });
    }
    let mut out = io::stdout().lock();
    out.write_all(QUESTION)?;
    out.flush()?;
    let (asked, mut replies) = (Instant::now(), Vec::new());
    while replies.len() < MOST && !is_complete(&replies) {
        let Some(left) = PATIENCE.checked_sub(asked.elapsed()) else { break };
        let wait = Timespec { tv_sec: 0, tv_nsec: i64::from(left.subsec_nanos()) };
        if poll(&mut [PollFd::new(&input, PollFlags::IN)], Some(&wait))? == 0 {
            break;
        }
        let mut bytes = [0; 512];
        let count = read(&input, &mut bytes)?;
        replies.extend_from_slice(&bytes[..count]);
        if count == 0 {
            break;
        }
    }
    let (typed, rest) = typed(&replies);
    Ok(Answer { background: of_reply(&replies), complete: is_complete(&replies), typed, rest })
}

/// What does not belong to an answer: plain letters and Enter, Tab and Esc. Longer sequences, as of the arrow keys, are left out. An answer that is cut off
/// is returned as the second part.
fn typed(replies: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let (mut typed, mut at) = (Vec::new(), 0);
    while let Some(byte) = replies.get(at) {
        let rest = &replies[at..];
        let length = match (byte, rest.get(1)) {
            (b'\x1b', Some(b']')) => {
                let bell = rest.iter().position(|byte| *byte == 7).map(|end| end + 1);
                let st = rest[1..].windows(2).position(|end| end == b"\x1b\\").map(|end| end + 3);
                bell.into_iter().chain(st).min()
            }
            (b'\x1b', Some(b'[' | b'O')) => {
                rest[2..].iter().position(|byte| (0x40..=0x7e).contains(byte)).map(|end| end + 3)
            }
            _ => {
                typed.push(*byte);
                Some(1)
            }
        };
        match length {
            Some(length) => at += length,
            None => return (typed, rest.to_vec()),
        }
    }
    (typed, Vec::new())
}

/// Whether the answer to DA1 is there: `ESC [ ? … c`.
fn is_complete(replies: &[u8]) -> bool {
    let Some(start) = replies.windows(3).position(|bytes| bytes == b"\x1b[?") else { return false };
    let rest = &replies[start + 3..];
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b';').count();
    rest.get(digits) == Some(&b'c')
}

/// The background of a reply that holds `11;rgb:RRRR/GGGG/BBBB`, with one to four hexadecimal digits each.
pub fn of_reply(reply: &[u8]) -> Option<Background> {
    let text = String::from_utf8_lossy(reply);
    let (_, colour) = text.split_once("11;rgb")?;
    let colour = colour.trim_start_matches('a').strip_prefix(':')?;
    let mut parts = colour.split(|c: char| !c.is_ascii_hexdigit()).take(3).map(|part| {
        let most = 16_u32.checked_pow(u32::try_from(part.len()).ok()?).filter(|_| (1..=4).contains(&part.len()))? - 1;
        Some(f64::from(u32::from_str_radix(part, 16).ok()?) / f64::from(most))
    });
    let [red, green, blue] = [parts.next()??, parts.next()??, parts.next()??];
    let brightness = 0.299 * red + 0.587 * green + 0.114 * blue;
    Some(if brightness > 0.5 { Background::Light } else { Background::Dark })
}

/// The background by `COLORFGBG`, as some terminals set it: `15;0`, the last number is the background's.
pub fn of_variable(value: &str) -> Option<Background> {
    match value.rsplit(';').next()?.parse().ok()? {
        0..=6 | 8 => Some(Background::Dark),
        7 | 9..=15 => Some(Background::Light),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_of_terminals_are_understood() {
        let of = |text: &str| of_reply(text.as_bytes());
        assert_eq!(of("\x1b]11;rgb:0000/2b2b/3636\x1b\\\x1b[?62;4c"), Some(Background::Dark));
        assert_eq!(of("\x1b]11;rgb:fdfd/f6f6/e3e3\x07"), Some(Background::Light));
        assert_eq!(of("\x1b]11;rgb:ff/ff/ff\x07"), Some(Background::Light));
        assert_eq!(of("\x1b]11;rgba:ffff/ffff/ffff/ffff\x07"), Some(Background::Light));
        for odd in ["", "\x1b[?62c", "11;rgb:", "11;rgb:zz/00/00", "11;rgb:00000/00/00", "11;rgb:ff/ff"] {
            assert_eq!(of(odd), None, "{odd:?}");
        }
    }

    #[test]
    fn the_answer_to_the_second_question_ends_the_waiting() {
        for (replies, complete) in [("\x1b[?62;4c", true), ("x\x1b[?1c", true), ("\x1b[?62", false), ("", false)] {
            assert_eq!(is_complete(replies.as_bytes()), complete, "{replies:?}");
        }
    }

    #[test]
    fn what_was_typed_before_the_answer_is_kept_and_a_cut_answer_is_no_key() {
        let of = |text: &str| {
            let (typed, rest) = typed(text.as_bytes());
            (String::from_utf8(typed).unwrap_or_default(), String::from_utf8(rest).unwrap_or_default())
        };
        let parts = |typed: &str, rest: &str| (typed.to_owned(), rest.to_owned());
        assert_eq!(of("j\x1b]11;rgb:0/0/0\x07k\x1b[?62c\r"), parts("jk\r", ""));
        assert_eq!(of("\x1b]11;rgb:0/0/0\x1b\\\x1b[Aq"), parts("q", ""));
        assert_eq!(of("q\x1b]11;rgb:ff"), parts("q", "\x1b]11;rgb:ff"));
        assert_eq!(of("\x1b"), parts("\x1b", ""));
    }

    #[test]
    fn the_variable_of_some_terminals_is_understood() {
        for (value, background) in [
            ("15;0", Some(Background::Dark)),
            ("0;15", Some(Background::Light)),
            ("0;default;7", Some(Background::Light)),
            ("x", None),
        ] {
            assert_eq!(of_variable(value), background, "{value}");
        }
    }
}
