//! Maps meaning to colours and styles. The terminal's background is never painted. Without colours, brightness, bold and glyphs carry the
//! same information.

use super::{
    background,
    palette::{Background, Palette},
};
use crate::app::{
    cells::is_plain,
    screen::{Line, Span, Tone},
};
use ratatui::{
    buffer::Buffer,
    layout::Rect,
    style::{Modifier, Style},
    text,
};

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

/// Which colours to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Look {
    /// By the terminal's background.
    #[default]
    Auto,
    /// For a dark background.
    Dark,
    /// For a light background.
    Light,
    /// Without colours.
    Mono,
    /// The terminal's own text colour only, bold and underlined.
    HighContrast,
}

#[derive(Clone, Copy, Debug)]
pub struct Theme {
    palette: Palette,
    /// The terminal's background decides, and nothing has told it so far.
    asks: bool,
    /// Draw with ASCII only.
    pub ascii: bool,
    /// Dim everything: the data is old.
    pub stale: bool,
}

impl Theme {
    /// The theme for this terminal. `env` looks up an environment variable.
    pub fn choose(look: Look, when: When, ascii: bool, env: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| env(name).filter(|value| !value.is_empty());
        let term = set("TERM").unwrap_or_default();
        let plain = set("NO_COLOR").is_some() || term == "dumb" || term.is_empty();
        let many = term.contains("256")
            || set("COLORTERM").is_some()
            || ["kitty", "alacritty", "ghostty", "foot"].iter().any(|name| term.contains(name));
        let told = set("COLORFGBG").as_deref().and_then(background::of_variable);
        let background = match look {
            Look::Dark => Some(Background::Dark),
            Look::Light => Some(Background::Light),
            _ => told,
        };
        let on = background.unwrap_or_default();
        let palette = match (look, when) {
            (Look::HighContrast, _) => Palette::HighContrast,
            (Look::Mono, _) | (_, When::Never) => Palette::None,
            (_, When::Auto) if plain => Palette::None,
            _ if many => Palette::Full(on),
            _ => Palette::Few(on),
        };
        let asks =
            matches!(look, Look::Auto) && matches!(palette, Palette::Full(_) | Palette::Few(_)) && term != "linux";
        // use ASCII unless the locale says UTF-8
        let locale =
            set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG")).unwrap_or_default().to_lowercase();
        // the console's font has few signs
        let ascii = ascii || term == "linux";
        Self { palette, asks, ascii: ascii || !(locale.contains("utf-8") || locale.contains("utf8")), stale: false }
    }

    /// A theme with all colours, for tests and pictures.
    pub fn full() -> Self {
        Self { palette: Palette::Full(Background::Dark), asks: false, ascii: false, stale: false }
    }

    /// The same for a light background.
    pub fn light() -> Self {
        Self { palette: Palette::Full(Background::Light), ..Self::full() }
    }

    /// Whether the terminal has to be asked for its background.
    pub fn asks(&self) -> bool {
        self.asks
    }

    /// The same theme on the background that the terminal named.
    pub fn on(self, background: Background) -> Self {
        let palette = match self.palette {
            Palette::Full(_) => Palette::Full(background),
            Palette::Few(_) => Palette::Few(background),
            other => other,
        };
        Self { palette, ..self }
    }

    /// A theme without colours.
    pub fn plain() -> Self {
        Self { palette: Palette::None, asks: false, ascii: false, stale: false }
    }

    /// The same theme, dimmed if the data is old.
    pub fn aged(self, stale: bool) -> Self {
        Self { stale, ..self }
    }

    pub fn style(&self, tone: Tone) -> Style {
        let style = self.palette.style(tone);
        if self.stale { self.palette.faded(style) } else { style }
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
        Theme::choose(Look::Auto, when, false, |name| {
            vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn colour_follows_the_terminal_and_no_color() {
        assert_eq!(chosen(When::Auto, &[("TERM", "xterm-256color")]).palette, Palette::Full(Background::Dark));
        assert_eq!(chosen(When::Auto, &[("TERM", "linux")]).palette, Palette::Few(Background::Dark));
        assert_eq!(chosen(When::Auto, &[("TERM", "xterm-256color"), ("NO_COLOR", "1")]).palette, Palette::None);
        assert_eq!(
            chosen(When::Always, &[("TERM", "xterm-256color"), ("NO_COLOR", "1")]).palette,
            Palette::Full(Background::Dark)
        );
        assert_eq!(chosen(When::Never, &[("TERM", "xterm-256color")]).palette, Palette::None);
    }

    #[test]
    fn without_a_utf8_locale_it_is_ascii() {
        assert!(chosen(When::Auto, &[("LANG", "C")]).ascii);
        assert!(!chosen(When::Auto, &[("LANG", "C.UTF-8")]).ascii);
    }

    #[test]
    fn the_background_is_the_one_asked_for_else_the_variables_else_the_terminals() {
        let look = |look: Look, variable: &str| {
            let vars = [("TERM", "xterm-256color"), ("COLORFGBG", variable)];
            let found = |name: &str| vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
            let theme = Theme::choose(look, When::Auto, false, found);
            (theme.palette, theme.asks())
        };
        assert_eq!(look(Look::Auto, ""), (Palette::Full(Background::Dark), true));
        assert_eq!(look(Look::Auto, "0;15"), (Palette::Full(Background::Light), true));
        assert_eq!(look(Look::Dark, "0;15"), (Palette::Full(Background::Dark), false));
        assert_eq!(look(Look::Mono, ""), (Palette::None, false));
        assert_eq!(look(Look::HighContrast, ""), (Palette::HighContrast, false));
        assert_eq!(Theme::full().on(Background::Light).palette, Palette::Full(Background::Light));
        assert_eq!(Theme::plain().on(Background::Light).palette, Palette::None);
    }

    #[test]
    fn the_console_gets_ascii_and_is_not_asked() {
        let theme = chosen(When::Auto, &[("TERM", "linux"), ("LANG", "C.UTF-8")]);
        assert!(theme.ascii && !theme.asks());
    }
}
