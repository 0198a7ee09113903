//! One connection: the greeting, a tick's pipeline, and the replies sorted into a sample.

use super::{
    LinkFault, Source, Target,
    block::{Block, Step, block, steps_in_order, unpack},
    caps::{self, Caps},
    census, commands, decode,
    dial::Reason,
    fault::classify,
    info, last_words,
    password::Renewal,
    reach,
};
use crate::{
    clock::Clock,
    core::{
        census::{Answer, Step as CensusStep},
        id::EntryId,
        model::ServerFacts,
        name::{Name, visible},
        number::us,
        sample::{
            Cost, EntryPayload, Fault, Field, GroupDetail, Part, Reached, Request, Sample, ScanRequest, ScanSample,
            StreamRequest, StreamSample,
        },
    },
};
use redis::{AsyncConnectionConfig, Cmd, Pipeline, Value, aio::MultiplexedConnection};
use std::{
    borrow::Cow,
    time::{Duration, Instant},
};
use tokio::time::timeout;

pub struct Link {
    connection: MultiplexedConnection,
    endpoint: String,
    reply_timeout: Duration,
    /// Why the connection ended, where a layer below the protocol knows it.
    reason: Reason,
    caps: Caps,
    clock: Clock,
    greeted: Option<ServerFacts>,
    server: ServerFacts,
    /// The cost of the greeting, added to the first sample's cost.
    unbilled: Cost,
    /// Where sentinels led to, until a sample says it.
    found: Option<Reached>,
    /// If the password ends some day.
    renewal: Option<Renewal>,
    user: Option<String>,
    /// The server must be a master: if it says that it is none, another one is to be found.
    must_be_master: bool,
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").field("endpoint", &self.endpoint).field("caps", &self.caps).finish_non_exhaustive()
    }
}

impl Link {
    /// Connects and greets the server.
    pub async fn connect(target: &Target, clock: Clock) -> Result<Self, LinkFault> {
        let reason = Reason::default();
        match Self::greeted(target, clock, &reason).await {
            Err(fault) => {
                if let (LinkFault::Refused { .. }, Some(passwords)) = (&fault, target.passwords()) {
                    passwords.forget().await;
                }
                Err(last_words::explain(fault, target, &reason).await)
            }
            link => link,
        }
    }

    async fn greeted(target: &Target, clock: Clock, reason: &Reason) -> Result<Self, LinkFault> {
        let endpoint = target.endpoint().to_owned();
        let settings = reach::login(target).await?;
        let wire = reach::reach(target, reason).await?;
        let config = AsyncConnectionConfig::new().set_response_timeout(Some(target.reply_timeout()));
        // a command may ask for a passphrase before its first byte
        let limit = reach::patience(target);
        let opening = MultiplexedConnection::new_with_config(&settings, wire, config);
        let (connection, driver) = match timeout(limit, opening).await {
            Ok(opened) => opened.map_err(|error| classify(&endpoint, limit, &error))?,
            Err(_) => return Err(LinkFault::Silent { endpoint, limit }),
        };
        tokio::spawn(driver);
        let mut link = Self {
            connection,
            endpoint: endpoint.clone(),
            reply_timeout: target.reply_timeout(),
            reason: reason.clone(),
            caps: Caps::default(),
            clock,
            greeted: None,
            server: ServerFacts::default(),
            unbilled: Cost::default(),
            found: None,
            renewal: target.passwords().and_then(|passwords| Renewal::new(passwords, target.door())),
            user: target.settings().username().map(str::to_owned),
            must_be_master: false,
        };
        match timeout(limit, link.greet()).await {
            Ok(greeted) => greeted?,
            Err(_) => return Err(LinkFault::Silent { endpoint, limit }),
        }
        if !caps::no_touch_is_safe(&link.server) {
            let (_, more) = link.send(&[commands::plain("CLIENT NO-TOUCH OFF")]).await?;
            link.unbilled.add(more);
        }
        if link.server.cluster && link.server.role.as_deref() == Some("replica") && !target.is_cluster() {
            // without READONLY a cluster's replica redirects every read
            let (_, more) = link.send(&[commands::plain("READONLY")]).await?;
            link.unbilled.add(more);
        }
        Ok(link)
    }

    async fn greet(&mut self) -> Result<(), LinkFault> {
        let greeting = caps::greeting();
        let commands: Vec<Cmd> = greeting.iter().map(|(_, cmd)| cmd.clone()).collect();
        let (replies, cost) = self.send(&commands).await?;
        self.unbilled = cost;
        for ((name, _), reply) in greeting.iter().zip(&replies) {
            if let Value::ServerError(error) = reply
                && error.code() == "NOAUTH"
            {
                let why = "it wants a password: give --askpass, or put it into REDISCLI_AUTH".to_owned();
                return Err(LinkFault::Refused { endpoint: self.endpoint.clone(), why });
            }
            // the connection's name and NO-TOUCH are courtesies: no column goes blank without them
            if !name.starts_with("CLIENT") && *name != "HELLO" {
                self.caps.note_refusal(name, reply);
            }
        }
        if let [hello, _, _, server, replication] = replies.as_slice() {
            self.server = caps::server(hello, server, replication);
            self.greeted = Some(self.server.clone());
        }
        Ok(())
    }

    /// The link to a master that sentinels named.
    pub(super) fn found_by_sentinels(mut self, at: &Target) -> Self {
        self.found = Some(Reached { endpoint: at.place(), cli_words: at.cli_words() });
        self.must_be_master = true;
        self
    }

    /// Logs in once more before the password ends, on the same connection.
    async fn renew(&mut self) -> Result<Cost, LinkFault> {
        let Some(renewal) = &mut self.renewal else { return Ok(Cost::default()) };
        let Some(password) = renewal.ready().await else { return Ok(Cost::default()) };
        let mut login = redis::cmd("AUTH");
        login.arg(self.user.as_deref().unwrap_or("default")).arg(password);
        let (replies, cost) = self.send(&[login]).await?;
        match replies.first() {
            Some(Value::ServerError(error)) => {
                let why = visible(error.details().unwrap_or(error.code()).as_bytes());
                Err(LinkFault::Refused { endpoint: self.endpoint.clone(), why })
            }
            _ => Ok(cost),
        }
    }

    pub(super) fn clock(&self) -> Clock {
        self.clock
    }

    /// Whether a stream's commands are sent in one MULTI.
    pub(super) fn asks_whole(&self, key: &Name) -> bool {
        self.caps.asks_whole(key, self.clock.mono())
    }

    /// Sends commands one by one from now on, because MULTI was refused with this reply.
    pub(super) fn ask_singly(&mut self, refusal: &Value) {
        self.caps.no_multi = Some(self.clock.mono());
        self.caps.note_refusal("MULTI", refusal);
    }

    /// What the greeting found out about the server.
    pub fn server(&self) -> &ServerFacts {
        &self.server
    }

    /// Sends the commands as one pipeline, in one round trip. Each command gets its own reply or error.
    pub(super) async fn send(&mut self, commands: &[Cmd]) -> Result<(Vec<Value>, Cost), LinkFault> {
        if commands.is_empty() {
            return Ok((Vec::new(), Cost::default()));
        }
        let mut pipe = Pipeline::with_capacity(commands.len());
        for cmd in commands {
            pipe.add_command(cmd.clone()).ignore_errors();
        }
        let start = Instant::now();
        let replies = self.connection.send_packed_commands(&pipe, 0, commands.len()).await;
        let replies = replies.map_err(|error| {
            match (classify(&self.endpoint, self.reply_timeout, &error), self.reason.get()) {
                (LinkFault::Broken { endpoint, .. } | LinkFault::NotReached { endpoint, .. }, Some(why)) => {
                    LinkFault::Broken { endpoint, why }
                }
                // the library does not say why it gave up: the connection ended, or the bytes were not a valid reply
                (LinkFault::Broken { endpoint, why }, None) if error.is_io_error() => LinkFault::Broken {
                    endpoint,
                    why: format!("the server hung up, or its answer cannot be read ({why})"),
                },
                (fault, _) => fault,
            }
        })?;
        let weights: Vec<u64> = replies.iter().map(decode::weight).collect();
        let replies = replies.into_iter().map(decode::bare).collect();
        let cost = Cost {
            commands: commands.len() as u64,
            round_trips: 1,
            bytes_in: weights.iter().sum(),
            slowest_reply_us: us(start.elapsed()),
            largest_reply: weights.into_iter().max().unwrap_or(0),
            server_us: None,
        };
        Ok((replies, cost))
    }

    /// Like `send`, and also measures the server's time with TIME, where that is allowed.
    pub(super) async fn send_timed(&mut self, mut commands: Vec<Cmd>) -> Result<(Vec<Value>, Cost), LinkFault> {
        if self.caps.is_denied("TIME") {
            return self.send(&commands).await;
        }
        commands.insert(0, commands::plain("TIME"));
        commands.push(commands::plain("TIME"));
        let (mut replies, mut cost) = self.send(&commands).await?;
        cost.server_us = decode::time_between(&replies);
        replies.pop();
        replies.remove(0);
        Ok((replies, cost))
    }

    async fn scan(&mut self, request: &ScanRequest, reply: &Value, cost: &mut Cost) -> Result<ScanSample, LinkFault> {
        let no_type = matches!(decode::scan(reply), Err(Fault::Other(ref text)) if text.contains("syntax error"));
        if no_type && !self.caps.no_scan_type {
            self.caps.no_scan_type = true;
            let (replies, more) = self.send(&[commands::scan(request, false)]).await?;
            cost.add(more);
            return self.sort_out_types(&replies[0], cost).await;
        }
        if self.caps.no_scan_type {
            return self.sort_out_types(reply, cost).await;
        }
        Ok(self.scanned(reply))
    }

    fn scanned(&mut self, reply: &Value) -> ScanSample {
        match decode::scan(reply) {
            Ok((cursor, keys)) => ScanSample { keys, cursor, fault: None },
            Err(fault) => {
                if matches!(fault, Fault::Denied(_)) {
                    self.caps.denied.insert("SCAN");
                }
                ScanSample { fault: Some(fault), ..ScanSample::default() }
            }
        }
    }

    /// Before 6.0: asks the type of every key found, in one more round trip.
    async fn sort_out_types(&mut self, reply: &Value, cost: &mut Cost) -> Result<ScanSample, LinkFault> {
        let mut found = self.scanned(reply);
        let asks: Vec<Cmd> = found.keys.iter().map(commands::key_type).collect();
        let (types, more) = self.send(&asks).await?;
        cost.add(more);
        let mut types = types.iter();
        found.keys.retain(|_| types.next().and_then(decode::text).as_deref() == Some("stream"));
        Ok(found)
    }
}

impl Link {
    pub(super) fn collect(
        &mut self,
        request: &StreamRequest,
        steps: &[(Step, Cmd)],
        replies: &[Value],
        consistent: bool,
    ) -> StreamSample {
        let mut sample = StreamSample {
            key: request.key.clone(),
            facts: Err(if request.facts { Fault::Other("not answered".to_owned()) } else { Fault::Unasked }),
            groups: Err(Fault::Other("not answered".to_owned())),
            consistent,
            origin: None,
            ttl_ms: None,
            ranges: Vec::new(),
            details: request
                .groups
                .iter()
                .map(|g| GroupDetail { name: g.name.clone(), ..GroupDetail::default() })
                .collect(),
        };
        for ((step, _), reply) in steps.iter().zip(replies) {
            self.caps.note_refusal(step.command(), reply);
            match *step {
                Step::Facts => sample.facts = decode::stream(reply),
                Step::Groups => sample.groups = decode::groups(reply),
                Step::Range(index) => {
                    let range = request.ranges[index];
                    sample.ranges.push((range, decode::range_ids(reply, range.backward)));
                }
                Step::Consumers(index) => sample.details[index].consumers = Some(decode::consumers(reply)),
                Step::Summary(index) => sample.details[index].summary = Some(decode::summary(reply)),
                Step::Page(index, number) => {
                    let page = request.groups[index].pages[number].clone();
                    sample.details[index].pages.push((page, decode::pending(reply)));
                }
            }
        }
        sample
    }
}

impl Link {
    /// Drops groups that are gone from the request, if a name is not UTF-8. The server repeats the name in its NOGROUP error as it is,
    /// and the library breaks the connection on an error line that is not UTF-8. Without this, pelwatch would reconnect, ask the same and
    /// break again, forever. It costs one more round trip, for such names only.
    async fn without_gone<'a>(&mut self, request: &'a Request, cost: &mut Cost) -> Result<Cow<'a, Request>, LinkFault> {
        let is_text = |name: &Name| std::str::from_utf8(name.bytes()).is_ok();
        let is_odd = |stream: &StreamRequest| {
            !stream.groups.is_empty()
                && (!is_text(&stream.key) || stream.groups.iter().any(|group| !is_text(&group.name)))
        };
        let asks: Vec<Cmd> =
            request.streams.iter().filter(|s| is_odd(s)).map(|s| commands::xinfo_groups(&s.key)).collect();
        if asks.is_empty() {
            return Ok(Cow::Borrowed(request));
        }
        let (replies, more) = self.send(&asks).await?;
        cost.add(more);
        let mut request = request.clone();
        for (stream, reply) in request.streams.iter_mut().filter(|stream| is_odd(stream)).zip(&replies) {
            let there = decode::groups(reply).unwrap_or_default();
            stream.groups.retain(|group| there.iter().any(|found| found.name == group.name));
        }
        Ok(Cow::Owned(request))
    }
}

impl Source for Link {
    async fn sample(&mut self, request: &Request) -> Result<Sample, LinkFault> {
        let mut cost = std::mem::take(&mut self.unbilled);
        cost.add(self.renew().await?);
        let request = &*self.without_gone(request, &mut cost).await?;
        let with_time = !self.caps.is_denied("TIME");
        let with_info = request.server && self.greeted.is_none() && !self.caps.is_denied("INFO");
        let mut commands = Vec::new();
        commands.extend(with_time.then(|| commands::plain("TIME")));
        commands.extend(with_info.then(|| commands::plain("INFO replication")));
        commands.extend(request.scan.as_ref().map(|scan| commands::scan(scan, !self.caps.no_scan_type)));
        let with_clients = request.clients && !self.caps.is_denied("CLIENT LIST");
        commands.extend(with_clients.then(|| commands::plain("CLIENT LIST")));
        let condition = request.condition.as_ref().filter(|_| !self.caps.is_denied("INFO"));
        let about = condition.map_or_else(Vec::new, |request| info::commands_of(request, &self.server));
        commands.extend(about.iter().cloned());
        let with_ttl = !self.caps.is_denied("PTTL");
        let plans: Vec<_> = request
            .streams
            .iter()
            .map(|stream| {
                let multi = self.asks_whole(&stream.key);
                (stream, steps_in_order(stream, multi), multi)
            })
            .collect();
        for (stream, steps, multi) in &plans {
            commands.extend(block(steps, *multi, false));
            // outside of MULTI, where a refusal would take the rest with it
            commands.extend((with_ttl && stream.ttl).then(|| commands::pttl(&stream.key)));
        }
        commands.extend(with_time.then(|| commands::plain("TIME")));
        let (replies, mut spent) = self.send(&commands).await?;
        spent.server_us = if with_time { decode::time_between(&replies) } else { None };
        cost.add(spent);
        let mut replies = replies.into_iter();
        let mut sample = Sample::default();
        if let Some(time) = with_time.then(|| replies.next()).flatten() {
            sample.time_ms = decode::time_ms(&time);
            self.caps.note_refusal("TIME", &time);
        }
        sample.at = self.clock.mono();
        if let Some(info) = with_info.then(|| replies.next()).flatten() {
            caps::replication_facts(&mut self.server, &info);
            if self.must_be_master && self.server.role.as_deref() == Some("replica") {
                let why = format!("{} is a replica now", self.endpoint);
                return Err(LinkFault::FailingOver { why });
            }
            sample.server = Some(self.server.clone());
        }
        let scan_reply = request.scan.as_ref().and_then(|_| replies.next());
        if request.clients {
            let list = with_clients.then(|| replies.next()).flatten();
            if let Some(reply) = &list {
                self.caps.note_refusal("CLIENT LIST", reply);
            }
            sample.client_names = Some(list.as_ref().and_then(decode::client_names));
        }
        if let Some(request) = condition {
            let replies: Vec<Value> = replies.by_ref().take(about.len()).collect();
            replies.iter().zip(info::names_of(request, about.len())).for_each(|(reply, name)| {
                self.caps.note_refusal(name, reply);
            });
            sample.conditions.push(info::answer(request, &replies));
        }
        let (mut aborted, mut ttls) = (Vec::new(), Vec::new());
        for (stream, steps, multi) in plans {
            let count = steps.len() + if multi { 2 } else { 0 };
            let part: Vec<Value> = replies.by_ref().take(count).collect();
            let opening = part.first().cloned().unwrap_or(Value::Nil);
            let outcome = if multi { unpack(part) } else { Block::Skewed(part) };
            let collected = match outcome {
                Block::Whole(values) => {
                    self.caps.denied.remove("MULTI");
                    self.collect(stream, &steps, &values, true)
                }
                Block::Skewed(values) => {
                    if multi {
                        self.ask_singly(&opening);
                    }
                    self.collect(stream, &steps, &values, false)
                }
                Block::Astray(values) => self.collect(stream, &steps, &values, false),
                Block::Aborted => {
                    self.caps.plain_keys.insert(stream.key.clone(), sample.at);
                    let nothing = self.collect(stream, &[], &[], false);
                    aborted.push((sample.streams.len(), stream, steps_in_order(stream, false)));
                    nothing
                }
            };
            sample.streams.push(collected);
            if let Some(reply) = (with_ttl && stream.ttl).then(|| replies.next()).flatten() {
                self.caps.note_refusal("PTTL", &reply);
                ttls.push((sample.streams.len() - 1, decode::ttl_ms(&reply)));
            }
        }
        if !aborted.is_empty() {
            let again: Vec<Cmd> = aborted.iter().flat_map(|(_, _, steps)| block(steps, false, false)).collect();
            let (replies, spent) = self.send(&again).await?;
            cost.add(spent);
            let mut replies = replies.into_iter();
            for (index, stream, steps) in aborted {
                let part: Vec<Value> = replies.by_ref().take(steps.len()).collect();
                sample.streams[index] = self.collect(stream, &steps, &part, false);
            }
        }
        for (index, ttl_ms) in ttls {
            sample.streams[index].ttl_ms = Some(ttl_ms);
        }
        if let (Some(scan), Some(reply)) = (&request.scan, scan_reply) {
            let mut found = self.scan(scan, &reply, &mut cost).await?;
            for _ in 1..scan.steps {
                if found.cursor == "0" || found.fault.is_some() {
                    break;
                }
                let next = ScanRequest { cursor: found.cursor.clone(), ..scan.clone() };
                let (replies, more) = self.send(&[commands::scan(&next, !self.caps.no_scan_type)]).await?;
                cost.add(more);
                let mut step = self.scan(&next, &replies[0], &mut cost).await?;
                found.keys.append(&mut step.keys);
                found.cursor = step.cursor;
                found.fault = step.fault;
            }
            sample.scan = Some(found);
        }
        sample.reached = self.found.take();
        sample.server = self.greeted.take().or(sample.server);
        sample.denied = self.caps.denied.iter().copied().collect();
        sample.cost = cost;
        Ok(sample)
    }

    async fn entry(&mut self, key: &Name, id: EntryId) -> Result<EntryPayload, LinkFault> {
        let (replies, _) = self.send(&[commands::one_entry(key, id)]).await?;
        let fields: Part<Option<Vec<Field>>> = replies.first().map_or(Ok(None), decode::entry);
        Ok(EntryPayload { key: key.clone(), id, fields })
    }

    async fn census(&mut self, key: &Name, group: &Name, step: &CensusStep) -> Result<(Answer, Cost), LinkFault> {
        let (replies, cost) = self.send_timed(census::commands_of(key, group, step)).await?;
        Ok((census::answer(step, &replies), cost))
    }
}
