//! The colours for each meaning, on a dark and on a light background. The background itself is never painted. Each colour that is chosen
//! here (of xterm's 256) reaches a contrast of 4.5 to 1; the terminal's own 16 colours are its own, so they never carry a meaning alone.

use crate::app::screen::Tone;
use ratatui::style::{Color, Modifier, Style};

/// What the terminal's text stands on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Background {
    #[default]
    Dark,
    Light,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Palette {
    /// 256 colours.
    Full(Background),
    /// The terminal's 16.
    Few(Background),
    /// No colours, and no colour changes: under `NO_COLOR` each change would be written as a reset, which also ends bold.
    None,
    /// The terminal's own text colour, bold and underlined.
    HighContrast,
}

/// Indexes of xterm's 256 colours.
struct Colours {
    dim: u8,
    accent: u8,
    new: u8,
    /// Pending, from fresh to old; the third is a warning's.
    heat: [u8; 4],
    critical: u8,
}

const DARK: Colours = Colours { dim: 246, accent: 75, new: 110, heat: [223, 221, 214, 208], critical: 203 };
const LIGHT: Colours = Colours { dim: 241, accent: 25, new: 23, heat: [58, 94, 94, 124], critical: 160 };

impl Palette {
    pub(super) fn style(self, tone: Tone) -> Style {
        match self {
            Self::Full(background) => Style::new().fg(full(background, tone)),
            Self::Few(background) => Style::new().fg(few(background, tone)),
            Self::None => Style::new().add_modifier(match tone {
                Tone::Dim => Modifier::DIM,
                Tone::Accent | Tone::Heat(2..) | Tone::Warn | Tone::Critical => Modifier::BOLD,
                _ => Modifier::empty(),
            }),
            Self::HighContrast => Style::new().add_modifier(match tone {
                Tone::Accent | Tone::Heat(2..) | Tone::Warn => Modifier::BOLD,
                Tone::Critical => Modifier::BOLD.union(Modifier::UNDERLINED),
                _ => Modifier::empty(),
            }),
        }
    }

    /// Text whose data is old.
    pub(super) fn faded(self, style: Style) -> Style {
        let style = style.remove_modifier(Modifier::BOLD);
        match self {
            Self::Full(background) => style.fg(full(background, Tone::Dim)),
            Self::Few(_) => style.fg(Color::Reset),
            Self::None => style.add_modifier(Modifier::DIM),
            Self::HighContrast => style,
        }
    }
}

fn full(background: Background, tone: Tone) -> Color {
    let colours = match background {
        Background::Dark => DARK,
        Background::Light => LIGHT,
    };
    Color::Indexed(match tone {
        Tone::Plain => return Color::Reset,
        Tone::Dim => colours.dim,
        Tone::Accent => colours.accent,
        Tone::New | Tone::Info => colours.new,
        Tone::Heat(heat) => colours.heat[usize::from(heat.min(3))],
        Tone::Warn => colours.heat[2],
        Tone::Critical => colours.critical,
    })
}

/// The terminal's own colours: on a light background none of those that are bright. What is secondary keeps the colour of all text, since
/// "bright black" is the background itself in a theme that many use.
fn few(background: Background, tone: Tone) -> Color {
    match (background, tone) {
        (_, Tone::Plain | Tone::Dim) | (Background::Light, Tone::Heat(0 | 1)) => Color::Reset,
        (Background::Dark, Tone::Accent) => Color::LightBlue,
        (Background::Light, Tone::Accent | Tone::New | Tone::Info) => Color::Blue,
        (Background::Dark, Tone::New | Tone::Info) => Color::Cyan,
        (Background::Dark, Tone::Heat(0 | 1)) => Color::LightYellow,
        (Background::Dark, Tone::Heat(_) | Tone::Warn) => Color::Yellow,
        (Background::Light, Tone::Heat(_) | Tone::Warn) => Color::Magenta,
        (Background::Dark, Tone::Critical) => Color::LightRed,
        (Background::Light, Tone::Critical) => Color::Red,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Rgb = [f64; 3];

    /// xterm's colour of an index from 16 on, between 0 and 1, without gamma.
    fn linear(index: u8) -> Rgb {
        const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];
        let rgb = if index < 232 {
            let at = usize::from(index - 16);
            [STEPS[at / 36], STEPS[at / 6 % 6], STEPS[at % 6]]
        } else {
            [8 + (index - 232) * 10; 3]
        };
        rgb.map(gamma)
    }

    fn gamma(value: u8) -> f64 {
        let value = f64::from(value) / 255.0;
        if value <= 0.03928 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    }

    /// The contrast of WCAG 2.
    fn contrast(one: Rgb, other: Rgb) -> f64 {
        let luminance = |[red, green, blue]: Rgb| 0.2126 * red + 0.7152 * green + 0.0722 * blue;
        let (one, other) = (luminance(one), luminance(other));
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    const TONES: [Tone; 10] = [
        Tone::Dim,
        Tone::Accent,
        Tone::New,
        Tone::Info,
        Tone::Heat(0),
        Tone::Heat(1),
        Tone::Heat(2),
        Tone::Heat(3),
        Tone::Warn,
        Tone::Critical,
    ];

    fn index(background: Background, tone: Tone) -> u8 {
        let Color::Indexed(index) = full(background, tone) else { panic!("{tone:?} has no colour") };
        index
    }

    #[test]
    fn each_colour_can_be_read_on_both_backgrounds_of_its_kind() {
        let dark = [[0, 0, 0], [0, 0x2b, 0x36]];
        let light = [[0xff; 3], [0xfd, 0xf6, 0xe3]];
        for (background, stands_on) in [(Background::Dark, dark), (Background::Light, light)] {
            for tone in TONES {
                for paper in stands_on {
                    let index = index(background, tone);
                    let found = contrast(linear(index), paper.map(gamma));
                    assert!(found >= 4.5, "{tone:?} ({index}) on {paper:?}: {found:.2}");
                }
            }
        }
    }

    /// How somebody sees a colour who lacks the cones for red, green or blue (Machado, Oliveira and Fernandes 2009, severity 1).
    const BLIND: [[Rgb; 3]; 3] = [
        [[0.152_286, 1.052_583, -0.204_868], [0.114_503, 0.786_281, 0.099_216], [-0.003_882, -0.048_116, 1.051_998]],
        [[0.367_322, 0.860_646, -0.227_968], [0.280_085, 0.672_501, 0.047_413], [-0.011_820, 0.042_940, 0.968_881]],
        [[1.255_528, -0.076_749, -0.178_779], [-0.078_411, 0.930_809, 0.147_602], [0.004_733, 0.691_367, 0.303_900]],
    ];

    #[test]
    fn what_is_new_and_what_is_old_or_critical_differ_for_the_colour_blind_too() {
        for background in [Background::Dark, Background::Light] {
            for (one, other) in
                [(Tone::New, Tone::Heat(2)), (Tone::New, Tone::Critical), (Tone::Accent, Tone::Critical)]
            {
                for matrix in BLIND {
                    let seen = |tone| {
                        let rgb = linear(index(background, tone));
                        matrix
                            .map(|row| row.iter().zip(rgb).map(|(by, of)| by * of).sum::<f64>().clamp(0.0, 1.0).sqrt())
                    };
                    let (one_seen, other_seen): (Rgb, Rgb) = (seen(one), seen(other));
                    let apart = one_seen.iter().zip(other_seen).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
                    assert!(apart > 0.2, "{background:?}: {one:?} and {other:?}: {apart:.2}");
                }
            }
        }
    }

    #[test]
    fn no_style_paints_a_background_and_what_has_no_colours_sets_none() {
        for tone in TONES {
            for palette in [Palette::Full(Background::Light), Palette::Few(Background::Dark), Palette::None] {
                assert_eq!(palette.style(tone).bg, None);
            }
            for palette in [Palette::None, Palette::HighContrast] {
                assert_eq!(palette.style(tone).fg, None);
                assert_eq!(palette.faded(palette.style(tone)).fg, None);
            }
        }
    }

    #[test]
    fn high_contrast_never_dims() {
        for tone in TONES {
            let style = Palette::HighContrast.style(tone);
            assert!(!Palette::HighContrast.faded(style).add_modifier.contains(Modifier::DIM));
        }
    }
}
