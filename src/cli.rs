//! The command line: names and flags as redis-cli has them.

use crate::tui::{Look, When};
use clap::{Args, Parser, Subcommand};
use std::{ffi::OsString, path::PathBuf, time::Duration};

/// A live view of Redis Streams consumer groups: lag, pending entries, cursors, and what is wrong with them.
#[derive(Debug, Parser)]
#[command(
    name = "pelwatch",
    version,
    disable_help_flag = true,
    disable_help_subcommand = true,
    args_conflicts_with_subcommands = true
)]
pub struct Cli {
    /// What to do; without it, the dashboard.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Where.
    #[command(flatten)]
    pub server: ServerArgs,
    /// What.
    #[command(flatten)]
    pub watch: WatchArgs,
    /// How.
    #[command(flatten)]
    pub screen: ScreenArgs,
    /// Print help
    #[arg(long, action = clap::ArgAction::Help, global = true)]
    pub help: Option<bool>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print the state once, as JSON for scripts or as text
    Snapshot(SnapshotArgs),
    /// Show what claiming pending entries for a consumer would do; --execute does it
    Claim(ClaimArgs),
    /// Show what moving a group's cursor would do; --execute does it
    Seek(SeekArgs),
    /// Show what deleting a group would do (XGROUP DESTROY); --execute does it
    DeleteGroup(DeleteGroupArgs),
    /// Start a private server with a real workload and watch it; your own Redis is never contacted
    Demo(DemoArgs),
    /// Print a script that completes pelwatch's words in a shell
    Completions(CompletionsArgs),
    /// Print the manual page, for man
    Man,
}

/// `pelwatch completions`
#[derive(Args, Debug, Clone)]
pub struct CompletionsArgs {
    /// Which shell
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: clap_complete::Shell,
}

/// Which server, by URL or by flags.
#[derive(Args, Debug, Default, Clone)]
pub struct ServerArgs {
    /// redis://, valkey:// or unix:// URL [default: 127.0.0.1:6379]
    #[arg(value_name = "URL")]
    pub url: Option<String>,
    /// The flags.
    #[command(flatten)]
    pub flags: ServerFlags,
}

/// Which server; the flags are redis-cli's.
#[derive(Args, Debug, Default, Clone)]
pub struct ServerFlags {
    /// Server host name
    #[arg(short = 'h', long = "host", value_name = "HOST", help_heading = "Server")]
    pub host: Option<String>,
    /// Server port
    #[arg(short = 'p', long = "port", value_name = "PORT", help_heading = "Server")]
    pub port: Option<u16>,
    /// Unix socket of the server
    #[arg(short = 's', long = "socket", value_name = "PATH", help_heading = "Server")]
    pub socket: Option<PathBuf>,
    /// Number of the database
    #[arg(short = 'n', long = "db", value_name = "N", help_heading = "Server")]
    pub db: Option<i64>,
    /// The same as a URL argument
    #[arg(short = 'u', long = "uri", value_name = "URL", help_heading = "Server")]
    pub uri: Option<String>,
    /// Name of the ACL user
    #[arg(long, value_name = "NAME", help_heading = "Server")]
    pub user: Option<String>,
    /// Password; others on this machine can see it: better --askpass or the variable `REDISCLI_AUTH`
    #[arg(short = 'a', long = "pass", value_name = "PASSWORD", help_heading = "Server")]
    pub password: Option<String>,
    /// Ask for the password
    #[arg(long, help_heading = "Server")]
    pub askpass: bool,
    /// Read the password from this file at each connection
    #[arg(long, value_name = "FILE", help_heading = "Server")]
    pub password_file: Option<PathBuf>,
    /// Run this command for the password at each connection; HOST, PORT and USER are in its environment
    #[arg(long, value_name = "COMMAND", help_heading = "Server")]
    pub password_command: Option<String>,
    /// How long a password of --password-command is good for: pelwatch logs in with the next one before, on the same connection
    #[arg(long, value_name = "DURATION", value_parser = limit, requires = "password_command", help_heading = "Server")]
    pub password_ttl: Option<Duration>,
    /// Watch all nodes of the cluster that this server belongs to
    #[arg(long, help_heading = "Server")]
    pub cluster: bool,
    /// Addresses of sentinels, with commas between them: they say which server is the master
    #[arg(long, value_name = "HOST:PORT,...", requires = "master", help_heading = "Server")]
    pub sentinel: Option<String>,
    /// Name of the master that the sentinels watch
    #[arg(long, value_name = "NAME", requires = "sentinel", help_heading = "Server")]
    pub master: Option<String>,
    /// Name of the sentinels' own ACL user; its password comes from the variable `PELWATCH_SENTINEL_AUTH` [default: the server's login]
    #[arg(long, value_name = "NAME", requires = "sentinel", help_heading = "Server")]
    pub sentinel_user: Option<String>,
    /// Connect with TLS, as rediss:// does; the system's certificates decide whom to trust
    #[arg(long, help_heading = "Server")]
    pub tls: bool,
    /// Host name that the server's certificate must be for, where it is not the one connected to
    #[arg(long, value_name = "HOST", help_heading = "Server")]
    pub sni: Option<String>,
    /// Trust this certificate only (PEM)
    #[arg(long, value_name = "FILE", help_heading = "Server")]
    pub cacert: Option<PathBuf>,
    /// Trust the certificates in this folder only (PEM)
    #[arg(long, value_name = "DIR", help_heading = "Server")]
    pub cacertdir: Option<PathBuf>,
    /// Client certificate (PEM)
    #[arg(long, value_name = "FILE", help_heading = "Server")]
    pub cert: Option<PathBuf>,
    /// Private key of the client certificate (PEM)
    #[arg(long, value_name = "FILE", help_heading = "Server")]
    pub key: Option<PathBuf>,
    /// Do not check the server's certificate; the header says so
    #[arg(long, help_heading = "Server")]
    pub insecure: bool,
    /// Connect through this command, as ssh's `ProxyCommand`: 'ssh -W %h:%p bastion'; also for each node of a cluster
    #[arg(long, value_name = "COMMAND", help_heading = "Server")]
    pub via: Option<String>,
    /// How long connecting may take [default: 3s]
    #[arg(long, value_name = "DURATION", value_parser = limit, help_heading = "Server")]
    pub connect_timeout: Option<Duration>,
    /// How long an answer may take before the server counts as gone [default: 5s]
    #[arg(long, value_name = "DURATION", value_parser = limit, help_heading = "Server")]
    pub timeout: Option<Duration>,
}

/// What to watch.
#[derive(Args, Debug, Default, Clone)]
pub struct WatchArgs {
    /// Watch this stream, or those that match a glob; may be repeated [default: all streams]
    #[arg(long = "stream", value_name = "PATTERN", help_heading = "What to watch")]
    pub streams: Vec<OsString>,
    /// Watch only this group; may be repeated
    #[arg(long = "group", value_name = "NAME", help_heading = "What to watch")]
    pub groups: Vec<OsString>,
    /// Show this group, but find nothing wrong with it, as with one that nobody needs; may be repeated
    #[arg(long = "ignore-group", value_name = "NAME", help_heading = "What to watch")]
    pub ignore_groups: Vec<OsString>,
    /// Time between two polls, from 100ms
    #[arg(long, value_name = "DURATION", default_value = "1s", value_parser = interval, help_heading = "What to watch")]
    pub interval: Duration,
    /// A consumer that holds entries and was not seen for this long is reported as gone
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = humantime::parse_duration, help_heading = "What to watch")]
    pub gone_after: Duration,
    /// Hide this symptom, for example retention; may be repeated
    #[arg(long = "quiet", value_name = "SYMPTOM", value_parser = symptom, help_heading = "What to watch")]
    pub quiet: Vec<String>,
    /// Server time per second for walking large lists of pending entries; 0s disables it
    #[arg(long, value_name = "DURATION", default_value = "5ms", value_parser = budget, help_heading = "What to watch")]
    pub census_budget: Duration,
    /// Most server time for one command of such a walk, from 100us
    #[arg(long, value_name = "DURATION", default_value = "1ms", value_parser = command_budget, help_heading = "What to watch")]
    pub census_command: Duration,
    /// Show only this symptom; may be repeated; --quiet takes precedence [default: all]
    #[arg(long = "only", value_name = "SYMPTOM", value_parser = symptom, help_heading = "What to watch")]
    pub only: Vec<String>,
}

/// How the screen looks, and what it may do.
#[derive(Args, Debug, Default, Clone)]
pub struct ScreenArgs {
    /// Allow actions after a typed confirmation; without it they can only be prepared and copied
    #[arg(long, help_heading = "Screen")]
    pub allow_actions: bool,
    /// Never write in this session, even with --allow-actions
    #[arg(long, help_heading = "Screen")]
    pub read_only: bool,
    /// Ring the terminal's bell when something becomes critical
    #[arg(long, help_heading = "Screen")]
    pub bell: bool,
    /// Take clicks (choose, open) and the wheel; without it the mouse stays the terminal's
    #[arg(long, help_heading = "Screen")]
    pub mouse: bool,
    /// Roll up streams of this pattern into one row, as 'orders:*' or 'orders:{tenant}'; may be repeated; `none` rolls up nothing
    /// [default: eight streams or more whose names differ in a number or an id]
    #[arg(long = "roll-up", value_name = "PATTERN", help_heading = "Screen")]
    pub roll_up: Vec<OsString>,
    /// Draw with ASCII only
    #[arg(long, help_heading = "Screen")]
    pub ascii: bool,
    /// Colours for this background; `auto` asks the terminal
    #[arg(long, value_name = "THEME", value_enum, default_value_t = Look::Auto, help_heading = "Screen")]
    pub theme: Look,
    /// When to use colour
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = When::Auto, help_heading = "Screen")]
    pub color: When,
}

/// `pelwatch snapshot`
#[derive(Args, Debug, Clone)]
pub struct SnapshotArgs {
    /// Where.
    #[command(flatten)]
    pub server: ServerArgs,
    /// What.
    #[command(flatten)]
    pub watch: WatchArgs,
    /// Print JSON
    #[arg(long, conflicts_with = "text")]
    pub json: bool,
    /// Print text (the default)
    #[arg(long)]
    pub text: bool,
    /// Sample for this long first, so that trends and events are in the result
    #[arg(long, value_name = "DURATION", default_value = "0s", value_parser = humantime::parse_duration)]
    pub settle: Duration,
    /// Most pending entries to read of each group
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub pel_limit: usize,
}

/// What makes a plan an action.
#[derive(Args, Debug, Clone)]
pub struct ActArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Execute the plan; without this nothing is written
    #[arg(long, requires = "confirm")]
    pub execute: bool,
    /// The group's name again, to confirm
    #[arg(long, value_name = "GROUP", allow_hyphen_values = true)]
    pub confirm: Option<OsString>,
    /// A consumer seen within this time counts as active
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = humantime::parse_duration)]
    pub active_within: Duration,
}

/// `pelwatch claim`
#[derive(Args, Debug, Clone)]
pub struct ClaimArgs {
    /// The stream
    pub stream: OsString,
    /// The group
    pub group: OsString,
    /// Who gets the entries
    #[arg(long, value_name = "CONSUMER", allow_hyphen_values = true)]
    pub to: OsString,
    /// Create the consumer if it does not exist
    #[arg(long)]
    pub create: bool,
    /// Only entries idle for this long [default: 5min; the dashboard proposes a value from the handling times it saw]
    #[arg(long, value_name = "DURATION", value_parser = idle_time)]
    pub min_idle: Option<Duration>,
    /// Only entries of this consumer
    #[arg(long, value_name = "CONSUMER", allow_hyphen_values = true)]
    pub from: Option<OsString>,
    /// Most entries to move; entries without payload that XAUTOCLAIM meets are removed in addition
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Raise delivery counts, as a plain XCLAIM does
    #[arg(long)]
    pub no_justid: bool,
    /// Refuse unless this many entries are pending
    #[arg(long, value_name = "N")]
    pub expect_pending: Option<i64>,
    /// Where.
    #[command(flatten)]
    pub server: ServerFlags,
    /// Whether.
    #[command(flatten)]
    pub act: ActArgs,
}

/// `pelwatch seek`
#[derive(Args, Debug, Clone)]
pub struct SeekArgs {
    /// The stream
    pub stream: OsString,
    /// The group
    pub group: OsString,
    /// Where to: an id, $, 0, +N or -N entries, 10m-ago, or 2026-11-30T12:00:00Z
    #[arg(long, value_name = "PLACE", allow_hyphen_values = true)]
    pub to: String,
    /// Allow a target past the last id
    #[arg(long)]
    pub beyond_end: bool,
    /// Refuse unless the cursor is here
    #[arg(long, value_name = "ID")]
    pub expect_cursor: Option<String>,
    /// Where.
    #[command(flatten)]
    pub server: ServerFlags,
    /// Whether.
    #[command(flatten)]
    pub act: ActArgs,
}

/// `pelwatch delete-group`
#[derive(Args, Debug, Clone)]
pub struct DeleteGroupArgs {
    /// The stream
    pub stream: OsString,
    /// The group
    pub group: OsString,
    /// Delete it even if entries are pending or waiting, or consumers are listed
    #[arg(long)]
    pub in_use: bool,
    #[command(flatten)]
    pub server: ServerFlags,
    #[command(flatten)]
    pub act: ActArgs,
}

/// `pelwatch demo`
#[derive(Args, Debug, Clone)]
pub struct DemoArgs {
    /// How.
    #[command(flatten)]
    pub screen: ScreenArgs,
    /// Without a terminal: print a text snapshot every 2 s for this long
    #[arg(long = "for", value_name = "DURATION", default_value = "20s", value_parser = humantime::parse_duration)]
    pub length: Duration,
}

fn interval(text: &str) -> Result<Duration, String> {
    let interval = humantime::parse_duration(text).map_err(|error| format!("{error}; write it as 500ms or 2s"))?;
    if interval < Duration::from_millis(100) {
        return Err("polling faster than every 100ms would burden the server".to_owned());
    }
    Ok(interval)
}

fn limit(text: &str) -> Result<Duration, String> {
    let limit = humantime::parse_duration(text).map_err(|error| format!("{error}; write it as 500ms or 2s"))?;
    let fits = (Duration::from_millis(50)..=Duration::from_secs(600)).contains(&limit);
    if fits { Ok(limit) } else { Err("from 50ms to 10min".to_owned()) }
}

/// A limit: watching must not take more than half of a server's time.
fn budget(text: &str) -> Result<Duration, String> {
    let budget = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    if budget > Duration::from_millis(500) {
        return Err("more than half of the server's time (500ms a second) is too much for a watcher".to_owned());
    }
    Ok(budget)
}

fn command_budget(text: &str) -> Result<Duration, String> {
    let budget = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    if !(Duration::from_micros(100)..=Duration::from_millis(100)).contains(&budget) {
        return Err("from 100us, which 100 rows take, to 100ms".to_owned());
    }
    Ok(budget)
}

fn symptom(text: &str) -> Result<String, String> {
    let mut ids = crate::core::symptoms::ids();
    if ids.any(|id| id == text) {
        return Ok(text.to_owned());
    }
    let all: Vec<&str> = crate::core::symptoms::ids().collect();
    Err(format!("there is no such symptom; there are {}", all.join(", ")))
}

fn idle_time(text: &str) -> Result<Duration, String> {
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    humantime::parse_duration(text).map_err(|error| format!("{error}; write it as 5min or 1h"))
}
