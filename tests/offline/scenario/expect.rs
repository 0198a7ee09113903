//! The meaning of a line in `then` or `throughout`.

use super::Episodes;
use pelwatch::core::{
    name::Name,
    symptoms::{Finding, Ids, Level},
    watch::Watch,
};

/// The stream or group of the line, and the rest.
fn split(line: &str) -> (&str, Vec<&str>) {
    let (whom, rest) = line.split_once(": ").unwrap_or(("k/g", line));
    (whom, rest.split_whitespace().collect())
}

/// The id that must have fired for the line to hold.
pub fn fires(line: &str) -> Option<String> {
    match split(line).1[..] {
        ["not" | "waiting" | "held" | "event" | "none" | "calm" | "no" | "leads", ..]
        | [_, "also" | "says" | "omits", ..]
        | ["episodes", _, "0"] => None,
        ["episodes", id, _] | [id, _] | [id, _, _] => Some(id.to_owned()),
        _ => None,
    }
}

/// Compares the line with the findings.
pub fn holds(line: &str, watch: &Watch, episodes: &Episodes) -> Result<(), String> {
    let (whom, words) = split(line);
    let store = &watch.store;
    let told = |id: &str| store.events.iter().any(|event| event.id == id);
    match words[..] {
        ["event", id] => return told(id).then_some(()).ok_or_else(|| format!("told: {:?}", store.events)),
        ["no", "events"] if !store.events.is_empty() => return Err(format!("told: {:?}", store.events)),
        ["no", "events"] => return Ok(()),
        _ => {}
    }
    if whom == "server" {
        return judge(&words, whom, watch.verdicts.server(), Ids::default(), episodes);
    }
    let (key, group) = whom.split_once('/').map_or((whom, None), |(key, group)| (key, Some(group)));
    let stream = store.streams.get(&Name::from(key)).ok_or("there is no such stream")?;
    let (found, waiting): (&[Finding], Ids) = match group {
        None => (watch.verdicts.stream(&stream.key), Ids::default()),
        Some(name) => {
            let group = stream.groups.get(&Name::from(name)).ok_or("there is no such group")?;
            let judgement = watch.verdicts.group(&stream.key, group.name());
            (&judgement.findings, judgement.waiting)
        }
    };
    judge(&words, whom, found, waiting, episodes)
}

/// Everything that a finding tells in words.
fn said(finding: &Finding) -> String {
    format!("{}; {}; {}", finding.text, finding.cause, finding.remedy)
}

fn judge(words: &[&str], whom: &str, found: &[Finding], waiting: Ids, episodes: &Episodes) -> Result<(), String> {
    let all = found;
    let found: Vec<&Finding> = all.iter().filter(|one| one.holds_now()).collect();
    let is = |one: &Finding, id: &str, level: &str| one.id == id && one.level.word() == level;
    let right = match *words {
        ["none"] => found.is_empty(),
        ["calm"] => found.iter().all(|one| one.level == Level::Info),
        ["not", id] => found.iter().all(|one| one.id != id),
        ["held", id] => all.iter().any(|one| one.id == id && !one.holds_now()),
        ["waiting", id] => waiting.contains(id),
        ["leads", id] => found.first().is_some_and(|one| one.id == id),
        [id, "also", other] => found.iter().any(|one| one.id == id && one.also.contains(&other)),
        [id, "says", ref rest @ ..] => found.iter().any(|one| one.id == id && said(one).contains(&rest.join(" "))),
        [id, "omits", ref rest @ ..] => found.iter().all(|one| one.id != id || !said(one).contains(&rest.join(" "))),
        ["episodes", id, count] => episodes.of(whom, id).to_string() == count,
        [id, level] => found.iter().any(|one| is(one, id, level)),
        [id, level, consumer] => {
            found.iter().any(|one| is(one, id, level) && one.consumer == Some(Name::from(consumer)))
        }
        _ => return Err("unknown expectation".to_owned()),
    };
    if right {
        return Ok(());
    }
    let fired: Vec<String> = found.iter().map(|one| format!("{} {}: {}", one.id, one.level.word(), one.text)).collect();
    Err(format!("found {fired:#?}, waiting {}, began {:?}", waiting.text(), episodes.count))
}
