//! The generated table in a paper's README.

use anyhow::{Context, Result};

use crate::{matrix::Matrix, row::Row, table};

/// The line before the table.
pub const BEGIN: &str = "<!-- table: begin, written by `cargo papers NAME --save` -->";
/// The line after the table.
pub const END: &str = "<!-- table: end -->";

/// The text with the table of these rows between the two lines.
pub fn with_table(text: &str, rows: &[Row], matrices: &[Matrix]) -> Result<String> {
    let (before, rest) = text.split_once(BEGIN).with_context(|| format!("README.md has no line `{BEGIN}`"))?;
    let (_, after) = rest.split_once(END).with_context(|| format!("README.md has no line `{END}` after the table"))?;
    Ok(format!("{before}{BEGIN}\n{}{END}{after}", table::markdown(rows, matrices)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::sample;

    #[test]
    fn the_table_is_replaced_and_nothing_else() {
        let (_, rows) = sample();
        let once = with_table(&format!("before\n{BEGIN}\nold table\n{END}\nafter\n"), &rows, &[]).unwrap();
        assert!(once.starts_with("before\n") && once.ends_with("\nafter\n") && !once.contains("old table"));
        assert_eq!(with_table(&once, &rows, &[]).unwrap(), once);
        assert!(with_table(END, &rows, &[]).is_err());
        assert!(with_table(BEGIN, &rows, &[]).is_err());
    }
}
