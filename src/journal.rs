//! The journal of actions: one JSON line before something is sent, one after, each on the disk before anything else happens. If it
//! cannot be written, nothing is done.

use crate::core::{command::Argv, name::Name, outcome::Outcome, plan::Plan, time::rfc3339};
use serde_json::{Value, json};
use std::{
    fs::{DirBuilder, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

/// An open journal, for this user alone.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
}

/// Where the journal lies: `$XDG_STATE_HOME/pelwatch/journal.jsonl`, or below `~/.local/state`. `env` looks up a variable.
pub fn default_path(env: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let set = |name: &str| env(name).filter(|value| Path::new(value).is_absolute());
    let state =
        set("XDG_STATE_HOME").map(PathBuf::from).or_else(|| Some(PathBuf::from(set("HOME")?).join(".local/state")))?;
    Some(state.join("pelwatch").join("journal.jsonl"))
}

impl Journal {
    /// Opens the journal for appending; made if it is not there, readable by this user alone.
    ///
    /// # Errors
    /// When the folder or the file cannot be made or opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
        Ok(Self { file, path: path.to_owned() })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Notes what is about to be sent.
    ///
    /// # Errors
    /// When the line is not on the disk: then nothing may be sent.
    pub fn begin(&mut self, wall_ms: i64, endpoint: &str, plan: &Plan) -> io::Result<()> {
        let commands: Vec<Value> = plan.commands().iter().map(argv).collect();
        self.write(&json!({
            "at": rfc3339(wall_ms),
            "event": "begin",
            "action": plan.word(),
            "who": std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).unwrap_or_default(),
            "pid": std::process::id(),
            "server": endpoint,
            "stream": name(plan.key()),
            "group": name(plan.group()),
            "before": before(plan),
            "rows": rows(plan),
            "commands": commands,
        }))
    }

    /// Notes what became of it.
    ///
    /// # Errors
    /// When the line is not on the disk.
    pub fn end(&mut self, wall_ms: i64, endpoint: &str, plan: &Plan, outcome: &Outcome) -> io::Result<()> {
        let done = match outcome {
            Outcome::Done(done) | Outcome::Unknown(_, done) => Some(done),
            Outcome::Refused(_) => None,
        };
        let undo: Vec<Value> = done.map_or(Vec::new(), |done| done.undo.iter().take(ROWS).map(argv).collect());
        self.write(&json!({
            "at": rfc3339(wall_ms),
            "event": "end",
            "action": plan.word(),
            "pid": std::process::id(),
            "server": endpoint,
            "stream": name(plan.key()),
            "group": name(plan.group()),
            "outcome": outcome.word(),
            "text": outcome.text(),
            "after": done.map(|done| json!({
                "claimed": done.claimed, "removed": done.removed, "acknowledged": done.acknowledged,
                "cursor": done.cursor.map(|id| id.to_string()), "deleted": done.deleted,
            })),
            "undo": undo,
        }))
    }

    fn write(&mut self, line: &Value) -> io::Result<()> {
        self.file.write_all(format!("{line}\n").as_bytes())?;
        self.file.sync_all()
    }
}

/// Entries written down with their owners, at most.
const ROWS: usize = 10_000;

/// The entries as they are before: id, owner, idle time in milliseconds and deliveries. With them a claim that was cut off half-way can
/// be taken back by hand.
fn rows(plan: &Plan) -> Value {
    let rows = match plan {
        Plan::Claim(plan) => &plan.moving,
        Plan::Entries(plan) => &plan.rows,
        Plan::Undo(plan) => &plan.rows,
        Plan::Seek(_) | Plan::Consumer(_) => return Value::Null,
    };
    let row = |row: &crate::core::model::PendingRow| {
        json!([row.id.to_string(), row.owner.as_ref().map(name), row.idle_ms, row.deliveries])
    };
    json!({"complete": rows.len() <= ROWS, "entries": rows.iter().take(ROWS).map(row).collect::<Vec<_>>()})
}

fn before(plan: &Plan) -> Value {
    match plan {
        Plan::Claim(plan) => json!({
            "would_move": plan.would_move.value, "would_remove": plan.would_remove.value,
            "first_id": plan.span().map(|(first, _)| first.to_string()), "last_id": plan.span().map(|(_, last)| last.to_string()),
        }),
        Plan::Seek(plan) => json!({"cursor": plan.cursor.to_string(), "target": plan.target.to_string()}),
        Plan::Entries(plan) => json!({"ids": plan.rows.iter().map(|row| row.id.to_string()).collect::<Vec<_>>()}),
        Plan::Consumer(plan) => json!({"consumer": name(&plan.consumer)}),
        Plan::Undo(plan) => json!({"ids": plan.rows.iter().map(|row| row.id.to_string()).collect::<Vec<_>>()}),
    }
}

fn name(name: &Name) -> Value {
    json!({"text": name.shown(), "hex": name.hex()})
}

/// The last actions in a journal, oldest first, as lines for people: `2026-11-30T12:00:00.000Z claim orders/workers: done, …`.
pub fn tail(path: &Path, most: usize) -> Vec<String> {
    let Ok(text) = std::fs::read_to_string(path) else { return Vec::new() };
    let field = |value: &Value| crate::core::name::visible(value.as_str().unwrap_or_default().as_bytes());
    let subject = |line: &Value| {
        format!("{} {}/{}", field(&line["action"]), field(&line["stream"]["text"]), field(&line["group"]["text"]))
    };
    let (mut lines, mut begun): (Vec<String>, Vec<Value>) = (Vec::new(), Vec::new());
    for line in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        if line["event"] == "begin" {
            begun.push(line);
            continue;
        }
        let same = |other: &Value| other["pid"] == line["pid"] && subject(other) == subject(&line);
        if let Some(index) = begun.iter().rposition(same) {
            begun.remove(index);
        }
        lines.push(format!("{} {}: {}", field(&line["at"]), subject(&line), field(&line["text"])));
    }
    // an end is missing where the program was killed, or another one is at work just now
    lines.extend(begun.iter().map(|line| format!("{} {}: begun, outcome unknown", field(&line["at"]), subject(line))));
    lines.sort();
    lines[lines.len().saturating_sub(most)..].to_vec()
}

/// The words of a command: a string each, or a name object where the bytes are no UTF-8.
pub fn argv(command: &Argv) -> Value {
    let word = |word: &Name| match std::str::from_utf8(word.bytes()) {
        Ok(text) if !text.chars().any(char::is_control) => json!(text),
        _ => name(word),
    };
    Value::Array(command.words().iter().map(word).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_journal_is_for_this_user_alone_and_appends() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("state/pelwatch/journal.jsonl");
        for round in 1..=2 {
            Journal::open(&path)?.write(&json!({"round": round}))?;
        }
        assert_eq!(std::fs::read_to_string(&path)?, "{\"round\":1}\n{\"round\":2}\n");
        assert_eq!(std::fs::metadata(&path)?.permissions().mode() & 0o777, 0o600);
        Ok(())
    }

    #[test]
    fn its_place_follows_the_state_folder() {
        let with = |pairs: &'static [(&str, &str)]| {
            default_path(|name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
        };
        assert_eq!(with(&[("XDG_STATE_HOME", "/s"), ("HOME", "/h")]), Some("/s/pelwatch/journal.jsonl".into()));
        assert_eq!(with(&[("HOME", "/h")]), Some("/h/.local/state/pelwatch/journal.jsonl".into()));
        assert_eq!(with(&[]), None);
    }
}
