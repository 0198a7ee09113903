//! Parse, pick the mode, exit code; nothing else.

#![forbid(unsafe_code)]

use clap::Parser;
use pelwatch::{
    cli::{Cli, Command},
    manual, run,
};
use std::{
    io::{self, Write},
    process::ExitCode,
};

fn main() -> ExitCode {
    let cli = Cli::parse();
    // a core dump would hold the password
    let none = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
    let _ = rustix::process::setrlimit(rustix::process::Resource::Core, none);
    // the tasks run on one thread, the screen on this one: a key does not wait while a large reply is decoded
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            let _ = writeln!(io::stderr(), "pelwatch: cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let result = runtime.block_on(async {
        match &cli.command {
            Some(Command::Snapshot(args)) => run::snapshot(args).await,
            Some(Command::Claim(args)) => run::claim(args).await,
            Some(Command::Seek(args)) => run::seek(args).await,
            Some(Command::DeleteGroup(args)) => run::delete_group(args).await,
            Some(Command::Demo(args)) => run::demo(args).await,
            Some(Command::Completions(args)) => manual::print_completions(args.shell),
            Some(Command::Man) => manual::print_page(),
            None => run::dashboard(&cli.server, &cli.watch, &cli.screen).await,
        }
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // the terminal may be gone: that is no reason to panic
            let _ = writeln!(io::stderr(), "pelwatch: {failure}");
            failure.code()
        }
    }
}
