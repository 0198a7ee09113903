//! A real sshd on 127.0.0.1, with keys made for the test: the host that stands before the servers.

use super::wait_until;
use std::{
    fs,
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

/// Dropping it ends the sshd and all that came through it.
pub struct Bastion {
    folder: tempfile::TempDir,
    port: u16,
    child: Child,
}

impl Bastion {
    /// # Panics
    /// When there is no sshd: scripts/test installs one.
    pub fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["host", "mine", "strangers"] {
            let path = folder.path().join(name);
            let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&path).status();
            assert!(made.is_ok_and(|status| status.success()), "ssh-keygen makes a key (scripts/test installs ssh)");
        }
        fs::copy(folder.path().join("mine.pub"), folder.path().join("allowed")).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let at = |name: &str| folder.path().join(name).display().to_string();
        let lines = [
            format!("Port {port}"),
            "ListenAddress 127.0.0.1".to_owned(),
            format!("HostKey {}", at("host")),
            format!("AuthorizedKeysFile {}", at("allowed")),
            "PidFile none".to_owned(),
            "StrictModes no".to_owned(),
            "UsePAM no".to_owned(),
            "PasswordAuthentication no".to_owned(),
            "KbdInteractiveAuthentication no".to_owned(),
            "PermitRootLogin yes".to_owned(),
        ];
        fs::write(folder.path().join("sshd_config"), lines.join("\n")).unwrap();
        let child = spawn(folder.path());
        let mut bastion = Self { folder, port, child };
        bastion.wait_until_it_listens();
        bastion
    }

    /// The command for --via, with the key that is allowed.
    pub fn via(&self) -> String {
        self.via_with("mine")
    }

    /// With a key that is not.
    pub fn via_of_a_stranger(&self) -> String {
        self.via_with("strangers")
    }

    fn via_with(&self, key: &str) -> String {
        format!(
            "ssh -F none -i {} -o IdentitiesOnly=yes -o IdentityAgent=none -o StrictHostKeyChecking=no \
             -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o BatchMode=yes -p {} -W %h:%p 127.0.0.1",
            self.folder.path().join(key).display(),
            self.port
        )
    }

    /// Ends the sshd and the connections that it carries, as when a bastion is replaced.
    pub fn stop(&mut self) {
        // each connection has a process of its own, in a session of its own
        let all = descendants(self.child.id()).into_iter().map(|pid| pid.to_string());
        let _ = self.child.kill();
        let _ = Command::new("sh").args(["-c", "kill -KILL \"$@\" 2>/dev/null", "sh"]).args(all).status();
        let _ = self.child.wait();
    }

    pub fn start_again(&mut self) {
        self.child = spawn(self.folder.path());
        self.wait_until_it_listens();
    }

    fn wait_until_it_listens(&mut self) {
        let port = self.port;
        wait_until("sshd listens", Duration::from_secs(20), || TcpStream::connect(("127.0.0.1", port)).is_ok());
    }
}

impl Drop for Bastion {
    fn drop(&mut self) {
        self.stop();
    }
}

fn program() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    let found = folders.map(|folder| folder.join("sshd")).find(|path| path.is_file());
    found.expect("sshd is installed (package openssh-server; scripts/test installs it)")
}

/// All processes that came of one, from /proc.
fn descendants(root: u32) -> Vec<u32> {
    let stat = |pid: u32| fs::read_to_string(format!("/proc/{pid}/stat")).ok();
    let parent = |text: String| text.rsplit(") ").next()?.split(' ').nth(1)?.parse::<u32>().ok();
    let pids = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let families: Vec<(u32, u32)> = pids.filter_map(|pid| Some((pid, stat(pid).and_then(parent)?))).collect();
    let mut found = vec![root];
    let mut next = 0;
    while let Some(&of) = found.get(next) {
        found.extend(families.iter().filter(|(_, parent)| *parent == of).map(|(pid, _)| *pid));
        next += 1;
    }
    found.split_off(1)
}

/// sshd wants to be called by its whole path. It is the first of its process group, so that all of it can be ended.
fn spawn(folder: &Path) -> Child {
    use std::os::unix::process::CommandExt;
    // where root's sshd locks its children in; the package makes it when its service starts
    let _ = fs::create_dir_all("/run/sshd");
    let mut command = Command::new(program());
    command.arg("-D").arg("-e").arg("-f").arg(folder.join("sshd_config")).process_group(0);
    let log = fs::File::create(folder.join("log")).unwrap();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap()
}
