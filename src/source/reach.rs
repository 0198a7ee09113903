//! The one way to every server, whether it is alone or a node of a cluster: a transport (TCP, a unix socket, a command's input and output),
//! TLS over it if it is asked for, and on top of both Redis's own greeting, which the client library does.

use super::{
    LinkFault, Target,
    dial::{Reason, Via, Wire, tcp},
    target::Address,
};
use redis::RedisConnectionInfo;
use std::time::Duration;
use tokio::{net::UnixStream, time::timeout};

/// A command may be asked for a passphrase before the screen is taken: so long, at most.
const WHILE_ASKED: Duration = Duration::from_secs(120);

/// How long a connection may take until it is greeted. A command may ask the user something first.
pub(super) fn patience(target: &Target) -> Duration {
    if target.via().is_some_and(Via::may_ask) { WHILE_ASKED } else { target.connect_timeout() }
}

/// User, password, database: the password may have to be looked up first.
pub(super) async fn login(target: &Target) -> Result<RedisConnectionInfo, LinkFault> {
    let settings = target.settings().clone();
    let Some(passwords) = target.passwords() else { return Ok(settings) };
    match passwords.get(&target.door()).await {
        Ok(password) => Ok(settings.set_password(password)),
        Err(why) => Err(LinkFault::NotReached { endpoint: target.endpoint().to_owned(), why }),
    }
}

/// Connects.
pub(super) async fn reach(target: &Target, reason: &Reason) -> Result<Box<dyn Wire>, LinkFault> {
    let endpoint = || target.endpoint().to_owned();
    let limit = patience(target);
    let not_reached = |why: String| LinkFault::NotReached { endpoint: endpoint(), why };
    match timeout(limit, wire(target, reason)).await {
        Ok(Ok(wire)) => Ok(wire),
        Ok(Err(why)) => Err(not_reached(why)),
        Err(_) => Err(match (reason.get(), target.tls()) {
            (Some(why), _) => not_reached(why),
            // a server without TLS waits for more of what it takes for a command
            (None, Some(_)) => not_reached(format!(
                "no TLS handshake within {}: leave out --tls if this port does not speak it",
                humantime::format_duration(limit)
            )),
            (None, None) => LinkFault::Silent { endpoint: endpoint(), limit },
        }),
    }
}

async fn wire(target: &Target, reason: &Reason) -> Result<Box<dyn Wire>, String> {
    let (plain, host): (Box<dyn Wire>, &str) = match (target.address(), target.via()) {
        (Address::Tcp { host, port }, Some(via)) => (Box::new(via.start(host, *port, reason)?), host),
        (Address::Tcp { host, port }, None) => {
            (Box::new(tcp::connect(host, *port, target.connect_timeout()).await?), host)
        }
        (Address::Unix(path), _) => {
            (Box::new(UnixStream::connect(path).await.map_err(|error| error.to_string())?), "localhost")
        }
    };
    match target.tls() {
        Some(tls) => Ok(Box::new(tls.over(plain, host, reason).await?)),
        None => Ok(plain),
    }
}
