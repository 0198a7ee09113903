//! Deleting a consumer. The command destroys what the consumer holds, so it is refused while it holds anything, and checked and
//! done in one script.

use super::{Warning, server_refusal, warning};
use crate::core::{
    command::Argv,
    model::{ConsumerFacts, ServerFacts},
    name::Name,
    time::age_words,
};

/// The plan.
#[derive(Clone, Debug, PartialEq)]
pub struct DeletePlan {
    /// The stream.
    pub key: Name,
    /// The group.
    pub group: Name,
    /// The consumer.
    pub consumer: Name,
    /// What to know.
    pub warnings: Vec<Warning>,
    /// Why it may not be done.
    pub refused: Option<String>,
    /// The command.
    pub command: Argv,
}

/// Makes the plan.
pub fn plan(
    key: Name,
    group: Name,
    consumer: Name,
    server: &ServerFacts,
    consumers: &[ConsumerFacts],
    active_ms: i64,
) -> DeletePlan {
    let found = consumers.iter().find(|one| one.name == consumer);
    let refused = server_refusal(server).or_else(|| match found {
        None => Some(format!("{consumer} is not a consumer of this group")),
        Some(one) if one.pending > 0 => Some(format!(
            "{consumer} holds {} pending entries: deleting it would drop them for good; claim or acknowledge them first",
            one.pending
        )),
        Some(_) => None,
    });
    let mut warnings = Vec::new();
    if let Some(one) = found.filter(|one| one.idle_ms <= active_ms) {
        let text = format!(
            "{consumer} was seen {} ago: if it goes on reading, it comes back by itself",
            age_words(one.idle_ms)
        );
        warnings.push(warning("owner-active", text));
    }
    let command = Argv::of(&[b"XGROUP", b"DELCONSUMER", key.bytes(), group.bytes(), consumer.bytes()]);
    DeletePlan { key, group, consumer, warnings, refused, command }
}

/// Deletes only what holds nothing at that moment. KEYS: the stream. ARGV: group, consumer. Answers OK, HOLDS with the number, or
/// ABSENT.
pub const SCRIPT: &str = r"
for _, one in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
  local name, pending
  for i = 1, #one, 2 do
    if one[i] == 'name' then name = one[i + 1] end
    if one[i] == 'pending' then pending = one[i + 1] end
  end
  if name == ARGV[2] then
    if pending > 0 then return {'HOLDS', tostring(pending)} end
    redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], ARGV[2])
    return {'OK', '0'}
  end
end
return {'ABSENT', ''}
";
