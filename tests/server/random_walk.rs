//! Streams and groups with random histories, watched by the program's own code on every available server: everything it reports must be
//! true. The walks are seeded, so a failure can be repeated.

use std::collections::{BTreeMap, BTreeSet};

use crate::live::{DEPTHS, Depth, Eye, Truth, Watcher, judge};
use pelwatch::{
    core::{id::EntryId, strip::EntryState},
    testing::{FoundServer, TestServer, each_server},
};
use redis::Value;

const STEPS: usize = 140;
/// Most steps between two looks: some changes must happen unseen.
const UNSEEN: u64 = 4;
const GROUPS: [&str; 2] = ["g", "h"];

/// A small random number generator, the same on every machine.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % sides
    }

    fn pick<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        (!of.is_empty()).then(|| &of[self.roll(of.len() as u64) as usize])
    }
}

/// The server's data at one moment.
struct Scene {
    entries: Vec<EntryId>,
    /// For each group: its pending entries with their owners, and the true values for its lag.
    groups: BTreeMap<&'static str, (BTreeMap<EntryId, Vec<u8>>, Truth)>,
}

/// One history of the stream `k`.
struct Walk<'a> {
    server: &'a TestServer,
    found: &'a FoundServer,
    dice: Dice,
    /// Id of the newest entry ever.
    last: u64,
    payload: String,
    /// XADD trims to this length; 0 = never.
    cap: u64,
    /// The entries at the last look.
    known: Vec<EntryId>,
    log: Vec<String>,
}

impl Walk<'_> {
    fn run(&mut self, line: &str) -> Value {
        let short: String = line.chars().take(80).collect();
        self.log.push(short);
        self.server.run(line)
    }

    fn pending(&self, group: &str) -> BTreeMap<EntryId, Vec<u8>> {
        let rows = self.server.run(&format!("XPENDING k {group} - + 100000"));
        let rows: Vec<(Vec<u8>, Vec<u8>, i64, i64)> = redis::from_redis_value(rows).unwrap();
        rows.into_iter().map(|(id, owner, ..)| (EntryId::parse(&id).unwrap(), owner)).collect()
    }

    fn scene(&self) -> Scene {
        let entries = crate::live::entries(self.server);
        let groups = GROUPS.map(|group| {
            let truth = Truth::of(self.server, self.found, group, &entries).unwrap();
            (group, (self.pending(group), truth))
        });
        Scene { entries, groups: groups.into() }
    }

    fn add(&mut self) {
        self.last += 1 + self.dice.roll(2);
        let cap = match self.cap {
            0 => String::new(),
            cap => format!("MAXLEN {cap} "),
        };
        let line = format!("XADD k {cap}{}-{} f {}", self.last, self.dice.roll(2), self.payload);
        self.run(&line);
    }

    fn step(&mut self) {
        let group = if self.dice.roll(3) == 0 { "h" } else { "g" };
        match self.dice.roll(100) {
            0..40 => self.add(),
            40..65 => {
                let (consumer, count) = (self.dice.roll(3), 1 + self.dice.roll(4));
                let no_ack = if self.dice.roll(12) == 0 { "NOACK " } else { "" };
                self.run(&format!("XREADGROUP GROUP {group} c{consumer} COUNT {count} {no_ack}STREAMS k >"));
            }
            65..80 => {
                let ids: Vec<EntryId> = self.pending(group).into_keys().collect();
                for _ in 0..=self.dice.roll(3) {
                    if let Some(id) = self.dice.pick(&ids).copied() {
                        self.run(&format!("XACK k {group} {id}"));
                    }
                }
            }
            80..87 => {
                let ids = self.known.clone();
                let id = match self.dice.roll(4) {
                    0 => ids.first(),
                    1 => ids.last(),
                    _ => self.dice.pick(&ids),
                };
                if let Some(id) = id {
                    self.run(&format!("XDEL k {id}"));
                }
            }
            87..91 => {
                let most = self.dice.roll(25);
                self.run(&format!("XTRIM k MAXLEN {most}"));
            }
            91..94 => {
                let ids: Vec<EntryId> = self.pending(group).into_keys().collect();
                if let Some(id) = self.dice.pick(&ids).copied() {
                    let consumer = self.dice.roll(3);
                    self.run(&format!("XCLAIM k {group} c{consumer} 0 {id}"));
                }
            }
            94..98 => {
                let ids = self.known.clone();
                let target = match self.dice.roll(5) {
                    0 => "0".to_owned(),
                    1 => "$".to_owned(),
                    2 => format!("{}-0", self.last + self.dice.roll(4)),
                    _ => self.dice.pick(&ids).map_or("0".to_owned(), ToString::to_string),
                };
                self.run(&format!("XGROUP SETID k {group} {target}"));
            }
            98 => {
                self.run(&format!("XGROUP DESTROY k {group}"));
                let start = if self.dice.roll(2) == 0 { "$" } else { "0" };
                self.run(&format!("XGROUP CREATE k {group} {start}"));
            }
            _ if self.dice.roll(3) == 0 => {
                self.run("DEL k");
                for group in GROUPS {
                    self.run(&format!("XGROUP CREATE k {group} $ MKSTREAM"));
                }
            }
            _ => {
                let consumer = self.dice.roll(3);
                self.run(&format!("XGROUP DELCONSUMER k {group} c{consumer}"));
            }
        }
    }

    /// Compares everything that the watcher reports about one group with the server.
    fn check(&self, scene: &Scene, watcher: &Watcher, group: &str, eye: &Eye, counted: bool) -> Result<(), String> {
        let (pending, truth) = &scene.groups[group];
        let (stream, state) = watcher.group(group).ok_or("the group is there")?;
        judge(&state.lag, truth, eye.link.server().lag_family(), counted)
            .map_err(|what| format!("{what}: {:?}, {truth:?}", state.lag))?;

        let entries: BTreeSet<EntryId> = scene.entries.iter().copied().collect();
        let facts = stream.facts.value.as_ref().unwrap();
        for id in (0..self.last + 3).flat_map(|ms| [EntryId::new(ms, 0), EntryId::new(ms, 1)]) {
            let said = stream.has_entry(id);
            if said.is_some_and(|said| said != entries.contains(&id)) {
                return Err(format!("{id} is in the stream: said {said:?}"));
            }
        }
        if stream.window.is_complete(facts) && !stream.window.ids().eq(entries.iter().copied()) {
            return Err("a complete window has just the entries".to_owned());
        }
        let gone = pending.keys().filter(|id| !entries.contains(id)).count() as i64;
        match state.payload_gone(stream) {
            Some((said, true)) if said != gone => {
                return Err(format!("{gone} have no payload: said {said}"));
            }
            Some((said, false)) if said > gone => {
                return Err(format!("at most {gone} have no payload: said {said}"));
            }
            _ => {}
        }
        if watcher.depth == Depth::Overview || (watcher.depth == Depth::Group && group != "g") {
            // the group's strip is not on the screen
            return Ok(());
        }
        let cursor = state.facts.cursor;
        let cells = state.cells(stream);
        if !cells.windows(2).all(|pair| pair[0].id < pair[1].id) {
            return Err("the strip is in order, each entry once".to_owned());
        }
        for cell in &cells {
            let (there, held) = (entries.contains(&cell.id), pending.get(&cell.id));
            let right = match cell.state {
                EntryState::Pending => {
                    held.is_some_and(|owner| cell.owner.as_ref().is_some_and(|said| said.bytes() == owner))
                        && (there || !stream.window.is_trusted())
                }
                EntryState::Gone => held.is_some() && !there,
                EntryState::New => held.is_none() && cell.id > cursor && (there || !stream.window.is_trusted()),
                EntryState::Acked | EntryState::AckedSeen | EntryState::Skipped => {
                    held.is_none() && cell.id <= cursor && (there || !stream.window.is_trusted())
                }
                EntryState::Unsure => cell.id <= cursor,
            };
            if !right {
                return Err(format!("{cell:?} is not so: in the stream {there}, pending {held:?}, cursor {cursor}"));
            }
        }
        if watcher.depth == Depth::Full && counted {
            let shown: BTreeSet<EntryId> = cells.iter().map(|cell| cell.id).collect();
            if !entries.is_subset(&shown) || !pending.keys().all(|id| shown.contains(id)) {
                return Err("a full reading of a small stream shows all of it".to_owned());
            }
            if cells.iter().any(|cell| cell.state == EntryState::Unsure) {
                return Err("a full reading of a small group leaves nothing unsure".to_owned());
            }
        }
        Ok(())
    }
}

fn walk(server: &TestServer, found: &FoundServer, seed: u64, payload: usize, cap: u64) {
    server.run("FLUSHALL");
    let mut eye = Eye::on(server);
    let mut watchers = DEPTHS.map(|depth| Watcher::new(depth, &eye));
    let mut walk = Walk {
        server,
        found,
        dice: Dice(seed),
        last: 0,
        payload: "x".repeat(payload),
        cap,
        known: Vec::new(),
        log: Vec::new(),
    };
    walk.add();
    walk.run("XGROUP CREATE k g 0");
    walk.run("XGROUP CREATE k h $");
    let mut next_look = 0;
    for step in 0..STEPS {
        walk.step();
        if step < next_look {
            continue;
        }
        next_look = step + walk.dice.roll(UNSEEN) as usize;
        let scene = walk.scene();
        walk.known.clone_from(&scene.entries);
        for watcher in &mut watchers {
            watcher.look(&mut eye);
            let result = GROUPS.iter().try_for_each(|group| {
                // a tick on the screen shows only what was requested for it; the next tick may know more
                let counted = watcher.depth == Depth::Full && payload < 100;
                walk.check(&scene, watcher, group, &eye, counted).map_err(|what| format!("{group}: {what}"))
            });
            if let Err(what) = result {
                let from = walk.log.len().saturating_sub(30);
                panic!(
                    "{found}, seed {seed}, payload {payload}, cap {cap}, step {step}, {:?}: {what}\nlast steps:\n{}",
                    watcher.depth,
                    walk.log[from..].join("\n")
                );
            }
        }
    }
}

#[test]
fn whatever_happens_to_a_stream_nothing_wrong_is_said_about_it() {
    each_server(|server, found| {
        // small entries, all within reach; capped streams; entries so large that a look covers only a few of them
        for (seed, payload, cap) in [(11, 1, 0), (22, 1, 6), (33, 4000, 16), (44, 12_000, 9)] {
            walk(server, found, seed, payload, cap);
        }
    });
}
