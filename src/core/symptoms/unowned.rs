//! Pending entries that nobody holds: a consumer released them, and nobody claimed them yet.

use super::{About, Argv, Case, Level, Verdict, entries};

pub(super) const ABOUT: About = About {
    id: "unowned",
    levels: &[Level::Info],
    says: "Pending entries are held by nobody",
    cause: "a consumer gave them back with XNACK (8.8+)",
    remedy: "a consumer has to claim them (c does it by hand), or to read with CLAIM; they are claimed whatever the min-idle says",
};

pub(super) fn judge(case: &Case) -> Verdict {
    match case.group.unowned() {
        None => Verdict::NotEnoughData,
        Some(0) => Verdict::Ok,
        Some(n) => {
            let verb = if n == 1 { "is" } else { "are" };
            let text = format!(
                "{} of {} pending {verb} held by nobody: released, and not taken so far",
                entries(n),
                case.pending
            );
            let check = Argv::of(&[b"XPENDING", case.stream.key.bytes(), case.group.name().bytes(), b"-", b"+", b"10"]);
            ABOUT.finding(Level::Info, text, check).with("unowned", n).with("pending", case.pending).into()
        }
    }
}
