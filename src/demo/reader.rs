//! One consumer of a group, with its own connection.

use std::path::Path;

use redis::{AsyncConnectionConfig, Client, ConnectionAddr, RedisResult, Value, aio::MultiplexedConnection};

/// How long a read waits for entries, in ms, before it returns none.
const BLOCK_MS: u64 = 2_000;

/// Connects to the private server and names the connection, so that `CLIENT LIST` shows who is alive.
pub(super) async fn connect(socket: &Path, name: &str) -> RedisResult<MultiplexedConnection> {
    // no response limit: a blocking read is silent for as long as its stream is
    let patient = AsyncConnectionConfig::new().set_response_timeout(None);
    let client = Client::open(ConnectionAddr::Unix(socket.to_owned()))?;
    let mut connection = client.get_multiplexed_async_connection_with_config(&patient).await?;
    redis::cmd("CLIENT").arg("SETNAME").arg(name).exec_async(&mut connection).await?;
    Ok(connection)
}

/// A working consumer. Dropping it closes its connection; its unacknowledged entries stay pending.
pub(super) struct Reader {
    connection: MultiplexedConnection,
    stream: &'static str,
    group: &'static str,
    consumer: &'static str,
}

impl Reader {
    pub(super) async fn connect(
        socket: &Path,
        stream: &'static str,
        group: &'static str,
        consumer: &'static str,
    ) -> RedisResult<Self> {
        let connection = connect(socket, consumer).await?;
        Ok(Self { connection, stream, group, consumer })
    }

    /// Takes up to `count` new entries. Waits two seconds for the first one, then returns none.
    pub(super) async fn take(&mut self, count: usize) -> RedisResult<Vec<String>> {
        let reply: Value = redis::cmd("XREADGROUP")
            .arg("GROUP")
            .arg(self.group)
            .arg(self.consumer)
            .arg("COUNT")
            .arg(count)
            .arg("BLOCK")
            .arg(BLOCK_MS)
            .arg("STREAMS")
            .arg(self.stream)
            .arg(">")
            .query_async(&mut self.connection)
            .await?;
        Ok(entry_ids(reply))
    }

    /// The oldest entries that this consumer holds, up to `count`.
    ///
    /// It uses XPENDING, not a read of the consumer's own history: such a read raises the delivery counts, and the demo would show
    /// redeliveries that never happened.
    pub(super) async fn in_hand(&mut self, count: usize) -> RedisResult<Vec<String>> {
        let rows: Vec<(String, String, i64, i64)> = redis::cmd("XPENDING")
            .arg(self.stream)
            .arg(self.group)
            .arg("-")
            .arg("+")
            .arg(count)
            .arg(self.consumer)
            .query_async(&mut self.connection)
            .await?;
        Ok(rows.into_iter().map(|(id, ..)| id).collect())
    }

    /// Acknowledges `ids`, which must not be empty.
    pub(super) async fn ack(&mut self, ids: &[String]) -> RedisResult<()> {
        redis::cmd("XACK").arg(self.stream).arg(self.group).arg(ids).exec_async(&mut self.connection).await
    }
}

/// The ids in an XREADGROUP reply over one stream, in either protocol. The nil of a read without entries gives none.
fn entry_ids(reply: Value) -> Vec<String> {
    let entries = match reply {
        // RESP2: [[name, entries]]
        Value::Array(streams) => streams.into_iter().next().and_then(|stream| match stream {
            Value::Array(pair) => pair.into_iter().nth(1),
            _ => None,
        }),
        // RESP3: {name: entries}
        Value::Map(streams) => streams.into_iter().next().map(|(_, entries)| entries),
        _ => None,
    };
    let Some(Value::Array(entries)) = entries else {
        return Vec::new();
    };
    entries.into_iter().filter_map(entry_id).collect()
}

fn entry_id(entry: Value) -> Option<String> {
    let Value::Array(parts) = entry else {
        return None;
    };
    match parts.into_iter().next()? {
        Value::BulkString(bytes) => String::from_utf8(bytes).ok(),
        Value::SimpleString(text) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::BulkString(text.as_bytes().to_vec())
    }

    #[test]
    fn ids_are_read_in_both_protocols() {
        let entry = |id| Value::Array(vec![text(id), Value::Array(vec![text("f"), text("v")])]);
        let entries = || Value::Array(vec![entry("1-0"), entry("2-0")]);
        let resp2 = Value::Array(vec![Value::Array(vec![text("orders"), entries()])]);
        let resp3 = Value::Map(vec![(text("orders"), entries())]);
        assert_eq!(entry_ids(resp2), ["1-0", "2-0"]);
        assert_eq!(entry_ids(resp3), ["1-0", "2-0"]);
        assert!(entry_ids(Value::Nil).is_empty());
    }
}
