//! Selects exchanges by number or uuid.

use std::fmt;

use super::MergeSources;
use super::element::MergeElement;
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
#[error("{0:?} names no exchange; write `2:3`, `2:3-5`, `2` or the first letters of a uuid")]
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

/// Finds the exchanges that are meant, in order.
pub(super) fn find_picked<'e>(
    sources: &MergeSources<'_>,
    branches: &'e [Vec<MergeElement>],
    pick: &ExchangePick,
) -> Result<Vec<&'e MergeElement>, EditRefusal> {
    let none = || EditRefusal::NoExchange { pick: pick.to_string() };
    let own = branches.iter().flatten().filter(|element| element.number > 0);
    let found: Vec<&MergeElement> = match pick {
        ExchangePick::Own { branch, from, to } => {
            let of_branch = own.filter(|element| element.branch + 1 == *branch);
            let all: Vec<&MergeElement> = of_branch.collect();
            let to = to.unwrap_or(all.len());
            let slice = from.checked_sub(1).and_then(|from| all.get(from..to));
            slice.ok_or_else(none)?.to_vec()
        }
        ExchangePick::Uuid(prefix) => {
            let holds = |element: &&MergeElement| {
                element.all_records().iter().any(|(source, node)| {
                    let session = &sources.origins[*source].history.session;
                    let name = session.record(*node).uuid;
                    name.is_some_and(|name| session.uuid_text(name).starts_with(prefix.as_str()))
                })
            };
            own.filter(holds).collect()
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
