//! The census and the cost of watching, on real servers.

use std::collections::{BTreeMap, BTreeSet};

use crate::live::{Depth, Eye, Watcher, entries};
use pelwatch::{
    core::{
        census::{DELIVERIES, Tally},
        id::EntryId,
        store::Extreme,
    },
    testing::{TestServer, each_server},
};

/// Id, holder, idle time in milliseconds, delivery count.
type Row = (String, String, i64, i64);

fn rows(server: &TestServer) -> Vec<Row> {
    redis::from_redis_value(server.run("XPENDING k g - + 100000")).unwrap()
}

fn entry(text: &str) -> EntryId {
    EntryId::parse(text.as_bytes()).unwrap()
}

/// Entries 1-0 to `count`-0, given to three consumers in turn. Some are delivered again, some deleted, the first ones trimmed.
fn seed(server: &TestServer, count: usize) {
    let mut add = redis::pipe();
    (1..=count).for_each(|n| {
        add.cmd("XADD").arg("k").arg(format!("{n}-0")).arg("f").arg("v").ignore();
    });
    add.exec(&mut server.connect().unwrap()).unwrap();
    server.run("XGROUP CREATE k g 0");
    for reader in 0..6 {
        server.run(&format!("XREADGROUP GROUP g c{} COUNT {} STREAMS k >", reader % 3, count / 6));
    }
    // deliver some again, as after a claim, one of them with an idle time that was set, not waited for
    for (n, times) in [(7, 3), (count / 2, 6), (count - 9, 12)] {
        server.run(&format!("XCLAIM k g c1 0 {n}-0 RETRYCOUNT {times}"));
    }
    server.run(&format!("XCLAIM k g c2 0 {}-0 IDLE 5000000", count / 3));
    let deleted: Vec<String> = (1..=count).filter(|n| n % 11 == 0).map(|n| format!("{n}-0")).collect();
    server.run(&format!("XDEL k {}", deleted.join(" ")));
    let keep = count - deleted.len() - 40;
    server.run(&format!("XTRIM k MAXLEN {keep}"));
}

/// Looks and walks until a walk is complete.
fn walk(watcher: &mut Watcher, eye: &mut Eye) -> Tally {
    for _ in 0..100 {
        watcher.look(eye);
        if let Some(done) = &watcher.group("g").unwrap().1.census.done {
            return (**done).clone();
        }
        while watcher.step(eye) {}
    }
    panic!("no walk was completed");
}

#[test]
fn a_walk_counts_what_the_whole_list_says() {
    each_server(|server, found| {
        seed(server, 2400);
        let (mut eye, before) = (Eye::on(server), server.run("XINFO GROUPS k"));
        let mut watcher = Watcher::new(Depth::Group, &eye);
        let tally = walk(&mut watcher, &mut eye);
        assert_eq!(server.run("XINFO GROUPS k"), before, "{found}: a walk changes nothing");
        let (rows, there): (Vec<Row>, BTreeSet<EntryId>) = (rows(server), entries(server).into_iter().collect());

        assert_eq!(tally.walked, rows.len() as i64, "{found}");
        let gone = rows.iter().filter(|(id, ..)| !there.contains(&entry(id))).count() as i64;
        assert_eq!((tally.gone, tally.unsure), (gone, 0), "{found}");
        assert!(gone > 200, "{found}: {gone}");
        let class = |n: i64| DELIVERIES.iter().rposition(|from| n >= *from).unwrap();
        let mut deliveries = [0; DELIVERIES.len()];
        for row in &rows {
            deliveries[class(row.3)] += 1;
        }
        assert_eq!(tally.deliveries, deliveries, "{found}");
        let mut held: BTreeMap<&str, i64> = BTreeMap::new();
        for row in &rows {
            *held.entry(&row.1).or_default() += 1;
        }
        let walked = tally.holders.unwrap().into_iter().map(|(name, held)| (name.shown(), held.entries));
        assert!(walked.eq(held.into_iter().map(|(name, count)| (name.to_owned(), count))), "{found}");

        // the screen's numbers after the walk, and at the next looks
        watcher.look(&mut eye);
        let oldest = rows.iter().max_by_key(|row| row.2).unwrap();
        let (stream, group) = watcher.group("g").unwrap();
        let Extreme::Exact(Some((ms, id))) = group.oldest_idle(watcher.now()) else {
            panic!("{found}: {:?}", group.oldest_idle(watcher.now()))
        };
        assert_eq!(id, entry(&oldest.0), "{found}");
        assert!(ms >= 5_000_000, "{found}: {ms}");
        assert_eq!(group.pel.max_deliveries().value(), rows.iter().map(|row| row.3).max(), "{found}");
        // before 7.0 the server does not count deliveries, so nothing tells how many entries left since the walk
        let counted = found.compat() >= (7, 0, 0);
        let (told, exact) = group.payload_gone(stream).unwrap();
        assert!(exact == counted && if exact { told == gone } else { told <= gone }, "{found}: {told} of {gone}");
        server.run(&format!("XACK k g {}", oldest.0));
        watcher.look(&mut eye);
        let next =
            rows.iter().filter(|row| row.0 != oldest.0).max_by_key(|row| (row.2, std::cmp::Reverse(entry(&row.0))));
        if counted {
            // the acknowledged entry may have been one of those without payload
            let (stream, group) = watcher.group("g").unwrap();
            assert_eq!(group.payload_gone(stream), Some((gone - 1, false)), "{found}");
        }
        let (_, group) = watcher.group("g").unwrap();
        let (found_ms, next_ms) = (group.oldest_idle(watcher.now()).value().unwrap(), next.unwrap().2);
        assert!(matches!(group.oldest_idle(watcher.now()), Extreme::Exact(_)), "{found}");
        assert!((next_ms..next_ms + 60_000).contains(&found_ms), "{found}: {found_ms} after {next_ms}");
    });
}

#[test]
fn a_large_pel_is_searched_for_its_oldest_entry_first_where_the_server_can_filter() {
    each_server(|server, found| {
        let count = 60_000;
        let mut add = redis::pipe();
        (1..=count).for_each(|n| {
            add.cmd("XADD").arg("k").arg(format!("{n}-0")).arg("f").arg("v").ignore();
        });
        add.exec(&mut server.connect().unwrap()).unwrap();
        server.run("XGROUP CREATE k g 0");
        for reader in 0..20 {
            server.run(&format!("XREADGROUP GROUP g c{reader} COUNT {} STREAMS k >", count / 20));
        }
        server.run(&format!("XCLAIM k g c7 0 {}-0 IDLE 9000000 JUSTID", count - 100));
        let mut eye = Eye::on(server);
        let mut watcher = Watcher::new(Depth::Group, &eye);
        (0..3).for_each(|_| watcher.look(&mut eye));
        let mut steps = 0;
        let known = loop {
            if let Extreme::Exact(Some((_, id))) = watcher.group("g").unwrap().1.oldest_idle(watcher.now()) {
                break id;
            }
            steps += i32::from(watcher.step(&mut eye));
            watcher.look(&mut eye);
            assert!(steps < 1000, "{found}: it is never known");
        };
        assert_eq!(known, EntryId::new(count - 100, 0), "{found}");
        let walked = watcher.group("g").unwrap().1.census.shown().unwrap();
        if found.compat() >= (6, 2, 0) && !walked.is_complete() {
            assert!(walked.walked < count as i64 / 10, "{found}: known after {} rows", walked.walked);
        }
    });
}

/// A number of INFO stats, and the size of that reply in bytes.
fn info(server: &TestServer, field: &str) -> (i64, i64) {
    let text: String = redis::from_redis_value(server.run("INFO stats")).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':')).unwrap();
    (line.parse().unwrap(), text.len() as i64)
}

#[test]
fn the_bill_is_what_the_server_counts() {
    each_server(|server, found| {
        seed(server, 1200);
        let mut eye = Eye::on(server);
        let mut watcher = Watcher::new(Depth::Group, &eye);
        watcher.look(&mut eye);
        let billed = watcher.store().total_cost;
        let (commands, _) = info(server, "total_commands_processed");
        let (bytes, reply) = info(server, "total_net_output_bytes");
        server.run("CONFIG RESETSTAT");
        let (commands_at, bytes_at) =
            (info(server, "total_commands_processed").0, info(server, "total_net_output_bytes").0);
        assert!(commands_at <= commands && bytes_at <= bytes + reply);
        for _ in 0..5 {
            watcher.look(&mut eye);
            while watcher.step(&mut eye) {}
        }
        watcher.look(&mut eye);
        let cost = watcher.store().total_cost;
        let text: String = redis::from_redis_value(server.run("INFO commandstats")).unwrap();
        // name, calls, microseconds, without the test's own commands
        let stats: Vec<(&str, i64, i64)> = text
            .lines()
            .filter_map(|line| {
                let (name, rest) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
                let (calls, rest) = rest.split_once(",usec=")?;
                Some((name, calls.parse().ok()?, rest.split(',').next()?.parse().ok()?))
            })
            .filter(|(name, ..)| !name.starts_with("info") && !name.starts_with("config"))
            .collect();
        let calls: i64 = stats.iter().map(|(_, calls, _)| calls).sum();
        // INFO replication is sent occasionally and is not in the list above
        let sent = (cost.commands - billed.commands) as i64;
        assert!((calls..=calls + 3).contains(&sent), "{found}: {sent} billed, {calls} counted: {stats:?}");
        // the commands inside EXEC count in EXEC and on their own
        let of =
            |prefix: &str| stats.iter().filter(|(name, ..)| name.starts_with(prefix)).map(|(.., us)| us).sum::<i64>();
        let least = of("exec");
        let spent = cost.server_us.unwrap() as i64 - billed.server_us.unwrap() as i64;
        assert!(spent >= least, "{found}: {spent} us billed, {least} us counted in EXEC alone: {stats:?}");
        let (sent_out, reply) = info(server, "total_net_output_bytes");
        let received = (cost.bytes_in - billed.bytes_in) as i64;
        let seen = sent_out - bytes_at;
        assert!(
            (received..=received + 3 * reply + 64_000).contains(&seen),
            "{found}: {received} bytes billed, {seen} sent to all"
        );
    });
}
