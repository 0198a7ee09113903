//! Names that are not UTF-8, where the server repeats them in its errors.

use crate::live::{Depth, Eye, Watcher};
use pelwatch::testing::each_server;

#[test]
fn a_group_of_any_name_may_go_away_between_two_ticks() {
    each_server(|server, _| {
        for name in [&b"\xff\xfe"[..], b"a\r\nb", b"", b"\0", b"g\xc3"] {
            server.run("FLUSHALL");
            server.run("XADD k 1-0 f v");
            server.command(&[b"XGROUP", b"CREATE", b"k", name, b"0"]);
            let mut eye = Eye::on(server);
            let mut watcher = Watcher::new(Depth::Overview, &eye);
            (0..2).for_each(|_| watcher.look(&mut eye));
            // the next tick asks for the group's consumers and gets an error that contains the name
            server.command(&[b"XGROUP", b"DESTROY", b"k", name]);
            (0..2).for_each(|_| watcher.look(&mut eye));
            let events: Vec<_> = watcher.store().events.iter().map(|event| event.id).collect();
            assert_eq!(events, ["group-lost"], "{name:?}");
        }
    });
}
