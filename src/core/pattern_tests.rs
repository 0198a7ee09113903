use super::*;
use proptest::prelude::*;

/// The pattern of each name, as text; empty where there is none.
fn found(names: &[String], given: &[&str]) -> Vec<String> {
    let names: Vec<Name> = names.iter().map(|name| Name::from(name.as_str())).collect();
    let given: Vec<Given> = given.iter().filter_map(|text| Given::new(Name::from(*text))).collect();
    let found = patterns(&names.iter().collect::<Vec<_>>(), &given);
    found.iter().map(|pattern| pattern.as_ref().map_or(String::new(), Name::shown)).collect()
}

fn all_are(names: impl Iterator<Item = String>, pattern: &str) {
    let names: Vec<String> = names.collect();
    assert!(found(&names, &[]).iter().all(|found| found == pattern), "{:?}", found(&names, &[]));
}

#[test]
fn names_that_differ_in_numbers_and_ids_are_of_one_pattern() {
    all_are((0..60).map(|n| format!("shop:{n:02}:orders:events")), "shop:*:orders:events");
    all_are((0..8).map(|n| format!("orders{n}")), "orders*");
    all_are((0..8).map(|n| format!("orders-p{n}-of-8")), "orders-p*-of-8");
    all_are((0..8).map(|n| format!("2026:orders:{n}")), "2026:orders:*");
    all_are((0..16).map(|n| format!("tenant:{}:orders:{}", n / 4, n % 4)), "tenant:*:orders:*");
    all_are(
        ["acme", "globex", "umbrella", "a-b", "x:y", "1", "é", "Zed"]
            .map(|t| format!("orders:{{{t}}}:events"))
            .into_iter(),
        "orders:{*}:events",
    );
    all_are((0..9).map(|n| format!("jobs:550e8400-e29b-41d4-a716-4466554400{n:02x}")), "jobs:*");
    all_are((0..9).map(|n| format!("jobs:k{n}x9:in")), "jobs:*:in");
    all_are((0..9).map(|n| format!("jobs:{:08x}", 0xdead_0000_u32 + n)), "jobs:*");
}

#[test]
fn few_names_and_names_with_a_meaning_of_their_own_stay_apart() {
    all_are((0..7).map(|n| format!("orders:{n}")), "");
    let services = ["orders", "users", "mails", "payments", "stock", "audit", "search", "carts", "prices", "logins"];
    all_are(services.iter().map(|service| format!("events:{service}")), "");
    all_are(services.iter().map(|service| format!("shop:{service}:events")), "");
    all_are((0..30).map(|n| format!("events:{}", "x".repeat(n + 1))), "");
    all_are((0..30).map(|n| "x".repeat(n + 1)), "");
    all_are((0..30).map(|n| ":".repeat(n)), "");
}

#[test]
fn twenty_names_that_differ_in_one_word_are_of_one_pattern() {
    let tenant = |n: u8| format!("t{}", char::from(b'a' + n)).repeat(3);
    all_are((0..20).map(|n| format!("orders:events:{}", tenant(n))), "orders:events:*");
    all_are((0..20).map(|n| format!("{}.orders.in", tenant(n))), "*.orders.in");
    all_are((0..19).map(|n| format!("orders:events:{}", tenant(n))), "");
}

#[test]
fn a_given_pattern_comes_first_whatever_differs() {
    let names: Vec<String> = ["orders:eu", "orders:us", "orders", "mails:eu", "xorders:eu"].map(str::to_owned).into();
    assert_eq!(found(&names, &["orders:*"]), ["orders:*", "orders:*", "", "", ""]);
    assert_eq!(found(&names, &["orders:{region}"]), ["orders:{region}", "orders:{region}", "", "", ""]);
    assert_eq!(found(&names, &["*:eu", "orders:*"]), ["*:eu", "orders:*", "", "*:eu", "*:eu"]);
    let tagged = vec!["a:{x}:b".to_owned(), "a:x:b".to_owned(), "a:b".to_owned()];
    assert_eq!(found(&tagged, &["a:{tenant}:b"]), ["a:{tenant}:b", "a:{tenant}:b", ""]);
    assert_eq!(found(&["abab".to_owned(), "aba".to_owned()], &["ab*ab"]), ["ab*ab", ""], "ends do not overlap");
    assert_eq!(found(&["a1b2c".to_owned(), "acb".to_owned()], &["a*b*c"]), ["a*b*c", ""]);
    assert_eq!(Given::new(Name::from("orders")), None, "nothing differs");
}

proptest! {
    #[test]
    fn any_names_get_a_pattern_that_fits_or_none(names in prop::collection::vec("[ab0-9:{}.*-]{0,8}", 0..80)) {
        let names: Vec<Name> = names.iter().map(|name| Name::from(name.as_str())).collect();
        let found = patterns(&names.iter().collect::<Vec<_>>(), &[]);
        for (name, pattern) in names.iter().zip(&found) {
            let Some(pattern) = pattern else { continue };
            // the braces of a hash tag stand in the pattern as they are, so only the stars may differ
            let pieces = pattern.bytes().split(|byte| *byte == b'*').map(<[u8]>::to_vec).collect();
            prop_assert!(Given { text: pattern.clone(), pieces }.matches(name), "{name} is no {pattern}");
        }
    }
}
