//! Symptoms as scenarios (`scenarios/*.toml`): for each, what fires and what only comes close.

use crate::scenario::{self, Scenario};
use pelwatch::core::symptoms;
use std::collections::BTreeSet;

#[test]
fn every_scenario_is_judged_as_it_says() {
    let wrong: Vec<String> = scenario::all().iter().filter_map(|scenario| scenario.play().err()).collect();
    assert!(wrong.is_empty(), "{} scenarios are not judged as they say:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_symptom_has_a_scenario_that_fires_and_one_that_only_comes_near() {
    let all = scenario::all();
    let ids: BTreeSet<&str> = symptoms::ids().collect();
    let fires: BTreeSet<String> = all.iter().flat_map(Scenario::fires).collect();
    let near: BTreeSet<&String> = all.iter().flat_map(|scenario| &scenario.near_miss).collect();
    for id in &ids {
        assert!(fires.contains(*id), "no scenario says 'ID LEVEL' of {id}: what must it look like to fire?");
        assert!(
            near.iter().any(|near| near == id),
            "no scenario has {id} as near_miss: what comes near and must stay quiet?"
        );
    }
    for named in fires.iter().chain(near) {
        assert!(ids.contains(named.as_str()), "a scenario names {named}, which is no symptom");
    }
}

/// Tests the player itself: if a wrong expectation did not fail, all other scenarios would prove nothing.
#[test]
fn a_wrong_expectation_fails() {
    let text = |then: &str, near: &str| {
        format!(
            "about = 'a group whose stream was created again'\nnear_miss = [{near}]\n[[phase]]\nseconds = 2\nthen = ['{then}']\n\
             [phase.stream.k]\nadded = 10\nlength = 10\n[phase.stream.k.group.g]\ncursor = 500\nlag = 'nil'\n"
        )
    };
    let fails = |then: &str, near: &str| Scenario::read("self", &text(then, near)).play().is_err();
    assert!(!fails("cursor-beyond-end critical", ""));
    assert!(!fails("episodes cursor-beyond-end 1", "'poison'"));
    for then in [
        "none",
        "calm",
        "not cursor-beyond-end",
        "cursor-beyond-end warn",
        "poison warn",
        "episodes cursor-beyond-end 2",
        "event group-lost",
        "k: trimmed info",
        "nonsense",
    ] {
        assert!(fails(then, ""), "'{then}' does not hold");
    }
    assert!(fails("cursor-beyond-end critical", "'cursor-beyond-end'"));
}
