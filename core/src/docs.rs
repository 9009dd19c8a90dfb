//! Texts that are no structure's page.

#[doc = include_str!("../docs/guide.md")]
pub mod guide {}

#[doc = include_str!("../docs/glossary.md")]
pub mod glossary {}

#[doc = include_str!("../docs/progress-by-target.md")]
pub mod progress_by_target {}
