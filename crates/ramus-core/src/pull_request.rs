//! Pull requests that were made in a session (`pr-link` records).

use bitcode::{Decode, Encode};

/// A pull request as recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct PullRequest {
    pub number: Option<u64>,
    pub url: Box<str>,
    /// `owner/name`.
    pub repository: Option<Box<str>>,
}

impl PullRequest {
    /// Returns its description for a reader.
    pub fn description(&self) -> String {
        let number = self.number.map(|number| format!(" #{number}")).unwrap_or_default();
        let of = self.repository.as_ref().map(|name| format!(" of {name}")).unwrap_or_default();
        format!("pull request{number}{of}: {}", self.url)
    }
}

/// What a person typed for a pull request: `42`, `#42`, `owner/name#42` or its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullRequestName {
    pub number: u64,
    /// In lower case; `None`: any repository.
    repository: Option<String>,
}

impl std::str::FromStr for PullRequestName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("invalid pull request {text:?}; use 42, owner/name#42 or its URL");
        let (before, number) = text.rsplit_once(['#', '/']).unwrap_or(("", text));
        let number = number.parse().map_err(|_| wrong())?;
        let before = before.split_once("://").map_or(before, |(_, rest)| rest);
        let before = before.trim_end_matches("/pull").trim_end_matches("/-/merge_requests");
        let repository = (!before.is_empty()).then(|| before.to_lowercase());
        Ok(Self { number, repository })
    }
}

impl std::fmt::Display for PullRequestName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.repository {
            Some(repository) => write!(f, "{repository}#{}", self.number),
            None => write!(f, "{}", self.number),
        }
    }
}

impl PullRequestName {
    /// Whether this is the pull request that was meant.
    pub fn is_match(&self, request: &PullRequest) -> bool {
        let is_of = |wanted: &String| {
            let named = request.repository.as_deref().map(str::to_lowercase);
            let url = request.url.to_lowercase();
            let in_url = || url.contains(&format!("/{}/", wanted.trim_matches('/')));
            named.is_some_and(|named| named == *wanted) || in_url()
        };
        request.number == Some(self.number) && self.repository.as_ref().is_none_or(is_of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, is_meant: bool) {
        let request = PullRequest {
            number: Some(42),
            url: "https://github.com/Acme/kettle/pull/42".into(),
            repository: Some("Acme/kettle".into()),
        };
        let name: PullRequestName = name.parse().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(name.to_string().parse(), Ok(name.clone()));
        assert_eq!(name.is_match(&request), is_meant, "{name:?}");
    }

    #[test]
    fn a_pull_request_is_meant_by_number_repository_or_address() {
        check("42", true);
        check("#42", true);
        check("acme/kettle#42", true);
        check("https://github.com/Acme/kettle/pull/42", true);
        check("43", false);
        check("acme/teapot#42", false);
        check("https://github.com/acme/teapot/pull/42", false);
        assert!("kettle".parse::<PullRequestName>().is_err());
    }
}
