//! Selects exchanges by number or uuid.

use std::fmt;

use super::MergeSources;
use super::element::{MergeBranch, MergeElement};
use crate::edit::EditRefusal;

/// Selects exchanges of the conversations to merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExchangePick {
    /// Own exchanges of a conversation by their numbers, both from 1; without `to`: to the end.
    Own { branch: usize, from: usize, to: Option<usize> },
    /// The exchange with a record whose uuid begins like this.
    Uuid(String),
}

/// A text that selects no exchange.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid exchange {0:?}; use `2:3`, `2:3-5`, `2`, or the start of a uuid")]
pub struct PickError(String);

/// How many letters of a uuid are enough.
const MIN_UUID_PREFIX: usize = 4;

impl ExchangePick {
    /// Parses `2:3`, `2:3-5`, `2:3-`, `2` (all own exchanges of the second conversation) or the beginning of a
    /// uuid, separated by commas.
    pub fn parse(text: &str) -> Result<Vec<Self>, PickError> {
        text.split(',').map(|one| Self::parse_one(one.trim())).collect()
    }

    fn parse_one(text: &str) -> Result<Self, PickError> {
        let error = || PickError(text.to_owned());
        let number = |text: &str| text.parse::<usize>().ok().filter(|number| *number > 0);
        if let Some((branch, numbers)) = text.split_once(':') {
            let branch = number(branch).ok_or_else(error)?;
            let (from, to) = match numbers.split_once('-') {
                Some((from, "")) => (number(from).ok_or_else(error)?, None),
                Some((from, to)) => {
                    (number(from).ok_or_else(error)?, Some(number(to).ok_or_else(error)?))
                }
                None => {
                    let n = number(numbers).ok_or_else(error)?;
                    (n, Some(n))
                }
            };
            return Ok(Self::Own { branch, from, to });
        }
        if text.len() < MIN_UUID_PREFIX {
            let branch = number(text).ok_or_else(error)?;
            return Ok(Self::Own { branch, from: 1, to: None });
        }
        let is_uuid = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if is_uuid { Ok(Self::Uuid(text.to_owned())) } else { Err(error()) }
    }
}

impl fmt::Display for ExchangePick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own { branch, from, to: Some(to) } if from == to => write!(f, "{branch}:{from}"),
            Self::Own { branch, from, to: Some(to) } => write!(f, "{branch}:{from}-{to}"),
            Self::Own { branch, from, to: None } => write!(f, "{branch}:{from}-"),
            Self::Uuid(uuid) => f.write_str(uuid),
        }
    }
}

/// Finds the selected exchanges, in order.
pub(super) fn find_picked<'e>(
    sources: &MergeSources<'_>,
    branches: &'e [MergeBranch],
    pick: &ExchangePick,
) -> Result<Vec<&'e MergeElement>, EditRefusal> {
    let none = || EditRefusal::NoExchange { pick: pick.to_string() };
    let own =
        branches.iter().flat_map(|branch| branch.elements.iter().map(move |one| (branch, one)));
    let own = own.filter(|(_, element)| element.is_own());
    let found: Vec<&MergeElement> = match pick {
        ExchangePick::Own { branch, from, to } => {
            let elements = own.map(|(_, element)| element);
            let all: Vec<&MergeElement> =
                elements.filter(|element| element.branch() + 1 == *branch).collect();
            let to = to.unwrap_or(all.len());
            let slice = from.checked_sub(1).and_then(|from| all.get(from..to));
            slice.ok_or_else(none)?.to_vec()
        }
        ExchangePick::Uuid(prefix) => {
            let holds = |(branch, element): &(&MergeBranch, &MergeElement)| {
                branch.all_records_of(element).iter().any(|(source, node)| {
                    let session = &sources.origins[*source as usize].history.session;
                    let name = session.record(*node).uuid;
                    name.is_some_and(|name| session.uuid_text(name).starts_with(prefix.as_str()))
                })
            };
            own.filter(holds).map(|(_, element)| element).collect()
        }
    };
    match (&found[..], pick) {
        ([], _) => Err(none()),
        ([_, _, ..], ExchangePick::Uuid(_)) => {
            Err(EditRefusal::SeveralExchanges { pick: pick.to_string(), found: found.len() })
        }
        _ => Ok(found),
    }
}
