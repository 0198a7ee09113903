//! Scenes for the tests of state and screen: the real program state, fed by a model of a server and drawn into memory. No server, no
//! terminal, no clock.

mod look;
mod places;

pub use look::{assert_sound, styles, text};
pub use pelwatch::testing::world::{START_MS, World, id};
pub use places::*;

use pelwatch::{
    app::{App, effect::Effect, key::Key, msg::Msg, screen::Screen, update::update},
    core::{
        sample::Request,
        store::Settings,
        time::{Mono, Now},
    },
    tui::{self, Theme},
};
use ratatui::{Terminal, backend::TestBackend, buffer::Buffer};

/// The program in front of a model of a server.
#[derive(Clone)]
pub struct Scene {
    pub app: App,
    pub world: World,
    /// Milliseconds since the start.
    pub at: u64,
    request: Request,
}

impl Scene {
    pub fn new(world: World) -> Self {
        Self::watching(world, Settings::default())
    }

    pub fn watching(world: World, settings: Settings) -> Self {
        let app = App::new(settings, "unix:/run/redis.sock".into(), "-s /run/redis.sock".into(), 1000);
        let request = app.watch.store.next_request(&app.focus(), Mono(0));
        Self { app, world, at: 0, request }
    }

    pub fn now(&self) -> Now {
        Now { mono: Mono(self.at), wall_ms: START_MS + self.at as i64 }
    }

    /// Sends a message and keeps the plan that results from it.
    pub fn send(&mut self, msg: Msg) -> Vec<Effect> {
        let now = self.now();
        let effects = update(&mut self.app, msg, now);
        for effect in &effects {
            if let Effect::Poll(polling) = effect {
                self.request = polling.request.clone();
            }
        }
        effects
    }

    /// One second passes, then a sample arrives that answers the plan.
    pub fn tick(&mut self) -> Vec<Effect> {
        self.at += 1000;
        let sample = Box::new(self.world.answer(&self.request, Mono(self.at)));
        let interval_ms = self.app.interval_ms;
        self.send(Msg::Sampled { sample, interval_ms })
    }

    pub fn ticks(&mut self, count: usize) -> &mut Self {
        self.run(count, |_, _| {})
    }

    /// Ticks, with a change of the world before each. `change` gets the time in ms.
    pub fn run(&mut self, count: usize, mut change: impl FnMut(&mut World, i64)) -> &mut Self {
        for _ in 0..count {
            change(&mut self.world, self.at as i64 + 1000);
            self.tick();
        }
        self
    }

    pub fn press(&mut self, key: Key) -> Vec<Effect> {
        self.send(Msg::Key(key))
    }

    /// Presses keys one after the other: characters as they are, other keys as `<Enter>`.
    pub fn keys(&mut self, text: &str) -> &mut Self {
        for key in parse_keys(text) {
            self.press(key);
        }
        self
    }

    /// The server has been gone for `gone_ms`; the next attempt is in `retry_ms`.
    pub fn down(&mut self, gone_ms: u64, retry_ms: u64) -> &mut Self {
        self.at += gone_ms;
        let retry_at = Mono(self.at + retry_ms);
        self.send(Msg::Down { failing_over: false, why: "connection refused".into(), retry_at });
        self
    }

    pub fn draw(&mut self, (columns, rows): (u16, u16), theme: Theme) -> Buffer {
        self.send(Msg::Resized(columns, rows));
        let screen = Screen::of(&self.app, self.now(), "12:04:07");
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).expect("a terminal in memory");
        let mut drawn = Buffer::default();
        terminal
            .draw(|frame| {
                tui::draw(frame, &screen, &theme);
                drawn = frame.buffer_mut().clone();
            })
            .expect("drawing into memory");
        // the terminal must show exactly the drawn buffer
        assert_eq!(text(terminal.backend().buffer()), text(&drawn), "the terminal shows something else than was drawn");
        drawn
    }
}

/// Keys from their text.
pub fn parse_keys(text: &str) -> Vec<Key> {
    let mut keys = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let named = rest.strip_prefix('<').and_then(|tail| tail.split_once('>'));
        let (key, tail) = match named {
            Some(("Enter", tail)) => (Key::Enter, tail),
            Some(("Esc", tail)) => (Key::Esc, tail),
            Some(("Tab", tail)) => (Key::Tab, tail),
            Some(("BackTab", tail)) => (Key::BackTab, tail),
            Some(("Backspace", tail)) => (Key::Backspace, tail),
            Some(("Left", tail)) => (Key::Left, tail),
            Some(("Right", tail)) => (Key::Right, tail),
            _ => (Key::Char(c), &rest[c.len_utf8()..]),
        };
        keys.push(key);
        rest = tail;
    }
    keys
}
