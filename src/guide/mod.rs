//! The guide: what to choose, and why.

#[doc = include_str!("strategies.md")]
pub mod strategies {}
