//! Deleting a consumer (XGROUP DELCONSUMER). The command destroys what the consumer holds, so it is refused while it holds anything,
//! and one script checks and deletes.

use super::{
    Ask, Asked, Facts, Form, Objections, Plan, Planned, PreviewLine, Scripted, Weight, object, server_refusal, warning,
};
use crate::core::{command::Argv, json, name::Name, outcome::Done, time::age_words, words::count};
use serde_json::{Map, Value, json};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeleteConsumerAsk {
    pub key: Name,
    pub group: Name,
    pub consumer: Name,
}

impl Asked for DeleteConsumerAsk {
    fn key(&self) -> &Name {
        &self.key
    }

    fn group(&self) -> &Name {
        &self.group
    }

    fn name(&self) -> &'static str {
        "delete-consumer"
    }

    fn title(&self) -> String {
        format!("Delete the consumer {}", self.consumer)
    }

    fn filled(&self, _: &Form) -> Result<Ask, String> {
        Ok(Ask::DeleteConsumer(self.clone()))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct DeleteConsumerPlan {
    pub ask: DeleteConsumerAsk,
    pub objections: Objections,
    pub command: Argv,
}

/// Makes the plan.
pub fn plan(ask: DeleteConsumerAsk, facts: &Facts) -> DeleteConsumerPlan {
    let consumer = &ask.consumer;
    let found = facts.consumers.iter().find(|other| other.name == *consumer);
    let refused = server_refusal(&facts.server)
        .or_else(|| match found {
            None => Some(format!("{consumer} is not a consumer of this group")),
            Some(found) if found.pending > 0 => Some(format!(
                "{consumer} holds {}: deleting it would drop them for good; claim or acknowledge them first",
                count(found.pending, "pending entry", "pending entries")
            )),
            Some(_) => None,
        })
        .or_else(|| {
            let why = "EVAL is not allowed, and without it nothing keeps the consumer from getting entries meanwhile";
            (!facts.may_eval).then(|| why.to_owned())
        });
    let mut warnings = Vec::new();
    if let Some(found) = found.filter(|found| found.idle_ms <= facts.active_ms) {
        let text = format!(
            "{consumer} was seen {} ago: if it continues to read, the server creates it again",
            age_words(found.idle_ms)
        );
        warnings.push(warning("owner-active", text));
    }
    let command = Argv::of(&[b"XGROUP", b"DELCONSUMER", ask.key.bytes(), ask.group.bytes(), ask.consumer.bytes()]);
    DeleteConsumerPlan { ask, objections: Objections { warnings, refused }, command }
}

impl Planned for DeleteConsumerPlan {
    fn ask(&self) -> Ask {
        Ask::DeleteConsumer(self.ask.clone())
    }

    fn objections(&self) -> &Objections {
        &self.objections
    }

    fn objections_mut(&mut self) -> &mut Objections {
        &mut self.objections
    }

    fn commands(&self) -> Vec<Argv> {
        vec![self.command.clone()]
    }

    fn preview(&self) -> Vec<PreviewLine> {
        if self.objections.refused.is_some() {
            return Vec::new();
        }
        let text = format!("{} would be deleted from {}; it holds nothing", self.ask.consumer, self.ask.group);
        vec![PreviewLine::new(Weight::Plain, text)]
    }

    fn before(&self) -> Value {
        json!({"consumer": json::name(&self.ask.consumer)})
    }

    fn json(&self) -> Map<String, Value> {
        object(json!({"consumer": json::name(&self.ask.consumer)}))
    }

    fn outcome_json(&self, done: &Done) -> Map<String, Value> {
        object(json!({"deleted": done.deleted.is_some()}))
    }

    fn scripted(&self) -> Option<&dyn Scripted> {
        Some(self)
    }
}

/// Deletes only what holds nothing at that moment. KEYS: the stream. ARGV: group, consumer. Answers OK, HOLDS with the number, or
/// ABSENT.
const SCRIPT: &str = r"
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

impl Scripted for DeleteConsumerPlan {
    fn script(&self) -> &'static str {
        SCRIPT
    }

    fn args(&self) -> Vec<Name> {
        vec![self.ask.group.clone(), self.ask.consumer.clone()]
    }

    fn may_eval(&self) -> bool {
        true
    }

    fn answer(&self, words: &[String]) -> Result<Done, String> {
        let consumer = &self.ask.consumer;
        match words {
            [word, ..] if word == "OK" => self.done(1),
            [word, held, ..] if word == "HOLDS" => Err(format!("{consumer} holds {held} entries now")),
            _ => Err(format!("{consumer} is not a consumer of this group any more")),
        }
    }

    fn done(&self, _dropped: i64) -> Result<Done, String> {
        Ok(Done { deleted: Some(format!("the consumer {}", self.ask.consumer)), ..Done::default() })
    }

    fn found(&self, now: Result<&Facts, &str>) -> String {
        let consumer = &self.ask.consumer;
        match now {
            Err(why) => why.to_owned(),
            Ok(now) if now.consumers.iter().any(|other| other.name == *consumer) => {
                format!("asked again: {consumer} is there")
            }
            Ok(_) => format!("asked again: {consumer} is not there any more"),
        }
    }
}

impl From<DeleteConsumerPlan> for Plan {
    fn from(plan: DeleteConsumerPlan) -> Self {
        Self::DeleteConsumer(plan)
    }
}
