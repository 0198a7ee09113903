//! Commands of the user: for a connection, or for a password. Before the dashboard takes the screen they may ask something on the
//! terminal; later they have none.

use tokio::process::Command;

/// Starts the command `$1`. Without a terminal of its own it cannot write on the screen, nor ask anything there.
const WITHOUT_TERMINAL: &str =
    "if command -v setsid >/dev/null 2>&1; then exec setsid sh -c \"$1\"; else exec sh -c \"$1\"; fi";

/// A shell for one line; its input and outputs are left to the caller.
pub(in crate::source) fn command(line: &str, may_ask: bool) -> Command {
    let mut command = Command::new("sh");
    if may_ask {
        command.arg("-c").arg(line);
    } else {
        command.arg("-c").arg(WITHOUT_TERMINAL).arg("pelwatch").arg(line);
        // ssh asks this program instead, and it says no
        command.env("SSH_ASKPASS_REQUIRE", "force").env("SSH_ASKPASS", "/bin/false");
    }
    command.kill_on_drop(true);
    command
}
