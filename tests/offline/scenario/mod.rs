//! Scenarios: TOML files that say second by second what a server shows, and what pelwatch must report about it.
//!
//! ```toml
//! about = "What happens, and what pelwatch shows of it."
//! near_miss = ["falling-behind"]        # ids that never fire here, however close the situation is
//!
//! [[phase]]                             # what holds for this long; the next phase continues from its end
//! seconds = 60
//! server = "redis 8.0.0"                # the default; fields that this version lacks are left out automatically
//! clock = "1764504000000+1000"          # the server's clock in milliseconds, where it matters
//! throughout = ["none"]                 # holds at each second
//! then = ["falling-behind warn"]        # holds at the end
//!
//! [phase.info]                          # what INFO and CONFIG say; a primary in good order where it is missing
//! used = 900                            # also maxmemory, policy, evicted, append_failed, save_failed, role, good_replicas,
//! maxmemory = 500                       # stops_after_failed_save, least_replicas, databases = { 1 = 6 }, expiring
//!
//! [phase.stream.k]                      # one table for each stream
//! added = "10000+100"
//! length = 5000
//!
//! [phase.stream.k.group.g]              # one table for each of its groups
//! cursor = "9900+40"
//! read = "9900+40"
//! pending = 5
//! consumers = [{ name = "c1", pending = 5, idle = 50 }]
//! pel = [{ ids = "9890+40..9894+40", owner = "c1", idle = 50, deliveries = 1 }]
//! ```
//!
//! **Numbers** are integers, or text: `A+B` is A at the beginning of the phase and grows by B a second, `A-B` shrinks, `A~B` swings up
//! by B and back every ten seconds, `A+B~C` does both.
//!
//! **Entries** are numbered; n has the id `n-0`, or with `epoch = MS` the id `(MS + n)-0`. The retained entries are the last `length` of
//! `added`. A stream may also have `missing = true`, and `first`, `last`, `last_generated`, `max_deleted` as ids,
//! `ttl` (milliseconds left), `duplicates` (refused so far).
//!
//! **Groups**: `cursor` (a number) or `cursor_id` (an id); `read` and `lag` are numbers or `"nil"` (a missing one is nil; the lag of a
//! known `read` is added - read); `pending`. A consumer has `pending`, `idle` and, if it differs, `inactive` (a number, or `"never"`), in
//! milliseconds. A row of `pel` without `owner` was released. `repeat = N` in a group or a consumer makes N of them; `#` in the name
//! becomes 1 to N. `given = { to = "c2", ids = "1..5" }`: before the phase pelwatch itself gave these entries to that consumer.
//!
//! **Expectations**: `ID LEVEL [CONSUMER]`, `not ID`, `waiting ID` (it cannot tell yet), `none` (nothing fired), `calm` (nothing fired
//! except information), `held ID` (it ended less than a minute ago), `leads ID` (it is the first that fired), `ID also OTHER` (OTHER stands under it), `ID says
//! WORDS` and `ID omits WORDS` (of its sentence, cause and remedy), `episodes ID N` (it began to fire N times since the start), `event ID`, `no events`. They are about the group `g`
//! of the stream `k`. A prefix with a colon names another group, as in `orders/billing: none`, a whole stream, as in
//! `orders: trimmed info`, or the server, as in `server: none`.

mod expect;
mod sample;

use pelwatch::core::{
    id::EntryId,
    name::Name,
    outcome::OwnAction,
    store::{Reading, Settings},
    symptoms::Finding,
    time::{Mono, Now},
    watch::Watch,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};
use toml::{Table, Value};

/// One file.
pub struct Scenario {
    pub name: String,
    pub near_miss: Vec<String>,
    phases: Vec<Table>,
}

/// All files.
pub fn all() -> Vec<Scenario> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/offline/scenarios");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
        .iter()
        .map(|path| Scenario::read(&path.file_stem().unwrap().to_string_lossy(), &fs::read_to_string(path).unwrap()))
        .collect()
}

/// The texts of a list that may be missing.
fn texts(table: &Table, key: &str) -> Vec<String> {
    let list = table.get(key).map_or(&[][..], |list| list.as_array().unwrap_or_else(|| panic!("{key} is a list")));
    list.iter().map(|text| text.as_str().unwrap_or_else(|| panic!("{key} has texts")).to_owned()).collect()
}

impl Scenario {
    pub fn read(name: &str, text: &str) -> Self {
        let table: Table = text.parse().unwrap_or_else(|error| panic!("{name}: {error}"));
        only(&table, name, &["about", "near_miss", "phase"]);
        assert!(
            table.get("about").and_then(Value::as_str).is_some_and(|about| about.len() > 20),
            "{name} says what it is about"
        );
        let phases = table["phase"].as_array().unwrap().iter().map(|phase| phase.as_table().unwrap().clone()).collect();
        Self { name: name.to_owned(), near_miss: texts(&table, "near_miss"), phases }
    }

    /// The ids that must fire somewhere in this scenario.
    pub fn fires(&self) -> BTreeSet<String> {
        let lines = self.phases.iter().flat_map(|phase| [texts(phase, "then"), texts(phase, "throughout")].concat());
        lines.filter_map(|line| expect::fires(&line)).collect()
    }

    /// Plays the scenario and checks every expectation.
    ///
    /// # Errors
    /// The first expectation that does not hold.
    pub fn play(&self) -> Result<(), String> {
        let keys: BTreeSet<&String> = self.phases.iter().flat_map(|phase| streams(phase).keys()).collect();
        let keys: Vec<Name> = keys.into_iter().map(|key| Name::from(key.as_str())).collect();
        let mut watch = Watch::new(Settings { keys: keys.clone(), ..Settings::default() });
        let mut episodes = Episodes::default();
        let mut second = 0;
        for (number, phase) in self.phases.iter().enumerate() {
            only(phase, &self.name, &["seconds", "server", "clock", "then", "throughout", "info", "stream"]);
            let seconds = phase["seconds"].as_integer().unwrap();
            note_given(&mut watch, phase, Now { mono: Mono(second * 1000), wall_ms: 0 });
            for t in 0..seconds {
                let at = Mono(second * 1000);
                watch.take(sample::of(phase, &keys, t, at), Now { mono: at, wall_ms: 0 }, Reading::Tick);
                second += 1;
                episodes.note(&watch);
                let place = || format!("{}, phase {}, second {t}", self.name, number + 1);
                if let Some(id) = self.near_miss.iter().find(|id| episodes.of_any(id) > 0) {
                    let all: Vec<String> =
                        found(&watch).iter().map(|(whom, one)| format!("{whom}: {} {}", one.id, one.text)).collect();
                    return Err(format!("{}: {id} is a near miss, and fired: {all:#?}", place()));
                }
                let mut due = texts(phase, "throughout");
                due.extend((t + 1 == seconds).then(|| texts(phase, "then")).into_iter().flatten());
                for line in due {
                    let wrong = |what| format!("{}: '{line}': {what}", place());
                    expect::holds(&line, &watch, &episodes).map_err(wrong)?;
                }
            }
        }
        Ok(())
    }
}

fn streams(phase: &Table) -> &Table {
    phase["stream"].as_table().unwrap()
}

/// What pelwatch itself moved before the phase.
fn note_given(watch: &mut Watch, phase: &Table, now: Now) {
    let streams = streams(phase).iter().filter_map(|(key, stream)| Some((key, stream.get("group")?.as_table()?)));
    for (key, (name, group)) in streams.flat_map(|(key, groups)| groups.iter().map(move |group| (key, group))) {
        let Some(given) = group.get("given").and_then(Value::as_table) else { continue };
        only(given, "given", &["to", "ids"]);
        let to = Name::from(given["to"].as_str().unwrap());
        let (from, last) = given["ids"].as_str().unwrap().split_once("..").expect("FROM..TO");
        let ids = from.parse::<u64>().unwrap()..=last.parse().unwrap();
        let moves = ids.map(|ms| (EntryId::new(ms, 0), to.clone())).collect();
        let action = OwnAction { moves, follow: true, cursor: false };
        watch.store.note_action(&Name::from(key.as_str()), &Name::from(name.as_str()), action, now);
    }
}

/// Rejects unknown words: such a word is a mistake, not a comment.
fn only(table: &Table, place: &str, words: &[&str]) {
    let odd: Vec<&String> = table.keys().filter(|key| !words.contains(&key.as_str())).collect();
    assert!(odd.is_empty(), "{place}: unknown {odd:?}, there are {words:?}");
}

/// All findings, each with its place: `k/g` or `k`.
fn found(watch: &Watch) -> Vec<(String, &Finding)> {
    let groups = watch.groups().flat_map(|seen| {
        let whom = format!("{}/{}", seen.stream.key, seen.group.name());
        seen.judgement.findings.iter().map(move |one| (whom.clone(), one))
    });
    let of_streams = watch
        .store
        .streams
        .keys()
        .flat_map(|key| watch.verdicts.stream(key).iter().map(move |one| (key.to_string(), one)));
    let of_server = watch.verdicts.server().iter().map(|one| ("server".to_owned(), one));
    groups.chain(of_streams).chain(of_server).filter(|(_, one)| one.holds_now()).collect()
}

/// How often each finding began.
#[derive(Default)]
struct Episodes {
    now: BTreeSet<(String, &'static str)>,
    count: BTreeMap<(String, &'static str), i64>,
}

impl Episodes {
    fn note(&mut self, watch: &Watch) {
        let now: BTreeSet<(String, &'static str)> =
            found(watch).into_iter().map(|(whom, one)| (whom, one.id)).collect();
        for new in now.difference(&self.now) {
            *self.count.entry(new.clone()).or_default() += 1;
        }
        self.now = now;
    }

    fn of(&self, whom: &str, id: &str) -> i64 {
        self.count.iter().filter(|((who, what), _)| who == whom && *what == id).map(|(_, n)| n).sum()
    }

    fn of_any(&self, id: &str) -> i64 {
        self.count.iter().filter(|((_, what), _)| *what == id).map(|(_, n)| n).sum()
    }
}
