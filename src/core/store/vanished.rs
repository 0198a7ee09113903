//! What became of the entries of a consumer that no longer exists. XGROUP DELCONSUMER drops what the consumer holds. Somebody who claims
//! the entries first and then deletes the consumer loses nothing. Between two ticks both look alike.

use super::{GroupState, Pel};
use crate::core::{known::Known, model::ConsumerFacts, time::Mono};

/// Describes it, as far as the known rows show: `held` are the rows from before, `listed_at` is when the consumer was last listed.
pub(super) fn fate(group: &GroupState, consumer: &ConsumerFacts, held: &Pel, listed_at: Mono) -> String {
    const NONE_PENDING: &str = "none of them is pending any more, acknowledged just before or dropped with it";
    if group.facts.pending == Known::Is(0) {
        return NONE_PENDING.to_owned();
    }
    let (mut others, mut nobody, mut gone) = (0_i64, 0_i64, 0_i64);
    for row in held.of(Some(&consumer.name)) {
        match group.pel.rows.binary_search_by_key(&row.id, |row| row.id).map(|index| &group.pel.rows[index].owner) {
            Ok(Some(owner)) if *owner != consumer.name => others += 1,
            Ok(None) => nobody += 1,
            Err(_) if group.pel.is_known(row.id) => gone += 1,
            _ => {}
        }
    }
    let known = others + nobody + gone;
    let with_nobody = if nobody > 0 { format!(", {nobody} with nobody") } else { String::new() };
    let all = held.at == listed_at && known == consumer.pending;
    match known {
        0 => "what became of them is not known".to_owned(),
        _ if all && others == known => "all of them are pending with others now".to_owned(),
        _ if all && gone == known => NONE_PENDING.to_owned(),
        _ if all => format!(
            "{others} of them are pending with others now{with_nobody}, the other {gone} no longer, acknowledged just before or dropped with it"
        ),
        _ => format!(
            "of {known} known by their ids {others} are pending with others now{with_nobody}, {gone} no longer; of the rest it is not known"
        ),
    }
}
