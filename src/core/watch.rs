//! Everything known about a server, and what follows from it: the store remembers, the symptoms judge.

use super::{
    event::Event,
    name::Name,
    sample::{Sample, StreamSample},
    store::{GroupState, Reading, Settings, Store, StreamState},
    symptoms::{Finding, Judgement, Level, Verdicts},
    time::{Mono, Now, age_words},
};

/// A store and the verdicts over it, always of the same moment.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    pub store: Store,
    pub verdicts: Verdicts,
}

impl Watch {
    pub fn new(settings: Settings) -> Self {
        Self { store: Store::new(settings), verdicts: Verdicts::default() }
    }

    /// Adds one sample and judges what it changed.
    pub fn take(&mut self, sample: Sample, now: Now, reading: Reading) {
        self.store.fold(sample, now, reading);
        for event in self.verdicts.judge(&self.store, now, reading) {
            self.store.tell(event);
        }
    }

    /// Adds streams of the sample that was taken last.
    pub fn take_streams(&mut self, streams: Vec<StreamSample>, at: Mono, now: Now) {
        self.store.fold_streams(streams, at, now, Reading::Tick);
        for event in self.verdicts.judge(&self.store, now, Reading::Tick) {
            self.store.tell(event);
        }
    }

    /// The link to the server was lost.
    pub fn lose_link(&mut self, why: &str, now: Now) {
        let text = format!("the server no longer answers: {why}");
        self.store.tell(Event { wall_ms: now.wall_ms, id: "link-lost", stream: None, group: None, text });
    }

    /// The server answers again, this many milliseconds after its last answer.
    pub fn find_link(&mut self, lost_ms: u64, now: Now) {
        let text = format!("the server answers again, after {}", age_words(lost_ms as i64));
        self.store.tell(Event { wall_ms: now.wall_ms, id: "link-back", stream: None, group: None, text });
    }

    pub fn group(&self, key: &Name, group: &Name) -> Option<JudgedGroup<'_>> {
        let (stream, group) = self.store.group(key, group)?;
        Some(self.view(stream, group))
    }

    /// In the order of names.
    pub fn groups(&self) -> impl Iterator<Item = JudgedGroup<'_>> {
        self.store.groups().map(|(stream, group)| self.view(stream, group))
    }

    /// A group of this store with what the checks say of it.
    pub fn view<'a>(&'a self, stream: &'a StreamState, group: &'a GroupState) -> JudgedGroup<'a> {
        let judgement = self.verdicts.group(&stream.key, group.name());
        JudgedGroup {
            stream,
            group,
            judgement,
            is_ignored: self.store.settings.ignores(group.name()),
            of_stream: self.verdicts.stream(&stream.key),
            of_server: self.verdicts.server(),
        }
    }
}

/// A group with its stream, and what the checks say of both.
#[derive(Clone, Copy, Debug)]
pub struct JudgedGroup<'a> {
    /// Whether the group is shown and never judged.
    pub is_ignored: bool,
    pub stream: &'a StreamState,
    pub group: &'a GroupState,
    pub judgement: &'a Judgement,
    /// What was found of the stream as a whole.
    pub of_stream: &'a [Finding],
    /// What was found of the servers.
    pub of_server: &'a [Finding],
}

impl<'a> JudgedGroup<'a> {
    /// The findings of the server, of the group, and of its stream. What is only information about the server comes last.
    pub fn findings(&self) -> impl Iterator<Item = &'a Finding> + Clone {
        let of_server = self.of_server.iter();
        let (first, last) = (of_server.clone(), of_server);
        first
            .filter(|finding| finding.level > Level::Info)
            .chain(&self.judgement.findings)
            .chain(self.of_stream)
            .chain(last.filter(|finding| finding.level == Level::Info))
    }
}
