//! Takes the pictures of the README from the real program, in a real terminal, with the demo's own server. `scripts/screenshots` runs it.
//! To look at the screen of any program: `cargo run --example screenshots -- --once OUT.png COLSxROWS WAIT KEYS -- PROGRAM ARGS`.

mod once;
mod render;

use pelwatch::testing::{
    TestServer, newest_from,
    pty::{Terminal, keys, text_of},
};
use render::{DARK, LIGHT, Paper, Renderer};
use std::{error::Error, path::Path, process::ExitCode, time::Duration};

/// One picture. Shots are taken in order; each continues from the screen of the previous one.
struct Shot {
    /// The files' name, without extension.
    name: &'static str,
    /// What is watched from here on; `None` continues with the running program.
    args: Option<Watched>,
    /// Columns and rows.
    size: (u16, u16),
    /// What to type, step by step. Each step waits until the screen is still.
    keys: &'static [&'static str],
    /// Texts that must all be on the screen before the picture is taken.
    wait_for: &'static [&'static str],
}

/// What the program watches.
#[derive(Clone, Copy)]
enum Watched {
    /// Its own demo.
    Demo,
    /// Sixty streams of one pattern.
    Fleet,
}

/// What each tour begins with.
const DEMO: Option<Watched> = Some(Watched::Demo);

const SHOTS: [Shot; 14] = [
    // the faults of the demo take half a minute to show
    Shot { name: "overview", args: DEMO, size: (120, 32), keys: &[], wait_for: &["3 of 3 need a look"] },
    Shot {
        name: "group",
        args: None,
        size: (120, 38),
        keys: &["g/billing", keys::ENTER, keys::ENTER, "2"],
        wait_for: &["billing-crash", "holder-gone"],
    },
    Shot { name: "finding", args: None, size: (120, 38), keys: &["3l"], wait_for: &["likely cause"] },
    Shot {
        name: "entry",
        args: None,
        size: (120, 38),
        keys: &[keys::ESC, "2gjj", keys::ENTER],
        wait_for: &["delivered"],
    },
    Shot { name: "claim", args: None, size: (120, 38), keys: &[keys::ESC, "c"], wait_for: &["would move to"] },
    Shot {
        name: "seek",
        args: None,
        size: (120, 38),
        keys: &[keys::ESC, "m", keys::UP, keys::UP, CLEAR, "-100", keys::TAB],
        wait_for: &["would be delivered again"],
    },
    Shot {
        name: "acknowledge",
        args: None,
        size: (120, 38),
        keys: &[keys::ESC, "v", "A"],
        wait_for: &["will never process them"],
    },
    Shot { name: "hand-over", args: None, size: (120, 38), keys: &[keys::ESC, "C"], wait_for: &["would go to"] },
    Shot { name: "delete", args: None, size: (120, 38), keys: &[keys::ESC, "g", "D"], wait_for: &["refused"] },
    Shot {
        name: "stream",
        args: None,
        size: (120, 38),
        keys: &[keys::ESC, keys::ESC, keys::ESC, "/analytics", keys::ENTER, keys::ENTER, "z", "z"],
        wait_for: &["the whole stream by id"],
    },
    Shot { name: "log", args: None, size: (120, 38), keys: &["ea"], wait_for: &["Log of everything"] },
    Shot {
        name: "wide",
        args: None,
        size: (200, 40),
        keys: &["e", keys::ESC, keys::ESC, keys::ESC],
        wait_for: &["why: "],
    },
    Shot { name: "small", args: None, size: (80, 24), keys: &[keys::ENTER, "2z"], wait_for: &["Consumers"] },
    Shot {
        name: "fleet",
        args: Some(Watched::Fleet),
        size: (120, 24),
        keys: &[],
        wait_for: &["shop:42:orders: worker holds 5 entries", "60 streams"],
    },
];

/// Clears a field.
const CLEAR: &str = "\u{15}";

/// How long a text may take to appear: the demo must start and fill a server first.
const LIMIT: Duration = Duration::from_secs(90);
/// A screen that has not changed for this long is complete.
const QUIET: Duration = Duration::from_millis(250);
/// A screen may never be still (a clock, a chart). After this time it is taken as it is.
const RESTLESS: Duration = Duration::from_secs(3);

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args[..] {
        ["--once", out, size, wait, keys, "--", program, ref args @ ..] => {
            once::run(out, size, wait, keys, program, args)
        }
        [binary, out] => tour(Path::new(binary), Path::new(out)),
        _ => Err("usage: screenshots BINARY FOLDER | --once OUT.png COLSxROWS WAIT KEYS -- PROGRAM ARGS".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("screenshots: {error}");
            ExitCode::FAILURE
        }
    }
}

fn tour(binary: &Path, out: &Path) -> Result<(), Box<dyn Error>> {
    let renderer = Renderer::new()?;
    let binary = std::path::absolute(binary)?;
    std::fs::create_dir_all(out.join("light"))?;
    let fleet = fleet()?;
    let fleet_socket = fleet.socket();
    let fleet_socket = fleet_socket.to_str().ok_or("the path of the socket is not text")?;
    for (theme, paper, folder) in [("dark", DARK, out.to_owned()), ("light", LIGHT, out.join("light"))] {
        let mut running: Option<Terminal> = None;
        for shot in &SHOTS {
            if let Some(watched) = shot.args {
                if let Some(previous) = running.take() {
                    quit(previous);
                }
                let args = match watched {
                    Watched::Demo => vec!["demo", "--theme", theme],
                    Watched::Fleet => vec!["-s", fleet_socket, "--gone-after", "10s", "--theme", theme],
                };
                running = Some(start(&binary, &args, shot.size));
            }
            let terminal = running.as_mut().ok_or("the first shot must say how to start the program")?;
            pose(terminal, shot);
            save(&renderer, terminal, &folder.join(shot.name).with_extension("png"), paper)?;
        }
        running.into_iter().for_each(quit);
    }
    let moving = out.join("moving.svg");
    std::fs::write(&moving, film(&binary))?;
    println!("{}", moving.display());
    Ok(())
}

/// A server with sixty streams of one pattern, two groups each. A worker of one of them is gone.
fn fleet() -> Result<TestServer, Box<dyn Error>> {
    let server = TestServer::start(&newest_from((6, 0, 0)).ok_or("no server is installed")?);
    let mut seed = redis::pipe();
    for tenant in 0..60 {
        let key = format!("shop:{tenant:02}:orders");
        for entry in 1..=5 {
            seed.cmd("XADD").arg(&key).arg(format!("{entry}-0")).arg("n").arg(entry);
        }
        for group in ["billing", "search"] {
            seed.cmd("XGROUP").arg("CREATE").arg(&key).arg(group).arg("0");
            seed.cmd("XREADGROUP").arg("GROUP").arg(group).arg("worker").arg("STREAMS").arg(&key).arg(">");
            if (tenant, group) != (42, "billing") {
                seed.cmd("XACK").arg(&key).arg(group).arg(&["1-0", "2-0", "3-0", "4-0", "5-0"]);
            }
        }
    }
    seed.exec(&mut server.connect()?)?;
    Ok(server)
}

/// From the trouble to the act, as a moving picture: what one sees, what one types, and what comes of it.
fn film(binary: &Path) -> String {
    const SECONDS: f32 = 2.5;
    let mut terminal = start(binary, &["demo"], (100, 30));
    let mut frames = Vec::new();
    let scenes: [(&str, &str); 9] = [
        ("", "live"),
        ("", "3 of 3 need a look"),
        ("g/billing", "/billing"),
        (keys::ENTER, "holder-gone"),
        (keys::ENTER, "why: "),
        (keys::ENTER, "billing-crash"),
        ("c", "would move to"),
        (keys::BACK_TAB, "to confirm"),
        ("billing", "billing▏"),
    ];
    for (typed, shown) in scenes {
        terminal.send(typed);
        terminal.wait_text(shown, LIMIT);
        terminal.wait_still(QUIET, RESTLESS);
        frames.push((terminal.screen(), SECONDS));
    }
    for shown in ["▌[ Do it ]", "claimed"] {
        terminal.send(keys::ENTER);
        terminal.wait_text(shown, LIMIT);
        terminal.wait_still(QUIET, RESTLESS);
        frames.push((terminal.screen(), SECONDS));
    }
    terminal.send(keys::ESC);
    terminal.wait_text("given to", LIMIT);
    terminal.wait_still(QUIET, RESTLESS);
    frames.push((terminal.screen(), 2.0 * SECONDS));
    quit(terminal);
    render::moving(&frames, DARK)
}

fn start(binary: &Path, args: &[&str], size: (u16, u16)) -> Terminal {
    // UTC, so that times in a picture do not show where it was made
    let terminal = Terminal::start(binary, args, size, &[("TZ", "UTC")]);
    terminal.wait_for("a first screen", LIMIT, |screen| !text_of(screen).trim().is_empty());
    terminal
}

fn pose(terminal: &mut Terminal, shot: &Shot) {
    let (cols, rows) = shot.size;
    if (terminal.screen().size().1.get(), terminal.screen().size().0.get()) != shot.size {
        terminal.resize(cols, rows);
    }
    for step in shot.keys {
        terminal.wait_still(QUIET, RESTLESS);
        terminal.send(step);
    }
    for text in shot.wait_for {
        terminal.wait_text(text, LIMIT);
    }
    terminal.wait_still(QUIET, RESTLESS);
}

/// Quits the program normally, so that the demo stops its server.
fn quit(mut terminal: Terminal) {
    terminal.signal("TERM");
    terminal.wait_exit(LIMIT);
}

/// Writes the picture and, beside it, the text.
fn save(renderer: &Renderer, terminal: &Terminal, png: &Path, paper: Paper) -> Result<(), Box<dyn Error>> {
    // one look at the screen for both, or they could differ
    let screen = terminal.screen();
    std::fs::write(png, renderer.png(&screen, paper)?)?;
    std::fs::write(png.with_extension("txt"), text_of(&screen).trim_end().to_owned() + "\n")?;
    println!("{}", png.display());
    Ok(())
}
