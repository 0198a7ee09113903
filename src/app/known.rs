//! A finding that the user knows already is quiet for a while, and stays visible as such.

use super::{App, NOTICE_MS, Place};
use crate::core::{
    symptoms::Level,
    time::{Now, utc_minute},
};

/// How long a finding is quiet, in milliseconds: one step further each time the key is pressed.
const QUIET_MS: [i64; 2] = [3_600_000, 8 * 3_600_000];

/// The next step for the finding picked on the group screen.
pub(super) fn mark(app: &mut App, now: Now) {
    let Place::Group { key, group } = app.place.clone() else { return };
    let Some(finding) = app.picked_finding().cloned() else { return };
    // the last step was taken by this finding when it has longer than the first step gives
    let next = match finding.known_until_ms {
        None => Some(QUIET_MS[0]),
        Some(until) if until.saturating_sub(now.wall_ms) <= QUIET_MS[0] => Some(QUIET_MS[1]),
        Some(_) => None,
    };
    let until_ms = next.map(|ms| now.wall_ms.saturating_add(ms));
    if !app.watch.verdicts.mark_known(&key, &group, &finding, until_ms) {
        return app.notify("this finding is over by now", now, NOTICE_MS);
    }
    if let Some(frozen) = &mut app.frozen {
        frozen.0.verdicts.mark_known(&key, &group, &finding, until_ms);
    }
    app.overview.forget_order();
    let text = match until_ms {
        Some(until) => {
            let unless = if finding.level < Level::Critical { ", unless it gets worse" } else { "" };
            format!("{} is known: quiet until {}{unless}", finding.id, utc_minute(until))
        }
        None => format!("{} is loud again", finding.id),
    };
    app.notify(text, now, NOTICE_MS);
}
