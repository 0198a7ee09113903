//! Watches a real server with the test's own clock: ten minutes pass in seconds, and nothing waits.

use pelwatch::{
    clock::Clock,
    core::{
        store::{Focus, Reading, Settings},
        symptoms::Finding,
        time::{Mono, Now},
        watch::Watch,
    },
    source::{Link, Source, Target, target::Parts},
    testing::TestServer,
};
use tokio::runtime::{Builder, Runtime};

/// A watcher that reads everything at each look. Its clock advances one second between looks.
pub struct Paced {
    runtime: Runtime,
    link: Link,
    pub watch: Watch,
    at: Mono,
}

impl Paced {
    pub fn on(server: &TestServer, settings: Settings) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let parts = Parts { socket: Some(server.socket()), ..Parts::default() };
        let link = runtime.block_on(Link::connect(&Target::new(parts).unwrap(), Clock::start())).unwrap();
        Self { runtime, link, watch: Watch::new(settings), at: Mono(0) }
    }

    /// Looks one second later.
    pub fn look(&mut self) {
        self.look_and_wait(0);
    }

    /// Looks one second later, and judges the reading this many milliseconds after the server's reply.
    pub fn look_and_wait(&mut self, passed_ms: u64) {
        self.at = Mono(self.at.0 + 1000);
        self.watch.store.begin_reading(self.at);
        for round in 1..=64 {
            let request = self.watch.store.next_request(&Focus::All, self.at);
            let mut sample = self.runtime.block_on(self.link.sample(&request)).unwrap();
            sample.at = self.at;
            let now = Now { mono: Mono(self.at.0 + passed_ms), wall_ms: 0 };
            self.watch.take(sample, now, Reading::Full);
            if !self.watch.store.wants_more(round) {
                return;
            }
        }
        panic!("the reading never ends");
    }

    /// One poll of the dashboard with this focus, one second later.
    pub fn tick(&mut self, focus: &Focus) {
        self.at = Mono(self.at.0 + 1000);
        let request = self.watch.store.next_request(focus, self.at);
        let mut sample = self.runtime.block_on(self.link.sample(&request)).unwrap();
        sample.at = self.at;
        self.watch.take(sample, Now { mono: self.at, wall_ms: 0 }, Reading::Tick);
    }

    /// All findings of the last look.
    pub fn findings(&self) -> Vec<Finding> {
        let groups = self.watch.groups().flat_map(|seen| &seen.judgement.findings);
        let of_streams = self.watch.store.streams.keys().flat_map(|key| self.watch.verdicts.stream(key));
        groups.chain(of_streams).chain(self.watch.verdicts.server()).cloned().collect()
    }
}
