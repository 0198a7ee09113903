//! Maps meaning to colours and styles. The terminal's background is never painted. Without colours, brightness, bold and glyphs carry the
//! same information.

use crate::app::{
    cells::is_plain,
    screen::{Line, Span, Tone},
};
use ratatui::{
    buffer::Buffer,
    layout::Rect,
    style::{Color, Modifier, Style},
    text,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Palette {
    /// 256 colours.
    Full,
    /// The terminal's 16.
    Few,
    /// No colours, and no colour changes: under `NO_COLOR` each change would be written as a reset, which also ends bold.
    None,
}

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum When {
    /// Unless `NO_COLOR` is set or the terminal is dumb.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never; glyphs, bold and reverse tell the same.
    Never,
}

#[derive(Clone, Copy, Debug)]
pub struct Theme {
    palette: Palette,
    /// Draw with ASCII only.
    pub ascii: bool,
    /// Dim everything: the data is old.
    pub stale: bool,
}

impl Theme {
    /// The theme for this terminal. `env` looks up an environment variable.
    pub fn choose(when: When, ascii: bool, env: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| env(name).filter(|value| !value.is_empty());
        let term = set("TERM").unwrap_or_default();
        let plain = set("NO_COLOR").is_some() || term == "dumb" || term.is_empty();
        let many = term.contains("256")
            || set("COLORTERM").is_some()
            || ["kitty", "alacritty", "ghostty", "foot"].iter().any(|name| term.contains(name));
        let palette = match when {
            When::Never => Palette::None,
            When::Auto if plain => Palette::None,
            _ if many => Palette::Full,
            _ => Palette::Few,
        };
        // use ASCII unless the locale says UTF-8
        let locale =
            set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG")).unwrap_or_default().to_lowercase();
        Self { palette, ascii: ascii || !(locale.contains("utf-8") || locale.contains("utf8")), stale: false }
    }

    /// A theme with all colours, for tests and pictures.
    pub fn full() -> Self {
        Self { palette: Palette::Full, ascii: false, stale: false }
    }

    /// A theme without colours.
    pub fn plain() -> Self {
        Self { palette: Palette::None, ascii: false, stale: false }
    }

    /// The same theme, dimmed if the data is old.
    pub fn aged(self, stale: bool) -> Self {
        Self { stale, ..self }
    }

    pub fn style(&self, tone: Tone) -> Style {
        let (full, few, modifier) = match tone {
            Tone::Plain => (Color::Reset, Color::Reset, Modifier::empty()),
            Tone::Dim => (Color::Indexed(245), Color::DarkGray, Modifier::DIM),
            Tone::Accent => (Color::Indexed(75), Color::LightBlue, Modifier::BOLD),
            Tone::New | Tone::Info => (Color::Indexed(110), Color::Cyan, Modifier::empty()),
            Tone::Heat(0) => (Color::Indexed(223), Color::LightYellow, Modifier::empty()),
            Tone::Heat(1) => (Color::Indexed(221), Color::LightYellow, Modifier::empty()),
            Tone::Heat(2) | Tone::Warn => (Color::Indexed(214), Color::Yellow, Modifier::BOLD),
            Tone::Heat(_) => (Color::Indexed(208), Color::Yellow, Modifier::BOLD),
            Tone::Critical => (Color::Indexed(202), Color::LightRed, Modifier::BOLD),
        };
        let style = match self.palette {
            Palette::Full => Style::new().fg(full),
            Palette::Few => Style::new().fg(few),
            Palette::None => Style::new().add_modifier(modifier),
        };
        if self.stale {
            style.fg(self.faded(style)).remove_modifier(Modifier::BOLD).add_modifier(Modifier::DIM)
        } else {
            style
        }
    }

    fn faded(&self, style: Style) -> Color {
        match self.palette {
            Palette::Full => Color::Indexed(243),
            Palette::Few => Color::DarkGray,
            Palette::None => style.fg.unwrap_or(Color::Reset),
        }
    }

    fn style_of(&self, span: &Span) -> Style {
        let style = self.style(span.tone);
        if span.bold && !self.stale { style.add_modifier(Modifier::BOLD) } else { style }
    }

    /// A styled line, for widgets that take one as a title.
    pub fn line(&self, line: &Line) -> text::Line<'static> {
        let span = |span: &Span| text::Span::styled(span.text.clone(), self.style_of(span));
        text::Line::from(line.iter().map(span).collect::<Vec<_>>())
    }

    /// Draws a styled line into the first row of an area and cuts what does not fit.
    pub fn draw(&self, buffer: &mut Buffer, area: Rect, line: &Line) {
        let area = area.intersection(buffer.area);
        if area.is_empty() {
            return;
        }
        let mut x = area.left();
        for span in line.iter().filter(|span| !span.text.is_empty()) {
            let style = self.style_of(span);
            let room = usize::from(area.right() - x);
            if !is_plain(&span.text) {
                x = buffer.set_stringn(x, area.y, &span.text, room, style).0;
                continue;
            }
            // one cell for each byte: no need to measure widths or to join letters
            for byte in span.text.bytes().take(room) {
                if let Some(cell) = buffer.cell_mut((x, area.y)) {
                    cell.set_char(char::from(byte)).set_style(style);
                }
                x += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(when: When, vars: &[(&str, &str)]) -> Theme {
        Theme::choose(when, false, |name| {
            vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn colour_follows_the_terminal_and_no_color() {
        assert_eq!(chosen(When::Auto, &[("TERM", "xterm-256color")]).palette, Palette::Full);
        assert_eq!(chosen(When::Auto, &[("TERM", "linux")]).palette, Palette::Few);
        assert_eq!(chosen(When::Auto, &[("TERM", "xterm-256color"), ("NO_COLOR", "1")]).palette, Palette::None);
        assert_eq!(chosen(When::Always, &[("TERM", "xterm-256color"), ("NO_COLOR", "1")]).palette, Palette::Full);
        assert_eq!(chosen(When::Never, &[("TERM", "xterm-256color")]).palette, Palette::None);
    }

    #[test]
    fn without_a_utf8_locale_it_is_ascii() {
        assert!(chosen(When::Auto, &[("LANG", "C")]).ascii);
        assert!(!chosen(When::Auto, &[("LANG", "C.UTF-8")]).ascii);
    }

    #[test]
    fn no_style_paints_a_background_and_plain_ones_no_colour() {
        let tones = [
            Tone::Plain,
            Tone::Dim,
            Tone::Accent,
            Tone::New,
            Tone::Heat(0),
            Tone::Heat(3),
            Tone::Info,
            Tone::Warn,
            Tone::Critical,
        ];
        for tone in tones {
            assert_eq!(Theme::full().style(tone).bg, None);
            assert_eq!(Theme::plain().style(tone).fg, None);
        }
    }
}
