//! What the code says: operations that name a row, and orderings that do not.

use super::Source;

/// An operation, or a fence, that names a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    /// The row.
    pub row: String,
    /// The ordering.
    pub ordering: String,
    /// Whether it is a fence.
    pub fence: bool,
    /// File and line.
    pub place: String,
}

impl Use {
    /// The orderings one step weaker; `none` stands for no fence at all.
    pub fn weaker(&self) -> &'static [&'static str] {
        match self.ordering.as_str() {
            _ if self.fence => &["none"],
            "SeqCst" => &["AcqRel"],
            "AcqRel" => &["Acquire", "Release"],
            "Acquire" | "Release" => &["Relaxed"],
            _ => &[],
        }
    }
}

const ORDERINGS: [&str; 5] = ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];

/// Paths under which atomic types can be had elsewhere than in the shim.
const OTHER_ATOMICS: [&str; 4] = ["sync::atomic", "portable_atomic::", "loom::", "shuttle::"];

/// The text without comments, line by line, so that places stay right. Strings with two slashes in them end there as well.
fn code_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(|line| line.split_once("//").map_or(line, |(code, _)| code))
}

/// A macro call that names a row, from its name on: the call, its row and ordering, and the length of it all.
fn call_at(text: &str) -> Option<(bool, &str, &str, usize)> {
    let fence = text.starts_with("fence!(");
    let arguments = text.strip_prefix("ord!(").or_else(|| text.strip_prefix("fence!("))?;
    let (arguments, _) = arguments.split_once(')')?;
    let (row, ordering) = arguments.split_once(',')?;
    let row = row.trim().strip_prefix('"')?.strip_suffix('"')?;
    let length = arguments.as_ptr().addr() - text.as_ptr().addr() + arguments.len() + 1;
    Some((fence, row, ordering.trim().trim_end_matches(',').trim(), length))
}

/// The calls in a source, and its code without them.
fn split(source: &Source) -> (Vec<Use>, String) {
    let code = code_lines(&source.text).collect::<Vec<_>>().join("\n");
    let (mut uses, mut rest) = (Vec::new(), String::new());
    let (mut at, mut line) = (0, 1);
    while let Some(next) = code[at..].chars().next() {
        // A name that only ends like the macro's is another one.
        let begins_word = !rest.ends_with(|before: char| before.is_alphanumeric() || before == '_');
        match call_at(&code[at..]).filter(|_| begins_word) {
            Some((fence, row, ordering, length)) => {
                let place = format!("{}:{line}", source.path.display());
                uses.push(Use { row: row.to_owned(), ordering: ordering.to_owned(), fence, place });
                // A call may go over several lines.
                let lines = code[at..at + length].matches('\n').count();
                rest.push_str(&"\n".repeat(lines));
                line += lines;
                at += length;
            }
            None => {
                rest.push(next);
                line += usize::from(next == '\n');
                at += next.len_utf8();
            }
        }
    }
    (uses, rest)
}

pub(super) fn uses(source: &Source) -> Vec<Use> {
    split(source).0
}

/// Orderings without a row, and atomic types that are not the shim's.
pub(super) fn bare_orderings(source: &Source) -> Vec<String> {
    let rest = split(source).1;
    let in_line = |(number, line): (usize, &str)| {
        let place = format!("{}:{}", source.path.display(), number + 1);
        let words = line.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let bare = words.filter(|word| ORDERINGS.contains(word)).map(|word| format!("{place}: {word} without a row"));
        let other = OTHER_ATOMICS.iter().filter(|path| line.contains(**path));
        bare.chain(other.map(|path| format!("{place}: {path} is not the shim"))).collect::<Vec<_>>()
    };
    rest.lines().enumerate().flat_map(in_line).collect()
}

/// The names of the functions with `#[test]` before them.
pub fn test_names(text: &str) -> impl Iterator<Item = String> {
    let mut is_test = false;
    code_lines(text).filter_map(move |line| {
        let line = line.trim();
        if line == "#[test]" {
            is_test = true;
        }
        let name = line.strip_prefix("fn ")?.split('(').next()?;
        std::mem::take(&mut is_test).then(|| name.to_owned())
    })
}
