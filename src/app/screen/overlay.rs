//! The boxes over the screen: help, events, an entry, a finding.

use super::{Line, OverlayView, Span, Tone, bold, boxed::boxed, consumers::deliveries, heat, span, words::level_tone};
use crate::{
    app::{
        App, Overlay,
        commands::Commands,
        group_screen::aged,
        keymap::{BINDINGS, Binding, Section, disabled_reason},
    },
    core::{
        id::EntryId,
        name::{Name, visible},
        sample::EntryPayload,
        time::{Now, age, rfc3339},
        watch::JudgedGroup,
    },
};

/// A longer value, in bytes, is cut on the screen.
const VALUE_BYTES: usize = 16 * 1024;

pub fn view(app: &App, now: Now) -> Option<OverlayView> {
    let (title, lines) = match app.overlay.as_ref()? {
        Overlay::Help => ("Keys here · / searches".to_owned(), help(app)),
        Overlay::Commands(list) => return Some(commands(app, list)),
        Overlay::Log(log) => (super::log::title(app, log), super::log::lines(app, log)),
        Overlay::Entry { key, id, payload } => (format!("{key} {id}"), entry(app, *id, key, payload.as_ref(), now)),
        Overlay::Finding => ("Finding".to_owned(), finding(app, now)),
        Overlay::Dialog(open) => return Some(super::dialog::view(app, open)),
    };
    Some(boxed(app, title, &lines, app.scroll))
}

fn help(app: &App) -> Vec<Line> {
    let mut lines = Vec::new();
    for section in Section::ALL {
        lines.push(vec![bold(section.title(), Tone::Plain)]);
        // the keys of the place below the box, not of the box itself
        let here = |binding: &&Binding| binding.scope.includes(&app.place) && binding.action.section() == section;
        lines.extend(BINDINGS.iter().filter(here).map(|binding| {
            let keys: Vec<String> = binding.keys.iter().map(ToString::to_string).collect();
            vec![bold(format!("  {:<14}", keys.join(" ")), Tone::Accent), span(binding.help, Tone::Plain)]
        }));
    }
    lines.push(Vec::new());
    let signs = "✓ acked   ◆ pending (the darker the older)   · new   ┃ cursor   ✗ pending, payload gone   » skipped   ? not known";
    lines.push(vec![span(signs, Tone::Dim)]);
    lines.push(vec![span(
        "lag: 2 exact   ~2 the server's word   ≥2 at least   ≤2 at most   ? unknown   n/a not reported by this server",
        Tone::Dim,
    )]);
    lines
}

/// The list of everything that can be done here, around the picked row.
fn commands(app: &App, list: &Commands) -> OverlayView {
    let mut lines = vec![
        vec![bold(": ", Tone::Accent), span(visible(list.typed.as_bytes()), Tone::Plain), bold("▏", Tone::Accent)],
        Line::new(),
    ];
    let fitting = list.fitting();
    for (index, binding) in fitting.iter().enumerate() {
        let here = index == list.picked;
        let keys: Vec<String> = binding.keys.iter().map(ToString::to_string).collect();
        let why = disabled_reason(app, binding.action).map_or(String::new(), |why| format!(" ({why})"));
        let tone = if why.is_empty() { Tone::Plain } else { Tone::Dim };
        lines.push(vec![
            bold(format!("{} {:<12}", if here { "▌" } else { " " }, keys.join(" ")), Tone::Accent),
            Span { text: format!("{}{why}", binding.help), tone, bold: here },
        ]);
    }
    if fitting.is_empty() {
        lines.push(vec![span("Nothing here fits. Backspace takes letters back.", Tone::Dim)]);
    }
    // the picked row stays on the screen: long rows take two lines
    let above = list.picked.saturating_sub(usize::from(app.size.1) / 3);
    let scrolled = [lines[..2].to_vec(), lines[2 + above.min(lines.len() - 2)..].to_vec()].concat();
    boxed(app, "What can be done here: type to find it, Enter does it".to_owned(), &scrolled, 0)
}

fn finding(app: &App, now: Now) -> Vec<Line> {
    let Some(finding) = app.picked_finding() else { return vec![vec![span("It is gone.", Tone::Dim)]] };
    let field = |name: &str, text: String| vec![span(format!("{name:<14}"), Tone::Dim), span(text, Tone::Plain)];
    let mut lines = vec![
        vec![bold(format!("{} ({})", finding.id, finding.level.word()), level_tone(finding.level))],
        vec![span(finding.sentence(), Tone::Plain)],
        Vec::new(),
        field(
            if finding.lasted_ms.is_some() { "for" } else { "seen for" },
            finding.since_ms.map_or("-".to_owned(), |since| age(now.wall_ms.saturating_sub(since))),
        ),
        field("likely cause", finding.cause.to_owned()),
        field("what to do", finding.remedy.to_owned()),
        vec![
            span(format!("{:<14}", "first check"), Tone::Dim),
            span(finding.check.to_string(), Tone::Accent),
            span("   Y copies it, a marks the finding as known", Tone::Dim),
        ],
        Vec::new(),
    ];
    if !finding.also.is_empty() {
        lines.insert(3, field("it explains", finding.also.join(", ")));
    }
    lines.extend(finding.evidence.iter().map(|(name, value)| {
        let text = if name.ends_with("_ms") { format!("{value}  ({})", age(*value)) } else { value.to_string() };
        vec![span(format!("{name:<28}"), Tone::Dim), span(text, Tone::Plain)]
    }));
    lines
}

fn entry(app: &App, id: EntryId, key: &Name, payload: Option<&EntryPayload>, now: Now) -> Vec<Line> {
    let store = &app.shown().store;
    let mut lines = Vec::new();
    if let Some(ms) = id.plausible_ms(store.server_now_ms(now)) {
        let ago = age(store.server_now_ms(now) - ms);
        lines.push(vec![
            span("added         ", Tone::Dim),
            span(format!("{}  ({ago} ago, by its id)", rfc3339(ms)), Tone::Plain),
        ]);
    }
    if let Some(JudgedGroup { stream, group, .. }) = app.group().filter(|seen| seen.stream.key == *key) {
        let row = group.pel.row(id);
        let state = match row {
            Some(row) => {
                let owner = row.owner.as_ref().map_or("nobody (unowned)".to_owned(), Name::shown);
                let idle = row.idle_known_ms().map(|ms| aged(ms, group.pel.at, now.mono));
                vec![
                    span("pending       ", Tone::Dim),
                    span(format!("held by {owner}, "), Tone::Plain),
                    idle.map_or(span("idle unknown", Tone::Dim), |ms| {
                        span(format!("delivered {} ago", age(ms)), heat(ms))
                    }),
                    span(", deliveries ", Tone::Plain),
                    deliveries(row),
                ]
            }
            None if id > group.facts.cursor => {
                vec![span("new           ", Tone::Dim), span("not delivered to this group so far", Tone::New)]
            }
            None if group.pel.is_known(id) => {
                vec![span("acked         ", Tone::Dim), span("behind the cursor and not pending", Tone::Plain)]
            }
            None => vec![
                span("delivered     ", Tone::Dim),
                span("behind the cursor; whether it is pending was not fetched", Tone::Plain),
            ],
        };
        lines.push(state);
        if stream.has_entry(id) == Some(false) {
            lines.push(vec![
                span("payload gone  ", Tone::Critical),
                span("the entry is no longer in the stream", Tone::Plain),
            ]);
        }
        for seen in group.seen.redeliveries.iter().filter(|seen| seen.id == id) {
            let name = |name: &Option<Name>| name.as_ref().map_or("nobody".to_owned(), Name::shown);
            let text = format!(
                "{} ago from {} to {}, deliveries {}",
                age(now.mono.since(seen.at) as i64),
                name(&seen.from),
                name(&seen.to),
                seen.deliveries
            );
            lines.push(vec![span("seen          ", Tone::Dim), span(text, Tone::Plain)]);
        }
    }
    lines.push(Vec::new());
    lines.extend(payload_lines(payload));
    lines
}

fn payload_lines(payload: Option<&EntryPayload>) -> Vec<Line> {
    let fields = match payload.map(|payload| &payload.fields) {
        None => return vec![vec![span("fetching …", Tone::Dim)]],
        Some(Err(fault)) => return vec![vec![span(fault.words(), Tone::Warn)]],
        Some(Ok(None)) => return vec![vec![span("The stream has no such entry (any more).", Tone::Warn)]],
        Some(Ok(Some(fields))) => fields,
    };
    let mut lines = Vec::new();
    for (name, value) in fields {
        let name = if name.is_empty() { crate::core::name::EMPTY.to_owned() } else { visible(name) };
        let shown = value_lines(value);
        if let [one] = shown.as_slice() {
            lines.push(vec![bold(format!("{name}  "), Tone::Accent), span(one, Tone::Plain)]);
        } else {
            lines.push(vec![bold(name, Tone::Accent)]);
            lines.extend(shown.into_iter().map(|line| vec![span(format!("  {line}"), Tone::Plain)]));
        }
        if value.len() > VALUE_BYTES {
            lines.push(vec![span(format!("  … cut: {} bytes in all", value.len()), Tone::Dim)]);
        }
    }
    lines
}

/// A value for reading: JSON objects and lists indented, text line by line, everything else as hex with the text beside it.
fn value_lines(value: &[u8]) -> Vec<String> {
    let bytes = &value[..value.len().min(VALUE_BYTES)];
    let json = value.len() <= VALUE_BYTES && matches!(value.first(), Some(b'{' | b'['));
    if json && serde_json::from_slice::<serde_json::Value>(value).is_ok() {
        return indented(value);
    }
    let odd = bytes.iter().filter(|b| b.is_ascii_control() && !b"\n\r\t".contains(b)).count();
    let readable = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to() + 4 > bytes.len(), |_| true);
    if readable && odd * 10 <= bytes.len().max(20) {
        return bytes.split(|b| *b == b'\n').map(visible).collect();
    }
    bytes
        .chunks(16)
        .map(|row| {
            let hex: Vec<String> = row.iter().map(|b| format!("{b:02x}")).collect();
            let text: String =
                row.iter().map(|b| if (0x20..0x7f).contains(b) { char::from(*b) } else { '.' }).collect();
            format!("{:<47}  {text}", hex.join(" "))
        })
        .collect()
}

/// Valid JSON with one item a line. The text itself stays: parsing and printing would change large numbers, repeated names and the order
/// of fields.
fn indented(json: &[u8]) -> Vec<String> {
    let (mut lines, mut line, mut depth) = (Vec::new(), Vec::new(), 0_usize);
    let (mut in_string, mut escaped) = (false, false);
    let mut end_line = |line: &mut Vec<u8>, depth: usize| {
        let text = visible(line);
        if !text.trim().is_empty() {
            lines.push(format!("{}{}", "  ".repeat(depth), text.trim()));
        }
        line.clear();
    };
    for byte in json {
        if in_string {
            line.push(*byte);
            in_string = escaped || *byte != b'"';
            escaped = !escaped && *byte == b'\\';
            continue;
        }
        match byte {
            b'"' => {
                in_string = true;
                line.push(*byte);
            }
            b'{' | b'[' => {
                line.push(*byte);
                end_line(&mut line, depth);
                depth += 1;
            }
            b'}' | b']' => {
                end_line(&mut line, depth);
                depth = depth.saturating_sub(1);
                line.push(*byte);
            }
            b',' => {
                line.push(*byte);
                end_line(&mut line, depth);
            }
            b':' => line.extend(b": "),
            b if b.is_ascii_whitespace() => {}
            b => line.push(*b),
        }
    }
    end_line(&mut line, depth);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_indented_without_being_changed() {
        let json = br#"{"n":12345678901234567890123,"s":"a,{\"x","l":[1,{"e":{}}],"n":1.0}"#;
        let lines = value_lines(json);
        assert_eq!(lines[0..3], ["{", "  \"n\": 12345678901234567890123,", "  \"s\": \"a,{\\\"x\","]);
        assert_eq!(lines.last().map(String::as_str), Some("}"));
        assert!(lines.contains(&"  \"n\": 1.0".to_owned()));
    }

    #[test]
    fn binary_is_shown_as_hex_and_text_line_by_line() {
        assert_eq!(value_lines(b"one line\nand b\x1b"), ["one line", "and b\\x1b"]);
        assert!(value_lines(&[0, 1, 2, 255, 254])[0].starts_with("00 01 02 ff fe"));
    }
}
