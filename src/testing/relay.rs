//! A TCP port that leads to a server's socket: slow, or suddenly without answers, as networks are.

use std::{
    io::{Read, Write},
    net::TcpListener,
    os::unix::net::UnixStream,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

/// Passes connections on until the test ends.
pub struct Relay {
    port: u16,
    deaf: Arc<AtomicBool>,
}

impl Relay {
    /// A way to the socket on which every chunk of bytes takes this long, in both directions.
    ///
    /// # Panics
    /// When there is no free port.
    pub fn to(socket: &Path, delay: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let (socket, deaf) = (socket.to_owned(), Arc::new(AtomicBool::new(false)));
        let to_all = Arc::clone(&deaf);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = UnixStream::connect(&socket) else { return };
                let (Ok(asks), Ok(answers)) = (client.try_clone(), server.try_clone()) else { return };
                let deaf = Arc::clone(&to_all);
                thread::spawn(move || pass(asks, server, delay, &AtomicBool::new(false)));
                thread::spawn(move || pass(answers, client, delay, &deaf));
            }
        });
        Self { port, deaf }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// While deaf, connections stay open, and no answer arrives: they are half-open.
    pub fn set_deaf(&self, deaf: bool) {
        self.deaf.store(deaf, Ordering::Relaxed);
    }
}

fn pass(mut from: impl Read, mut to: impl Write, delay: Duration, deaf: &AtomicBool) {
    let mut bytes = vec![0; 65_536];
    while let Ok(length @ 1..) = from.read(&mut bytes) {
        // the time on the way; nothing is waited for here
        thread::sleep(delay);
        if !deaf.load(Ordering::Relaxed) && to.write_all(&bytes[..length]).is_err() {
            return;
        }
    }
}
