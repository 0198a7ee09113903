//! A server that answers from a table and sends nonsense, as other servers do.

use std::{
    collections::HashMap,
    env,
    io::{BufRead, BufReader, Write},
    os::unix::net::{UnixListener, UnixStream},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// A bulk string on the wire.
pub fn bulk(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    let bytes = bytes.as_ref();
    [format!("${}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

/// An integer on the wire.
pub fn int(n: i64) -> Vec<u8> {
    format!(":{n}\r\n").into_bytes()
}

/// Nil on the wire, in RESP2.
pub fn nil() -> Vec<u8> {
    b"$-1\r\n".to_vec()
}

/// A line on the wire, unchanged: an error, a simple string, anything of one line.
pub fn line(text: impl AsRef<[u8]>) -> Vec<u8> {
    [text.as_ref(), b"\r\n"].concat()
}

/// A list on the wire.
pub fn list(items: impl IntoIterator<Item = Vec<u8>>) -> Vec<u8> {
    let items: Vec<Vec<u8>> = items.into_iter().collect();
    [format!("*{}\r\n", items.len()).into_bytes(), items.concat()].concat()
}

/// Fields one after the other, as RESP2 sends them.
pub fn flat<'a>(fields: impl IntoIterator<Item = (&'a str, Vec<u8>)>) -> Vec<u8> {
    list(fields.into_iter().flat_map(|(name, value)| [bulk(name), value]))
}

/// Fields as a RESP3 map.
pub fn map<'a>(fields: impl IntoIterator<Item = (&'a str, Vec<u8>)>) -> Vec<u8> {
    let fields: Vec<_> = fields.into_iter().collect();
    let body: Vec<u8> = fields.iter().flat_map(|(name, value)| [bulk(name), value.clone()].concat()).collect();
    [format!("%{}\r\n", fields.len()).into_bytes(), body].concat()
}

/// What a server answers, by the first words of the command: `XINFO GROUPS`, `XPENDING` (the short form), `XPENDING -` (the extended
/// one), `EXEC`. The longest match wins.
pub type Answers = HashMap<&'static str, Vec<u8>>;

/// A server for one test. It ends with the test's process.
pub struct FakeServer {
    folder: tempfile::TempDir,
    connections: Arc<AtomicUsize>,
}

impl FakeServer {
    /// Starts a server. If an answer contains the bytes of `HANG_UP`, the connection closes after the bytes before them.
    pub fn start(answers: Answers) -> Self {
        let parent = Some(env::temp_dir()).filter(|dir| dir.as_os_str().len() < 70);
        let folder = tempfile::Builder::new()
            .prefix("pelwatch-fake-")
            .tempdir_in(parent.unwrap_or_else(|| "/tmp".into()))
            .expect("a temporary folder can be made");
        let listener = UnixListener::bind(socket_in(folder.path())).expect("a socket can be made");
        let connections = Arc::new(AtomicUsize::new(0));
        let (count, answers) = (connections.clone(), Arc::new(answers));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                count.fetch_add(1, Ordering::SeqCst);
                let answers = answers.clone();
                thread::spawn(move || serve(&stream, &answers));
            }
        });
        Self { folder, connections }
    }

    pub fn socket(&self) -> PathBuf {
        socket_in(self.folder.path())
    }

    /// How often somebody connected.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

fn socket_in(folder: &Path) -> PathBuf {
    folder.join("redis.sock")
}

/// Closes the connection in the middle of an answer.
pub const HANG_UP: &[u8] = b"\0HANG UP";

fn serve(stream: &UnixStream, answers: &Answers) {
    let mut reader = BufReader::new(stream);
    let mut queued: Option<Vec<Vec<u8>>> = None;
    while let Some(words) = command(&mut reader) {
        let answer = answer(answers, &words);
        let reply = match words[0].as_str() {
            "MULTI" if !answers.contains_key("MULTI") => {
                queued = Some(Vec::new());
                line("+OK")
            }
            "EXEC" => {
                let all = queued.take().unwrap_or_default();
                answers.get("EXEC").cloned().unwrap_or_else(|| list(all))
            }
            _ => match &mut queued {
                Some(all) => {
                    all.push(answer);
                    line("+QUEUED")
                }
                None => answer,
            },
        };
        let cut = reply.windows(HANG_UP.len()).position(|part| part == HANG_UP);
        if (&*stream).write_all(&reply[..cut.unwrap_or(reply.len())]).is_err() || cut.is_some() {
            return;
        }
    }
}

fn answer(answers: &Answers, words: &[String]) -> Vec<u8> {
    let two = words.get(..2).map(|two| two.join(" ").to_uppercase()).unwrap_or_default();
    let long = if words.len() > 3 { format!("{} -", words[0]) } else { String::new() };
    [two.as_str(), long.as_str(), words[0].as_str()].iter().find_map(|key| answers.get(*key).cloned()).unwrap_or_else(
        || match words[0].as_str() {
            "XRANGE" | "XREVRANGE" => range(words),
            _ => line("-ERR unknown command"),
        },
    )
}

/// The stream behind every table: entries 1-0 to 6-0. Ranges get true answers unless the table has one.
fn range(words: &[String]) -> Vec<u8> {
    let from: u64 = words[2].split('-').next().and_then(|ms| ms.parse().ok()).unwrap_or(0);
    let count = words.get(5).and_then(|count| count.parse().ok()).unwrap_or(usize::MAX);
    let entry = |ms: u64| list([bulk(format!("{ms}-0")), list([bulk("f"), bulk("v")])]);
    if words[0] == "XRANGE" {
        // the first id of a range is inclusive; an id such as 1-1 begins after 1-0
        let from = if words[2].ends_with("-0") { from } else { from + 1 };
        list((from.max(1)..=6).take(count).map(entry))
    } else {
        list((1..=from.min(6)).rev().take(count).map(entry))
    }
}

/// The next command's words; `None` when the other side has closed.
fn command(reader: &mut impl BufRead) -> Option<Vec<String>> {
    let count = number(reader, b'*')?;
    let mut words = Vec::new();
    for _ in 0..count {
        let mut word = vec![0; number(reader, b'$')? + 2];
        reader.read_exact(&mut word).ok()?;
        words.push(String::from_utf8_lossy(&word[..word.len() - 2]).into_owned());
    }
    words.first_mut()?.make_ascii_uppercase();
    Some(words)
}

fn number(reader: &mut impl BufRead, sign: u8) -> Option<usize> {
    let mut line = Vec::new();
    reader.read_until(b'\n', &mut line).ok()?;
    std::str::from_utf8(line.strip_prefix(&[sign])?).ok()?.trim().parse().ok()
}
