//! The strip in its three zooms.

use super::{Line, Span, Tone, bold, heat, span, words::count_words};
use crate::{
    app::{
        App, Pane, Zoom,
        cells::{cut, pad, width},
        group_screen::aged,
    },
    core::{
        id::EntryId,
        known::Known,
        model::StreamFacts,
        name::Name,
        number::{size, whole},
        store::{GroupState, StreamState},
        strip::{Cell, EntryState},
        time::{Mono, Now},
    },
};

pub fn lines(app: &App, stream: &StreamState, group: &GroupState, now: Now) -> Vec<Line> {
    let room = usize::from(app.size.0).saturating_sub(4).max(10);
    let Some(facts) = &stream.facts.value else {
        let refused = stream.facts.fault().map(|fault| format!("XINFO STREAM: {}", fault.words()));
        return vec![vec![span(refused.unwrap_or_default(), Tone::Warn)]];
    };
    if facts.length == 0 && group.facts.pending == Known::Is(0) {
        return vec![
            vec![span("The stream is empty.", Tone::Dim)],
            Vec::new(),
            Vec::new(),
            counts(stream, facts, group),
        ];
    }
    let cells = group.cells(stream);
    if cells.is_empty() && app.group_screen.zoom != Zoom::Stream {
        let why = match stream.range_failure.as_ref().map(|failure| &failure.fault) {
            Some(fault) => span(format!("the entries cannot be shown: XRANGE: {}", fault.words()), Tone::Warn),
            None => span("fetching the entries …", Tone::Dim),
        };
        return vec![vec![why], Vec::new(), Vec::new(), counts(stream, facts, group)];
    }
    let picked = (app.group_screen.pane == Pane::Strip).then_some(app.group_screen.entry.unwrap_or(group.facts.cursor));
    let look = Look { group, picked, now: now.mono, room };
    let mut lines = match app.group_screen.zoom {
        Zoom::Entries => entries(&cells, &look),
        Zoom::Cells => one_by_one(&cells, &look),
        Zoom::Stream => whole_stream(stream, facts, &look),
    };
    lines.truncate(2);
    // the same bar in every zoom; the zoom of the whole stream begins with it
    let bar = if app.group_screen.zoom == Zoom::Stream { None } else { position_bar(facts, &look) };
    lines.push(bar.unwrap_or_default());
    lines.push(counts(stream, facts, group));
    lines
}

struct Look<'a> {
    group: &'a GroupState,
    picked: Option<EntryId>,
    now: Mono,
    room: usize,
}

fn glyph(state: EntryState) -> char {
    match state {
        EntryState::Acked | EntryState::AckedSeen => '✓',
        EntryState::Pending => '◆',
        EntryState::New => '·',
        EntryState::Skipped => '»',
        EntryState::Gone => '✗',
        EntryState::Unsure => '?',
    }
}

fn tone(cell: &Cell, look: &Look) -> Tone {
    match cell.state {
        EntryState::Acked | EntryState::AckedSeen | EntryState::Unsure => Tone::Dim,
        EntryState::Pending => heat(cell.idle_ms.map_or(0, |ms| aged(ms, look.group.pel.at, look.now))),
        EntryState::New => Tone::New,
        EntryState::Skipped => Tone::Warn,
        EntryState::Gone => Tone::Critical,
    }
}

/// The cells to show: around the picked entry, or with the cursor at three fifths.
fn window<'a>(cells: &'a [Cell], look: &Look, count: usize) -> &'a [Cell] {
    let at = match look.picked {
        Some(id) => cells.partition_point(|cell| cell.id < id),
        None => cells.partition_point(|cell| cell.id <= look.group.facts.cursor),
    };
    let start = at.saturating_sub(count * 3 / 5).min(cells.len().saturating_sub(count));
    &cells[start..cells.len().min(start + count)]
}

/// How many leading digits all ids share. Only the first id shows them.
fn shared_digits(ids: &[String]) -> usize {
    let (Some(first), true) = (ids.first(), ids.len() > 1) else { return 0 };
    let shared = ids
        .iter()
        .skip(1)
        .fold(first.len(), |shared, id| first.bytes().zip(id.bytes()).take(shared).take_while(|(a, b)| a == b).count());
    let most = ids.iter().map(|id| id.find('-').unwrap_or(id.len())).min().unwrap_or(0).saturating_sub(4);
    if shared.min(most) > 4 { shared.min(most) } else { 0 }
}

/// Zoom 1: `✓1-0  ✓2-0  ◆3-0  ◆4-0 ┃ ·5-0  ·6-0`, with the owners below and the cursor marked.
fn entries(cells: &[Cell], look: &Look) -> Vec<Line> {
    let around = window(cells, look, look.room / 6);
    let ids: Vec<String> = around.iter().map(|cell| cell.id.to_string()).collect();
    let shared = shared_digits(&ids);
    let short = |id: EntryId| {
        let text = id.to_string();
        if shared == 0 { text } else { format!("…{}", &text[shared.min(text.len())..]) }
    };
    let owner_width = around
        .iter()
        .filter_map(|cell| cell.owner.as_ref())
        .map(|owner| width(&owner.shown()))
        .max()
        .unwrap_or(0)
        .min(14);
    let cell_width = around.iter().map(|cell| width(&short(cell.id)) + 1).max().unwrap_or(4).max(owner_width + 1) + 2;
    let count = (look.room.saturating_sub(4) / cell_width).max(1);
    let shown = window(cells, look, count);
    let cursor = look.group.facts.cursor;
    let split = shown.partition_point(|cell| cell.id <= cursor);
    let (mut ids_line, mut owners_line): (Line, Line) = (Vec::new(), Vec::new());
    let mut cursor_at = 0;
    let bar = |ids_line: &mut Line, owners_line: &mut Line, cursor_at: &mut usize| {
        *cursor_at = ids_line.iter().map(|span: &Span| width(&span.text)).sum();
        ids_line.push(bold("┃ ", Tone::Accent));
        owners_line.push(span("  ", Tone::Dim));
    };
    for (index, cell) in shown.iter().enumerate() {
        if index == split {
            bar(&mut ids_line, &mut owners_line, &mut cursor_at);
        }
        let tone = tone(cell, look);
        let text = pad(&format!("{}{}", glyph(cell.state), short(cell.id)), cell_width, false);
        let picked = look.picked == Some(cell.id);
        ids_line.push(Span {
            text: if picked { mark_picked(&text) } else { text },
            tone: if picked { Tone::Accent } else { tone },
            bold: picked || cell.state == EntryState::Pending,
        });
        let owner = match (&cell.owner, cell.state) {
            (Some(owner), _) => cut(&owner.shown(), cell_width - 1),
            (None, EntryState::Pending | EntryState::Gone) => "unowned".to_owned(),
            _ => String::new(),
        };
        owners_line.push(span(pad(&format!(" {owner}"), cell_width, false), tone));
    }
    if split == shown.len() {
        bar(&mut ids_line, &mut owners_line, &mut cursor_at);
    }
    vec![ids_line, with_cursor(owners_line, &cursor_line(cursor, cursor_at, look.room), cursor_at, look.room)]
}

/// Puts the cursor's label beside the owners if that side of the line is free. New entries have no owners.
fn with_cursor(owners: Line, label: &Line, at: usize, room: usize) -> Line {
    let text: String = label.iter().map(|span| span.text.as_str()).collect();
    let right = text.trim_start().starts_with('▲');
    let free = |from: usize, to: usize| {
        let line: String = owners.iter().map(|span| span.text.as_str()).collect();
        line.chars().skip(from).take(to.saturating_sub(from)).all(|c| c == ' ')
    };
    let mut out = Line::new();
    let mut used = 0;
    if right && free(at, room) {
        for span in owners {
            let keep = at.saturating_sub(used);
            let cut: String = span.text.chars().take(keep).collect();
            used += width(&span.text);
            out.push(Span { text: cut, ..span });
        }
        let gap = at.saturating_sub(out.iter().map(|span| width(&span.text)).sum());
        out.push(span(" ".repeat(gap), Tone::Dim));
        out.push(span(text.trim_start(), Tone::Accent));
        return out;
    }
    if owners.iter().all(|span| span.text.trim().is_empty()) {
        return label.clone();
    }
    owners
}

/// Marks the picked entry without changing its width: the mark replaces its last blank.
fn mark_picked(text: &str) -> String {
    let trimmed = text.trim_end();
    pad(&format!("{trimmed}◂"), width(text), false)
}

fn cursor_line(cursor: EntryId, at: usize, room: usize) -> Line {
    let label = format!("▲ cursor {cursor}");
    let mirrored = format!("cursor {cursor} ▲");
    if at + width(&label) <= room {
        vec![span(" ".repeat(at), Tone::Dim), span(label, Tone::Accent)]
    } else {
        vec![span(" ".repeat((at + 1).saturating_sub(width(&mirrored))), Tone::Dim), span(mirrored, Tone::Accent)]
    }
}

/// Zoom 2: one cell for each entry.
fn one_by_one(cells: &[Cell], look: &Look) -> Vec<Line> {
    let shown = window(cells, look, look.room.saturating_sub(2));
    let cursor = look.group.facts.cursor;
    let split = shown.partition_point(|cell| cell.id <= cursor);
    let mut line = Line::new();
    for (index, cell) in shown.iter().enumerate() {
        if index == split {
            line.push(bold("┃", Tone::Accent));
        }
        let picked = look.picked == Some(cell.id);
        push_run(&mut line, glyph(cell.state), if picked { Tone::Accent } else { tone(cell, look) }, picked);
    }
    if split == shown.len() {
        line.push(bold("┃", Tone::Accent));
    }
    vec![line, cursor_line(cursor, split, look.room)]
}

fn push_run(line: &mut Line, glyph: char, tone: Tone, bold: bool) {
    match line.last_mut() {
        Some(last) if last.tone == tone && last.bold == bold => last.text.push(glyph),
        _ => line.push(Span { text: glyph.to_string(), tone, bold }),
    }
}

/// Where an id lies on a bar of that many cells.
fn place(facts: &StreamFacts, room: usize, id: EntryId) -> Option<usize> {
    let (first, last) = facts.first.zip(facts.last)?;
    Some(size(whole((share(first, last, id) * (room - 1) as f64).round())))
}

/// The id at the left edge of a cell; an estimate where ids are not times.
fn id_at(first: EntryId, last: EntryId, cell: usize, room: usize) -> EntryId {
    let part = |from: u64, to: u64| {
        from + u64::try_from(u128::from(to.saturating_sub(from)) * cell as u128 / room.max(1) as u128).unwrap_or(0)
    };
    if first.ms == last.ms {
        EntryId::new(first.ms, part(first.seq, last.seq))
    } else {
        EntryId::new(part(first.ms, last.ms), 0)
    }
}

/// The whole retained stream, placed by id: what is acknowledged, pending, not known, and new.
fn position_bar(facts: &StreamFacts, look: &Look) -> Option<Line> {
    let room = bar_room(look);
    let (first, last) = facts.first.zip(facts.last)?;
    let cursor = place(facts, room, look.group.facts.cursor)?;
    let mut oldest: Vec<Option<i64>> = vec![None; room];
    for row in &look.group.pel.rows {
        let slot = &mut oldest[place(facts, room, row.id)?];
        let idle = row.idle_ms.map_or(0, |ms| aged(ms, look.group.pel.at, look.now));
        *slot = (*slot).max(Some(idle));
    }
    // a part of the pending list that was not read may hold anything
    let pel = &look.group.pel;
    let nothing_pending = look.group.facts.pending == Known::Is(0);
    let known = |cell: usize| {
        nothing_pending
            || pel.complete
            || pel.is_known(id_at(first, last, cell, room)) && pel.is_known(id_at(first, last, cell + 1, room))
    };
    let mut line = Line::new();
    for (cell, idle) in oldest.iter().enumerate() {
        match idle {
            _ if cell == cursor => push_run(&mut line, '┃', Tone::Accent, true),
            Some(ms) => push_run(&mut line, '▓', heat(*ms), false),
            None if cell < cursor && known(cell) => push_run(&mut line, '━', Tone::Dim, false),
            None if cell < cursor => push_run(&mut line, '?', Tone::Dim, false),
            None => push_run(&mut line, '░', Tone::New, false),
        }
    }
    Some(line)
}

fn bar_room(look: &Look) -> usize {
    look.room.saturating_sub(2).max(10)
}

/// Zoom 3: the whole retained stream, with every group's cursor.
fn whole_stream(stream: &StreamState, facts: &StreamFacts, look: &Look) -> Vec<Line> {
    let Some(line) = position_bar(facts, look) else {
        return vec![vec![span("nothing is retained", Tone::Dim)], Vec::new()];
    };
    let room = bar_room(look);
    let mut ticks: Vec<(usize, Name)> = stream
        .groups
        .values()
        .filter_map(|group| Some((place(facts, room, group.facts.cursor)?, group.name().clone())))
        .collect();
    ticks.sort();
    let mut names = String::new();
    for (at, name) in ticks {
        let text = format!("▲{}", cut(&name.shown(), 16));
        let start = at.min(room.saturating_sub(width(&text)));
        if width(&names) <= start {
            names = pad(&names, start, false) + &text + " ";
        }
    }
    vec![line, vec![span(names, Tone::Accent)]]
}

/// Where an id lies between two others, as a share. It compares the first halves of the ids, or the second halves if the first are equal.
fn share(first: EntryId, last: EntryId, id: EntryId) -> f64 {
    let id = id.clamp(first, last);
    let part =
        |from: u64, to: u64, at: u64| if to > from { at.saturating_sub(from) as f64 / (to - from) as f64 } else { 1.0 };
    if first.ms == last.ms { part(first.seq, last.seq, id.seq) } else { part(first.ms, last.ms, id.ms) }
}

/// Counts the pending entries behind the cursor: those that are in the stream, and those for which that is unknown. Entries without
/// payload and entries ahead of the cursor are in neither count. `None` if only a part of the PEL is known.
fn held_behind(stream: &StreamState, group: &GroupState) -> Option<(i64, i64)> {
    let behind = group.pel.rows.iter().filter(|row| row.id <= group.facts.cursor);
    let fates: Vec<Option<bool>> = behind.map(|row| stream.has_entry(row.id)).collect();
    let count = |fate: Option<bool>| fates.iter().filter(|found| **found == fate).count() as i64;
    group.pel.complete.then(|| (count(Some(true)), count(None)))
}

/// `6 retained of 6 added   acked 2   pending 2   new 2`. A sign marks every number that is not exact.
fn counts(stream: &StreamState, facts: &StreamFacts, group: &GroupState) -> Line {
    let of = facts.entries_added.value().map_or(String::new(), |added| format!(" of {added} added"));
    let mut line = vec![span(format!("{} retained{of}", facts.length), Tone::Dim)];
    // lost entries matter more than acknowledged ones, so that part is cut last
    if let Some(lost) = group.lost {
        line.push(span(format!("   ✗ {} lost unread", lost.text()), Tone::Critical));
    }
    // acked = retained, behind the cursor and not pending: exact only if both lag and PEL are
    if let (Some(lag), Some((there, unsure))) = (group.lag.exact(), held_behind(stream, group)) {
        let acked = (facts.length - lag - there - unsure).max(0);
        let least = if unsure > 0 { "≥" } else { "" };
        let mark = if acked == 0 || group.acked_sure() { "" } else { " (or never delivered to this group)" };
        line.push(span(format!("   ✓ {least}{acked} acked{mark}"), Tone::Dim));
    }
    line.push(span(
        format!("   ◆ {} pending", count_words(group.facts.pending.value())),
        if group.facts.pending == Known::Is(0) { Tone::Dim } else { Tone::Heat(1) },
    ));
    line.push(span(format!("   · {} new", group.lag.text()), Tone::New));
    if let Some(reason) = group.lag.reason {
        line.push(span(format!(" ({reason})"), Tone::Dim));
    }
    line
}
