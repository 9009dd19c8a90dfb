//! The pages say what the code does: rows, orderings, evidence, parts. And the search for what does not fit finds it.

use std::collections::BTreeSet;

use jeton_models::pages::{
    Evidence, Source, all_tests, check_parts, free_list, library, problems, rows, structure_pages, test_names, uses, workspace,
};

fn assert_none(problems: &[String]) {
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[test]
fn every_row_of_the_library_fits_its_page() {
    let (sources, tests) = (library(&workspace()).expect("the sources"), all_tests(&workspace()).expect("the tests"));
    assert!(uses(&sources).len() > 20 && tests.len() > 50, "the search finds next to nothing");
    assert_none(&problems(&sources, &tests));
}

#[test]
fn every_row_of_the_free_list_fits_its_page() {
    let (sources, tests) = (free_list(&workspace()).expect("the sources"), all_tests(&workspace()).expect("the tests"));
    assert_eq!(uses(&sources).len(), 8);
    assert_none(&problems(&sources, &tests));
}

#[test]
fn every_structure_has_a_page_with_the_ten_parts_in_order() {
    let sources = library(&workspace()).expect("the sources");
    let pages: Vec<_> = structure_pages(&sources).collect();
    assert!(pages.iter().any(|page| page.path.ends_with("counter.rs")), "{pages:?}");
    assert_none(&pages.iter().filter_map(|page| check_parts(page).err()).collect::<Vec<_>>());
}

/// The names of the files in `folder` below the package's root that begin with `prefix`, without their ending.
fn files(folder: &str, prefix: &str) -> BTreeSet<String> {
    let folder = workspace().join("models").join(folder);
    let names =
        std::fs::read_dir(&folder).expect("a folder").map(|file| file.expect("a file").file_name().into_string().expect("a name"));
    names.filter_map(|name| Some(name.strip_suffix(".rs")?.to_owned())).filter(|name| name.starts_with(prefix)).collect()
}

#[test]
fn every_structure_has_its_models_and_tests() {
    let (sources, tests) = (library(&workspace()).expect("the sources"), files("tests", ""));
    let pages = structure_pages(&sources).filter(|page| page.path.starts_with("core"));
    let structures: Vec<_> = pages.filter_map(|page| page.path.file_stem()?.to_str().map(str::to_owned)).collect();
    assert!(structures.contains(&"counter".to_owned()), "{structures:?}");
    for structure in structures {
        for kind in ["loom", "lin", "step", "prop", "faults"] {
            let of_kind = |test: &&String| test.starts_with(&format!("{kind}_")) && test.contains(&structure);
            assert!(tests.iter().any(|test| of_kind(&test)), "models/tests/{kind}_{structure}.rs is missing");
        }
    }
}

/// The page of the steps names each step and its checkers; each wrong step is a test that demands just these checkers.
#[test]
fn every_wrong_step_is_demanded_to_be_found_by_the_checkers_that_the_page_names() {
    let page = std::fs::read_to_string(workspace().join("models/src/steps.rs")).expect("the page");
    let mut steps = 0;
    for structure in ["append", "bit_pool", "cancel", "counter", "free_list", "gate", "gate_std", "segmented_log"] {
        let text = std::fs::read_to_string(workspace().join(format!("models/tests/steps_{structure}.rs"))).expect("its tests");
        let tests: BTreeSet<String> = test_names(&text).collect();
        for step in files(&format!("src/steps/{structure}"), "s").into_iter().filter(|name| name.as_bytes()[1].is_ascii_digit()) {
            let line = page.lines().find(|line| line.contains(&format!("[`{structure}::{step}`]"))).unwrap_or_default();
            let cells: Vec<_> = line.split('|').map(str::trim).collect();
            let [_, _, broken, found_by, ..] = cells[..] else { panic!("the page has no line for {structure}::{step}") };
            let wrong = broken != "nothing";
            assert_eq!(wrong, !found_by.is_empty(), "{step}");
            steps += 1;
            if !wrong {
                continue;
            }
            let watched = ["loom", "rmw", "shuttle"].iter().any(|way| found_by.contains(way));
            assert_eq!(watched, tests.contains(&step), "{structure}::{step}: {found_by}");
            assert_eq!(found_by.contains("lin"), tests.contains(&format!("{step}_lin")), "{structure}::{step}: {found_by}");
            let body = text.split(&format!("fn {step}()")).nth(1).and_then(|rest| rest.split("\n}").next()).unwrap_or_default();
            let demands = |way: &str| body.contains("Way::ALL") || body.contains(way);
            for (way, name) in [("Loom", "loom"), ("Rmw", "rmw"), ("Shuttle", "shuttle")] {
                assert_eq!(demands(way), found_by.contains(name), "{structure}::{step} by {name}: {body}");
            }
        }
    }
    assert_eq!(steps, 42);
}

// ---- The search itself, on small texts. ----

fn source(text: &str) -> Source {
    Source { path: "x.rs".into(), text: text.into() }
}

/// A page with these lines in its table, and this code.
fn page(lines: &[&str], code: &str) -> Source {
    let head =
        "//! | row | operation | ordering | pairs with | what breaks without it | evidence |\n//! |---|---|---|---|---|---|\n";
    source(&format!("//! # 6. Orderings\n//!\n{head}//! {}\n//!\n{code}\n", lines.join("\n//! ")))
}

fn found(source: Source) -> Vec<String> {
    problems(&[source], &BTreeSet::from(["a_model".to_owned()]))
}

const LINE: &str = "| x-1 | `f`: load | Acquire | x-2 | all | `a_model` |";
const CODE: &str = "fn f() { word.load(ord!(\"x-1\", Acquire)) }";

#[test]
fn what_fits_is_no_problem() {
    assert_none(&found(page(&[LINE], CODE)));
    assert_none(&found(page(&["| x-1 | `f`: fence | SeqCst | – | all | argued: by hand |"], "fence!(\"x-1\", SeqCst);")));
    assert_none(&found(page(&["| x-1 | `f`: load | Relaxed | – | – | nothing weaker |"], "ord!(\n    \"x-1\",\n    Relaxed,\n)")));
    assert_none(&found(source("// Relaxed would do; ord!(\"x-9\", Relaxed)\nlet a = core::cmp::Ordering::Less; // SeqCst")));
}

#[test]
fn a_row_that_is_not_in_both_places_once_is_found() {
    assert_eq!(found(page(&[], CODE)), ["x.rs:7: x-1 stands in no table"]);
    assert_eq!(found(page(&[LINE], "")), ["x.rs:5: no operation names x-1"]);
    assert_eq!(found(page(&[LINE, LINE], CODE)), ["x.rs:6: x-1 stands in a second line"]);
    assert_eq!(found(page(&[LINE], &format!("{CODE}\n{CODE}"))), ["x.rs:8: a second operation names x-1"]);
}

#[test]
fn another_ordering_than_the_table_says_is_found() {
    let relaxed = CODE.replace("Acquire", "Relaxed");
    assert_eq!(found(page(&[LINE], &relaxed)), ["x.rs:7: x-1 is Relaxed, but x.rs:5 says Acquire"]);
}

#[test]
fn evidence_that_is_none_is_found() {
    assert_eq!(found(page(&[&LINE.replace("a_model", "b_model")], CODE)), ["x.rs:5: x-1: there is no test `b_model`"]);
    let second = LINE.replace("`a_model`", "`a_model`, `b_model`");
    assert_eq!(found(page(&[&second], CODE)), ["x.rs:5: x-1: there is no test `b_model`"]);
    let nothing = LINE.replace("`a_model`", "nothing weaker");
    assert_eq!(found(page(&[&nothing], CODE)), ["x.rs:5: x-1: something is weaker than Acquire"]);
    assert_eq!(found(page(&[&LINE.replace("`a_model`", "argued:")], CODE)), ["x.rs:5: x-1: argued without an argument"]);
    let words = LINE.replace("`a_model`", "see above");
    assert_eq!(found(page(&[&words], CODE)), ["x.rs:5: evidence is `a_test`, `nothing weaker` or `argued: …`, not `see above`"]);
    assert_eq!(found(page(&["| x-1 | `f`: load | Acquire |"], CODE)), ["x.rs:5: 3 cells instead of 6"]);
}

#[test]
fn orderings_and_atomics_past_the_shim_are_found() {
    assert_eq!(found(source("\nword.load(Ordering::Relaxed)")), ["x.rs:2: Relaxed without a row"]);
    assert_eq!(found(source("use crate::sync::Ordering::{Acquire};")), ["x.rs:1: Acquire without a row"]);
    assert_eq!(found(source("other_ord!(\"x-1\", SeqCst)")), ["x.rs:1: SeqCst without a row"]);
    assert_eq!(found(source("use core::sync::atomic::AtomicU8;")), ["x.rs:1: sync::atomic is not the shim"]);
    assert_eq!(found(source("let word = portable_atomic::AtomicU8::new(0);")), ["x.rs:1: portable_atomic:: is not the shim"]);
}

#[test]
fn each_ordering_has_its_next_weaker_ones() {
    let weaker = |code: &str| uses(&[source(code)]).remove(0).weaker();
    assert_eq!(weaker("ord!(\"x-1\", SeqCst)"), ["AcqRel"]);
    assert_eq!(weaker("ord!(\"x-1\", AcqRel)"), ["Acquire", "Release"]);
    assert_eq!(weaker("ord!(\"x-1\", Acquire)"), ["Relaxed"]);
    assert_eq!(weaker("ord!(\"x-1\", Release)"), ["Relaxed"]);
    assert!(weaker("ord!(\"x-1\", Relaxed)").is_empty());
    assert_eq!(weaker("fence!(\"x-1\", AcqRel)"), ["none"]);
}

#[test]
fn a_table_is_read_cell_by_cell() {
    let rows = rows(&[page(&[&LINE.replace("`a_model`", "`a_model`, `b_model`")], "")]).expect("a table");
    assert_eq!((rows[0].name.as_str(), rows[0].operation.as_str(), rows[0].ordering.as_str()), ("x-1", "`f`: load", "Acquire"));
    assert_eq!(rows[0].evidence, Evidence::Tests(vec!["a_model".into(), "b_model".into()]));
}

#[test]
fn tests_are_found_by_their_attribute() {
    let text = "#[test]\nfn one() {}\nfn two() {}\n#[test]\n#[ignore = \"long\"]\nfn three() {}\n// #[test]\nfn four() {}";
    assert_eq!(test_names(text).collect::<Vec<_>>(), ["one", "three"]);
}

#[test]
fn a_page_without_a_part_or_in_another_order_is_found() {
    let titles = ["1. Problem", "2. Use", "3. Example", "4. State", "5. Invariants", "6. Orderings", "7. Progress", "8. Cost"];
    let titles: Vec<_> = titles.into_iter().chain(["9. What surprised us", "10. References"]).collect();
    let check = |titles: &[&str]| check_parts(&source(&format!("//! # {}", titles.join(" x\n//! # "))));
    assert_eq!(check(&titles), Ok(()));
    assert_eq!(check(&titles[..9]), Err("x.rs: expected the part `10. References`, found `nothing`".into()));
    let mut swapped = titles.clone();
    swapped.swap(3, 4);
    assert_eq!(check(&swapped), Err("x.rs: expected the part `4. State`, found `5. Invariants x`".into()));
    let more: Vec<_> = titles.iter().copied().chain(["11. More"]).collect();
    assert_eq!(check(&more), Err("x.rs: `11. More` comes after the last part".into()));
}
