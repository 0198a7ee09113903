//! Watching changes nothing on the server.

use redis::Value;

use crate::session::{LIMIT, open_group, polls, seed_orders, text, wait_polls, watch_orders};
use pelwatch::testing::{TestServer, each_server, wait_until};

/// The commands that watching may send. They only read, or they concern only the connection.
const ALLOWED: [&str; 15] = [
    "auth",
    "client",
    "exec",
    "hello",
    "info",
    "multi",
    "pttl",
    "scan",
    "select",
    "time",
    "type",
    "xinfo",
    "xpending",
    "xrange",
    "xrevrange",
];

/// Everything known about the group except the ages, which grow by themselves.
fn state(server: &TestServer) -> (Value, Value, Vec<(String, i64)>) {
    let consumers: Vec<std::collections::BTreeMap<String, Value>> =
        redis::from_redis_value(server.run("XINFO CONSUMERS Orders workers")).unwrap();
    let mut held = Vec::new();
    for consumer in consumers {
        let name: String = redis::from_redis_value(consumer["name"].clone()).unwrap();
        held.push((name, redis::from_redis_value(consumer["pending"].clone()).unwrap()));
    }
    (server.run("DUMP Orders"), server.run("XINFO GROUPS Orders"), held)
}

/// Name, idle time and delivery count of each pending entry.
fn pending(server: &TestServer) -> Vec<(String, String, i64, i64)> {
    redis::from_redis_value(server.run("XPENDING Orders workers - + 100")).unwrap()
}

/// How often each command was called, by its name without the subcommand.
fn commands(server: &TestServer) -> Vec<String> {
    let stats = text(server, "INFO commandstats");
    let names = stats.lines().filter_map(|line| line.strip_prefix("cmdstat_")?.split(':').next());
    names.map(|name| name.split('|').next().unwrap_or(name).to_owned()).collect()
}

#[test]
fn watching_a_group_leaves_every_byte_of_it_as_it_was() {
    each_server(|server, found| {
        seed_orders(server);
        let (before, idle_before) = (state(server), pending(server));
        let connections = text(server, "INFO clients");
        server.run("CONFIG RESETSTAT");

        let mut terminal = watch_orders(server);
        open_group(&mut terminal);
        // an entry with its payload, the other panes, the zooms
        terminal.send("j\r");
        terminal.wait_text("held by c1", LIMIT);
        terminal.send("\x1b");
        terminal.wait_gone("held by c1", LIMIT);
        terminal.send("\tz\tzzllh");
        wait_polls(server, 30);
        // the LRU clock advances although the key is read all the time: CLIENT NO-TOUCH, 7.2 and later
        if found.compat() >= (7, 2, 0) {
            wait_until("the key looks unused", LIMIT, || {
                redis::from_redis_value::<i64>(server.run("OBJECT IDLETIME Orders")).unwrap() >= 2
            });
        }

        let sent = commands(server);
        assert!(polls(server) > 30);
        let own = ["object", "config"];
        let odd = |name: &&String| !ALLOWED.contains(&name.as_str()) && !own.contains(&name.as_str());
        assert_eq!(sent.iter().find(odd), None, "{found}: {sent:?}");
        terminal.send("\x03");
        assert_eq!(terminal.wait_exit(LIMIT), 0);

        assert_eq!(state(server), before, "{found}");
        for (was, is) in idle_before.iter().zip(pending(server)) {
            assert_eq!((&was.0, &was.1, was.3), (&is.0, &is.1, is.3), "{found}");
            assert!(is.2 >= was.2, "{found}: the idle time of {} went back", is.0);
        }
        wait_until("its connection is closed", LIMIT, || {
            let count = |info: &str| info.lines().find(|line| line.starts_with("connected_clients")).map(str::to_owned);
            count(&text(server, "INFO clients")) == count(&connections)
        });
    });
}
