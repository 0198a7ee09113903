//! Everything through `ssh -W` and a real sshd: a server, all nodes of a cluster, a master that a sentinel names.

use crate::{cluster::Cluster, sentinel::Replicated, ways::run};
use pelwatch::testing::{TestServer, bastion::Bastion, newest_from, relay::Relay};
use std::time::Duration;

#[test]
fn a_server_a_cluster_and_a_master_are_reached_through_ssh() {
    let Some(found) = newest_from((6, 0, 0)) else { return };
    let home = tempfile::tempdir().unwrap();
    let bastion = Bastion::start();
    let snapshot = |via: &str, words: &[&str]| {
        let all = [&["snapshot", "--json", "--via", via, "--connect-timeout", "20s"][..], words].concat();
        run(home.path(), &[], &all)
    };

    let server = TestServer::start(&found);
    server.run("XADD orders 1-0 n 1");
    server.run("XGROUP CREATE orders workers 0");
    let port = Relay::to(&server.socket(), Duration::ZERO).port().to_string();
    let (code, said) = snapshot(&bastion.via(), &["-h", "127.0.0.1", "-p", &port]);
    assert!(code == 0 && said.contains("\"workers\""), "{said}");

    let cluster = Cluster::start(&found);
    let (code, said) =
        snapshot(&bastion.via(), &["-h", "127.0.0.1", "-p", &cluster.nodes[0].port.to_string(), "--cluster"]);
    let streams = said.matches("\"length\": 2").count();
    assert_eq!((code, streams), (0, 6), "{said}");

    let set = Replicated::start(&found);
    let sentinel = format!("127.0.0.1:{}", set.sentinel.port);
    let (code, said) = snapshot(&bastion.via(), &["--sentinel", &sentinel, "--master", "orders"]);
    assert!(code == 0 && said.contains("\"workers\""), "{said}");
    assert!(said.contains(&format!("\"endpoint\": \"orders at 127.0.0.1:{}\"", set.relay.port())), "{said}");

    // ssh's own words are the reason
    let (code, said) = snapshot(&bastion.via_of_a_stranger(), &["-h", "127.0.0.1", "-p", &port]);
    assert!(code == 3 && said.contains("Permission denied (publickey)") && said.trim().lines().count() == 1, "{said}");
    let (code, said) = snapshot(&bastion.via(), &["-h", "127.0.0.1", "-p", "1"]);
    assert!(code == 3 && said.contains("the command of --via says: "), "{said}");
}
