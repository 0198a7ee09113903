//! Lag and pending over time, in braille.

use super::framed;
use crate::{
    app::screen::{GroupView, Series, Subject, Tone, bold, span},
    core::{
        number::whole,
        time::{age, age_words},
    },
    tui::theme::Theme,
};
use ratatui::{
    Frame,
    layout::Rect,
    symbols::Marker,
    text,
    widgets::{Axis, Chart, Dataset, GraphType},
};

pub fn draw(frame: &mut Frame, area: Rect, view: &GroupView, theme: &Theme) {
    let latest = |series: &Series| series.latest.map_or("?".to_owned(), |n| n.to_string());
    let lag = [span("lag ", Tone::New), bold(latest(&view.lag), Tone::New)];
    let pending = [span("pending ", Tone::Heat(2)), bold(latest(&view.pending), Tone::Heat(2))];
    let oldest = view.oldest.latest.map_or("?".to_owned(), age);
    let oldest = [span("oldest ", Tone::Heat(2)), bold(oldest, Tone::Heat(2))];
    // what the finding is about comes first, and is drawn
    let (subject, id) = view.subject;
    let of = id.map_or(String::new(), |id| format!(" ({id})"));
    let (first, second) = match subject {
        Subject::Lag => (lag, pending),
        Subject::Pending => (pending, lag),
        Subject::Oldest => (oldest, pending),
    };
    let mut title = Vec::from(first);
    title.push(span(format!("{of}  "), Tone::Dim));
    title.extend(second);
    let span_text = age_words(whole(view.span_s * 1000.0));
    let number = vec![span(format!("last {span_text}"), Tone::Dim)];
    let ages = subject == Subject::Oldest;
    let most = if ages { view.oldest.most } else { view.lag.most.max(view.pending.most) }.max(1);
    let runs = |series: &Series, tone| {
        let style = theme.style(tone);
        series.runs.iter().map(move |run| (run.clone(), style)).collect::<Vec<_>>()
    };
    let all = if ages {
        runs(&view.oldest, Tone::Heat(2))
    } else {
        runs(&view.pending, Tone::Heat(2)).into_iter().chain(runs(&view.lag, Tone::New)).collect()
    };
    let sets = all
        .iter()
        .map(|(run, style)| {
            Dataset::default().marker(Marker::Braille).graph_type(GraphType::Line).style(*style).data(run)
        })
        .collect();
    let dim = theme.style(Tone::Dim);
    let top = if ages { age(most) } else { most.to_string() };
    let labels = ["0".to_owned(), top].map(|label| text::Span::styled(label, dim));
    let chart = Chart::new(sets)
        .block(framed(&title, &number, area.width, theme, false))
        // the series set only a colour; the dimming of old data comes from this style
        .style(theme.style(Tone::Plain))
        .x_axis(Axis::default().bounds([-view.span_s, 0.0]).style(dim))
        .y_axis(Axis::default().bounds([0.0, most as f64]).labels(labels).style(dim))
        .legend_position(None);
    frame.render_widget(chart, area);
}
