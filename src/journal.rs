//! The journal of actions: one JSON line before something is sent, one after, each on the disk before anything else happens. If it
//! cannot be written, nothing is done.

use crate::core::{
    action::Plan,
    json::{argv, name},
    model::PendingRow,
    outcome::Outcome,
    time::rfc3339,
};
use serde_json::{Value, json};
use std::{
    fs::{self, DirBuilder, File, OpenOptions, Permissions},
    io::{self, Read, Seek, SeekFrom, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

/// An open journal, for this user alone.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    /// The last line has no end, as when the disk was full: it gets one before the next line, which would be lost otherwise.
    torn: bool,
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
        // to open a pipe would wait for its reader
        if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            return Err(io::Error::other(format!("{} is not a plain file", path.display())));
        }
        let mut file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)?;
        let permissions = file.metadata()?.permissions();
        if permissions.mode() & 0o077 != 0 {
            file.set_permissions(Permissions::from_mode(0o600))?;
        }
        let torn = !ends_with_a_line(&mut file)?;
        Ok(Self { file, path: path.to_owned(), torn })
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
        let (detail, ask) = (plan.detail(), plan.detail().ask());
        let commands: Vec<Value> = detail.commands().iter().map(argv).collect();
        self.write(&json!({
            "at": rfc3339(wall_ms),
            "event": "begin",
            "action": ask.detail().name(),
            "who": std::env::var("USER").or_else(|_| std::env::var("LOGNAME")).unwrap_or_default(),
            "pid": std::process::id(),
            "server": endpoint,
            "stream": name(ask.detail().key()),
            "group": name(ask.detail().group()),
            "before": detail.before(),
            "rows": rows(detail.rows()),
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
        let ask = plan.detail().ask();
        let undo: Vec<Value> = done.map_or(Vec::new(), |done| done.undo.iter().take(ROWS).map(argv).collect());
        self.write(&json!({
            "at": rfc3339(wall_ms),
            "event": "end",
            "action": ask.detail().name(),
            "pid": std::process::id(),
            "server": endpoint,
            "stream": name(ask.detail().key()),
            "group": name(ask.detail().group()),
            "outcome": outcome.word(),
            "text": outcome.text(),
            "after": done.map(|done| json!({
                "claimed": done.claimed, "removed": done.removed, "acknowledged": done.acknowledged,
                "cursor": done.cursor.map(|id| id.to_string()), "deleted": done.deleted.is_some(),
            })),
            "undo": undo,
        }))
    }

    fn write(&mut self, line: &Value) -> io::Result<()> {
        let end = if self.torn { "\n" } else { "" };
        self.torn = true;
        self.file.write_all(format!("{end}{line}\n").as_bytes())?;
        self.torn = false;
        self.file.sync_all()
    }
}

fn ends_with_a_line(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// Entries written down with their owners, at most.
const ROWS: usize = 10_000;

/// The entries as they are before: id, owner, idle time in milliseconds and deliveries. With them a claim that was cut off half-way can
/// be taken back by hand.
fn rows(rows: &[PendingRow]) -> Value {
    if rows.is_empty() {
        return Value::Null;
    }
    let row = |row: &PendingRow| json!([row.id.to_string(), row.owner.as_ref().map(name), row.idle_ms, row.deliveries]);
    json!({"complete": rows.len() <= ROWS, "entries": rows.iter().take(ROWS).map(row).collect::<Vec<_>>()})
}

/// The last actions in a journal, oldest first, as lines for people: `2026-11-30T12:00:00.000Z claim orders/workers on 127.0.0.1:6379: done, …`.
pub fn tail(path: &Path, most: usize) -> Vec<String> {
    if !fs::metadata(path).is_ok_and(|found| found.is_file()) {
        return Vec::new();
    }
    // a torn line may end within a letter
    let Ok(bytes) = fs::read(path) else { return Vec::new() };
    let text = String::from_utf8_lossy(&bytes);
    let field = |value: &Value| crate::core::name::visible(value.as_str().unwrap_or_default().as_bytes());
    let subject = |line: &Value| {
        let (stream, group) = (field(&line["stream"]["text"]), field(&line["group"]["text"]));
        format!("{} {stream}/{group} on {}", field(&line["action"]), field(&line["server"]))
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

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_torn_last_line_is_ended_and_an_open_file_is_closed_to_others() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("journal.jsonl");
        fs::write(&path, "{\"round\":1}\n{\"torn")?;
        fs::set_permissions(&path, Permissions::from_mode(0o644))?;
        let mut journal = Journal::open(&path)?;
        journal.write(&json!({"round": 2}))?;
        journal.write(&json!({"round": 3}))?;
        assert_eq!(fs::read_to_string(&path)?, "{\"round\":1}\n{\"torn\n{\"round\":2}\n{\"round\":3}\n");
        assert_eq!(fs::metadata(&path)?.permissions().mode() & 0o777, 0o600);
        Ok(())
    }

    #[test]
    fn what_is_no_plain_file_is_refused_and_not_waited_for() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status()?.success());
        for path in [pipe.as_path(), Path::new("/dev/null"), folder.path()] {
            assert!(Journal::open(path).is_err_and(|error| error.to_string().contains("is not a plain file")));
        }
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
