//! Finding the master. Sentinels are asked before each connection, since a failover makes another server the master. What they name is
//! checked: it must say itself that it is the master.

use super::{Link, LinkFault, Sentinels, Target, commands, decode, dial::Reason, fault::classify, reach};
use crate::{clock::Clock, core::name::visible};
use redis::{AsyncConnectionConfig, Cmd, Pipeline, RedisConnectionInfo, Value, aio::MultiplexedConnection, cmd};
use tokio::time::timeout;

/// What a sentinel says of a master.
#[derive(Debug, PartialEq, Eq)]
struct Named {
    host: String,
    port: u16,
    /// `failing over`, or that it does not answer; `None` while all is well.
    trouble: Option<&'static str>,
}

impl Sentinels {
    /// Connects to the master that they name now.
    pub(super) async fn connect(&self, target: &Target, clock: Clock) -> Result<(Link, Target), LinkFault> {
        let named = self.ask(target).await?;
        let at = target.named(&self.master, &named.host, named.port);
        let failing_over = |why: String| LinkFault::FailingOver { why };
        match Link::connect(&at, clock).await {
            Ok(link) if link.server().role.as_deref() == Some("replica") => {
                Err(failing_over(format!("{} is a replica, and the sentinels still name it", at.endpoint())))
            }
            Ok(link) => Ok((link, at)),
            // the sentinels agree that it is gone, or will: until then it may be this way only that is cut
            Err(fault) => Err(match named.trouble {
                Some(trouble) => failing_over(format!("{trouble}: {fault}")),
                None => fault,
            }),
        }
    }

    /// Asks one after the other until one knows the master.
    async fn ask(&self, target: &Target) -> Result<Named, LinkFault> {
        let mut silent = Vec::new();
        let mut ignorant = None;
        for address in self.addresses() {
            let at = target.at(&address.0, address.1);
            match self.ask_one(&at).await {
                Ok(Ok(named)) => {
                    self.prefer(&address);
                    return Ok(named);
                }
                Ok(Err(why)) => ignorant = Some(format!("sentinel {} {why}", at.endpoint())),
                Err(fault) => silent.push(fault.to_string()),
            }
        }
        let endpoint = self.endpoint();
        let why = ignorant.unwrap_or_else(|| format!("no sentinel answers ({})", silent.join("; ")));
        Err(LinkFault::NotReached { endpoint, why })
    }

    /// The inner error is a sentinel that answers and does not know the master.
    async fn ask_one(&self, at: &Target) -> Result<Result<Named, String>, LinkFault> {
        let limit = reach::patience(at);
        let silent = |_| LinkFault::Silent { endpoint: at.endpoint().to_owned(), limit };
        timeout(limit, self.talk(at)).await.map_err(silent)?
    }

    async fn talk(&self, at: &Target) -> Result<Result<Named, String>, LinkFault> {
        let reason = Reason::default();
        let wire = reach::reach(at, &reason).await?;
        let fault = |error: redis::RedisError| classify(at.endpoint(), at.reply_timeout(), &error);
        let config = AsyncConnectionConfig::new().set_response_timeout(Some(at.reply_timeout()));
        let nobody = RedisConnectionInfo::default().set_skip_set_lib_name();
        let (mut connection, driver) =
            MultiplexedConnection::new_with_config(&nobody, wire, config).await.map_err(fault)?;
        tokio::spawn(driver);
        let questions = [
            cmd("SENTINEL").arg("get-master-addr-by-name").arg(&self.master).clone(),
            cmd("SENTINEL").arg("master").arg(&self.master).clone(),
        ];
        let mut replies = send(&mut connection, &questions).await.map_err(fault)?;
        if wants_password(&replies)
            && let Some(login) = self.login(&reach::login(at).await?)
        {
            let said = send(&mut connection, &[login]).await.map_err(fault)?;
            if let Some(Value::ServerError(error)) = said.first() {
                let why = visible(error.details().unwrap_or(error.code()).as_bytes());
                return Err(LinkFault::Refused { endpoint: format!("sentinel {}", at.endpoint()), why });
            }
            replies = send(&mut connection, &questions).await.map_err(fault)?;
        }
        if wants_password(&replies) {
            let why =
                "it wants a password: give --sentinel-user, and the password in PELWATCH_SENTINEL_AUTH".to_owned();
            return Err(LinkFault::Refused { endpoint: format!("sentinel {}", at.endpoint()), why });
        }
        let [address, about] = &replies[..] else { return Ok(Err("gave no readable answer".to_owned())) };
        match address {
            Value::ServerError(error) if error.code() == "NOPERM" => {
                Ok(Err("does not allow SENTINEL get-master-addr-by-name to this user".to_owned()))
            }
            Value::ServerError(_) => Ok(Err("is no sentinel: it does not know SENTINEL".to_owned())),
            address => {
                if let Some(named) = read(address, about) {
                    return Ok(Ok(named));
                }
                let all = send(&mut connection, &[commands::plain("SENTINEL masters")]).await.map_err(fault)?;
                Ok(Err(self.unknown(&masters(&all))))
            }
        }
    }

    fn unknown(&self, known: &[String]) -> String {
        let master = visible(self.master.as_bytes());
        if known.is_empty() {
            format!("knows no master {master}, and names no other")
        } else {
            format!("knows no master {master}; it knows {}", known.join(", "))
        }
    }

    /// The sentinels' own user, else the server's: in many places it is the same.
    fn login(&self, settings: &RedisConnectionInfo) -> Option<Cmd> {
        let (user, password) = match &self.password {
            Some(password) => (self.user.as_deref(), password.as_str()),
            None => (self.user.as_deref().or_else(|| settings.username()), settings.password()?),
        };
        let mut login = cmd("AUTH");
        if let Some(user) = user {
            login.arg(user);
        }
        login.arg(password);
        Some(login)
    }
}

async fn send(connection: &mut MultiplexedConnection, commands: &[Cmd]) -> redis::RedisResult<Vec<Value>> {
    let mut pipe = Pipeline::with_capacity(commands.len());
    for command in commands {
        pipe.add_command(command.clone()).ignore_errors();
    }
    let replies = connection.send_packed_commands(&pipe, 0, commands.len()).await?;
    Ok(replies.into_iter().map(decode::bare).collect())
}

fn wants_password(replies: &[Value]) -> bool {
    replies.iter().any(|reply| matches!(reply, Value::ServerError(error) if error.code() == "NOAUTH"))
}

/// The replies to `SENTINEL get-master-addr-by-name` and `SENTINEL master`.
fn read(address: &Value, about: &Value) -> Option<Named> {
    let Value::Array(pair) = address else { return None };
    let [host, port] = &pair[..] else { return None };
    let flags = decode::field_text(about, "flags").unwrap_or_default();
    let has = |flag: &str| flags.split(',').any(|one| one == flag);
    let trouble = if has("failover_in_progress") || has("o_down") {
        Some("the sentinels are electing another master")
    } else if has("s_down") {
        Some("a sentinel finds that the master does not answer")
    } else {
        None
    };
    Some(Named { host: decode::text(host)?, port: decode::text(port)?.parse().ok()?, trouble })
}

/// The names in the reply to `SENTINEL masters`.
fn masters(replies: &[Value]) -> Vec<String> {
    let Some(Value::Array(all)) = replies.first() else { return Vec::new() };
    all.iter().filter_map(|one| decode::field_text(one, "name")).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::BulkString(text.as_bytes().to_vec())
    }

    #[test]
    fn the_flags_tell_whether_a_failover_is_under_way() {
        let address = Value::Array(vec![text("10.0.0.1"), text("6379")]);
        let said = |flags: &str| {
            let about = Value::Array(vec![text("name"), text("m"), text("flags"), text(flags)]);
            read(&address, &about).and_then(|named| named.trouble)
        };
        assert_eq!(said("master"), None);
        assert_eq!(said("s_down,master"), Some("a sentinel finds that the master does not answer"));
        let elects = Some("the sentinels are electing another master");
        assert_eq!((said("s_down,o_down,master"), said("master,failover_in_progress")), (elects, elects));
        assert_eq!(read(&Value::Nil, &Value::Nil), None);
        let alone = read(&address, &Value::Nil).unwrap();
        assert_eq!((alone.host.as_str(), alone.port, alone.trouble), ("10.0.0.1", 6379, None));
    }
}
