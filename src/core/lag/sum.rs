//! The lag of more than one group.

use super::{Lag, LagKind};

/// The lags of many groups as one: as exact as the least exact of them. What is unknown in some is a lower bound of the whole, as long as
/// the rest counts for something.
pub fn sum(lags: &[&Lag]) -> Lag {
    let has = |kind: LagKind| lags.iter().any(|lag| lag.kind == kind);
    let total = |kinds: &[LagKind]| {
        let counted = lags.iter().filter(|lag| kinds.contains(&lag.kind));
        counted.filter_map(|lag| lag.value).fold(0_i64, i64::saturating_add)
    };
    let known = |kind, value| Lag { kind, value: Some(value), reported: None, reason: None, beyond_end: false };
    let open = has(LagKind::Unknown) || has(LagKind::Unsupported);
    let at_least = total(&[LagKind::Exact, LagKind::AtLeast]);
    if !lags.is_empty() && lags.iter().all(|lag| lag.kind == LagKind::Unsupported) {
        return Lag { kind: LagKind::Unsupported, ..Lag::unknown("the server reports no lag") };
    }
    // counters that drift prove no bound, so beside them a bound of others proves nothing about the whole
    match (open || has(LagKind::AtLeast), has(LagKind::AtMost), has(LagKind::Reported)) {
        (false, false, false) => known(LagKind::Exact, at_least),
        (false, false, true) => known(LagKind::Reported, total(&[LagKind::Exact, LagKind::Reported])),
        (false, true, false) => known(LagKind::AtMost, total(&[LagKind::Exact, LagKind::AtMost])),
        _ if at_least > 0 => known(LagKind::AtLeast, at_least),
        _ => Lag::unknown("the lag of some of the groups is not known"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lag(kind: LagKind, value: i64) -> Lag {
        let value = (!matches!(kind, LagKind::Unknown | LagKind::Unsupported)).then_some(value);
        Lag { kind, value, reported: None, reason: None, beyond_end: false }
    }

    fn text(lags: &[(LagKind, i64)]) -> String {
        let lags: Vec<Lag> = lags.iter().map(|(kind, value)| lag(*kind, *value)).collect();
        sum(&lags.iter().collect::<Vec<_>>()).text()
    }

    #[test]
    fn it_is_as_exact_as_the_least_exact() {
        use LagKind::{AtLeast, AtMost, Exact, Reported, Unknown, Unsupported};
        assert_eq!(text(&[(Exact, 2), (Exact, 3)]), "5");
        assert_eq!(text(&[(Exact, 2), (Reported, 3)]), "~5");
        assert_eq!(text(&[(Exact, 2), (AtLeast, 3)]), "≥5");
        assert_eq!(text(&[(Exact, 2), (AtMost, 3)]), "≤5");
        assert_eq!(text(&[(Exact, 2), (AtMost, 3), (AtLeast, 7)]), "≥9");
        assert_eq!(text(&[(Exact, 2), (Unknown, 0), (Reported, 9)]), "≥2");
        assert_eq!(text(&[(Exact, 0), (Unknown, 0)]), "?", "never 0 for what is not known");
        assert_eq!(text(&[(Reported, 4), (AtMost, 3)]), "?");
        assert_eq!(text(&[(Unsupported, 0), (Unsupported, 0)]), "n/a");
        assert_eq!(text(&[(Unsupported, 0), (Exact, 4)]), "≥4");
    }

    /// A true lag, and what may be known of it.
    fn any_lag() -> impl Strategy<Value = (i64, Lag)> {
        (0..50_i64, 0..50_i64, 0..5).prop_map(|(truth, off, kind)| match kind {
            0 => (truth, lag(LagKind::Exact, truth)),
            1 => (truth, lag(LagKind::AtLeast, (truth - off).max(0))),
            2 => (truth, lag(LagKind::AtMost, truth + off)),
            3 => (truth, lag(LagKind::Reported, off)),
            _ => (truth, Lag::unknown("test")),
        })
    }

    proptest! {
        #[test]
        fn it_never_says_more_than_is_known(lags in prop::collection::vec(any_lag(), 1..8)) {
            let truth: i64 = lags.iter().map(|(truth, _)| truth).sum();
            let sum = sum(&lags.iter().map(|(_, lag)| lag).collect::<Vec<_>>());
            let value = sum.value.unwrap_or(truth);
            match sum.kind {
                LagKind::Exact => prop_assert_eq!(value, truth),
                LagKind::AtLeast => prop_assert!(value <= truth),
                LagKind::AtMost => prop_assert!(value >= truth),
                _ => {}
            }
        }
    }
}
