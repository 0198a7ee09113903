//! Servers started for a test.

use std::{
    env,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use redis::{Client, Connection, ConnectionAddr, RedisResult, Value};

use super::found::FoundServer;

/// A server for one test, on a unix socket in a temporary folder. Dropping it kills the server and removes the folder.
pub struct TestServer {
    bin: PathBuf,
    extra: Vec<String>,
    folder: tempfile::TempDir,
    child: Child,
    /// Opened at the first command; a mutex, so that a test can use the server from several threads.
    connection: Mutex<Option<Connection>>,
}

impl TestServer {
    /// Starts a server without persistence and without TCP.
    pub fn start(found: &FoundServer) -> Self {
        Self::start_with(found, &[])
    }

    /// Starts a server with more arguments at the end, where they override ours: `&["--appendonly", "yes"]`.
    pub fn start_with(found: &FoundServer, extra: &[&str]) -> Self {
        // Not under TMPDIR if that is long: a socket's path may have about 100 bytes.
        let parent = Some(env::temp_dir()).filter(|dir| dir.as_os_str().len() < 70);
        let folder = tempfile::Builder::new()
            .prefix("pelwatch-test-")
            .tempdir_in(parent.unwrap_or_else(|| "/tmp".into()))
            .expect("a temporary folder can be made");
        let extra: Vec<String> = extra.iter().map(|&argument| argument.to_owned()).collect();
        let child = spawn(&found.bin, folder.path(), &extra);
        let mut server = Self { bin: found.bin.clone(), extra, folder, child, connection: Mutex::new(None) };
        server.wait_until_it_answers();
        server
    }

    /// Its unix socket; still the same after [`TestServer::restart`].
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("redis.sock")
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Opens another connection, for something that must happen at the same time.
    pub fn connect(&self) -> RedisResult<Connection> {
        let connection = Client::open(ConnectionAddr::Unix(self.socket()))?.get_connection()?;
        // A test that hangs reports nothing; no server needs half a minute.
        connection.set_read_timeout(Some(Duration::from_secs(30)))?;
        Ok(connection)
    }

    /// Sends one command and returns the server's answer, which may be an error.
    pub fn try_command(&self, args: &[&[u8]]) -> RedisResult<Value> {
        let mut slot = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let mut connection = match slot.take() {
            Some(connection) => connection,
            None => self.connect()?,
        };
        let mut command = redis::Cmd::new();
        for argument in args {
            command.arg(*argument);
        }
        let answer = command.query(&mut connection);
        // Drop a broken connection: the next command opens a new one.
        if !answer.as_ref().is_err_and(redis::RedisError::is_io_error) {
            *slot = Some(connection);
        }
        answer
    }

    /// Sends one command.
    ///
    /// # Panics
    /// On an error of the server or of the connection.
    pub fn command(&self, args: &[&[u8]]) -> Value {
        self.try_command(args).unwrap_or_else(|error| {
            let words: Vec<_> = args.iter().map(|argument| String::from_utf8_lossy(argument)).collect();
            panic!("{}: {error}", words.join(" "))
        })
    }

    /// Sends one command, written as words with spaces between them: `"XADD s 1-0 f v"`. There is no quoting.
    ///
    /// # Panics
    /// On an error of the server or of the connection.
    pub fn run(&self, line: &str) -> Value {
        let words: Vec<&[u8]> = line.split_whitespace().map(str::as_bytes).collect();
        self.command(&words)
    }

    /// Kills the server, as in a crash; what it kept in memory is lost.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        self.child.wait().expect("a killed server ends");
        *self.connection.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Starts the server again on the same socket; kills it first if it still runs.
    pub fn restart(&mut self) {
        self.kill();
        self.child = spawn(&self.bin, self.folder.path(), &self.extra);
        self.wait_until_it_answers();
    }

    fn wait_until_it_answers(&mut self) {
        let started = Instant::now();
        while !self.try_command(&[b"PING"]).is_ok_and(|answer| answer == Value::SimpleString("PONG".into())) {
            let ended = self.child.try_wait().expect("the server's state can be read");
            assert!(
                ended.is_none() && started.elapsed() < Duration::from_secs(20),
                "{} does not answer (ended: {ended:?}); its log:\n{}",
                self.bin.display(),
                fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
            );
            thread::sleep(Duration::from_millis(3));
        }
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(bin: &Path, folder: &Path, extra: &[String]) -> Child {
    let socket = folder.join("redis.sock");
    let log = folder.join("log");
    let args: [&OsStr; 16] = [
        "--port".as_ref(),
        "0".as_ref(),
        "--unixsocket".as_ref(),
        socket.as_ref(),
        "--unixsocketperm".as_ref(),
        "700".as_ref(),
        "--save".as_ref(),
        "".as_ref(),
        "--appendonly".as_ref(),
        "no".as_ref(),
        "--dir".as_ref(),
        folder.as_ref(),
        "--logfile".as_ref(),
        log.as_ref(),
        "--daemonize".as_ref(),
        "no".as_ref(),
    ];
    Command::new(bin)
        .args(args)
        .args(extra)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|error| panic!("cannot start {}: {error}", bin.display()))
}
