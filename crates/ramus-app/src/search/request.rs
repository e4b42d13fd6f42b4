//! What is searched for, where, and how much of it is wanted.

use std::sync::Arc;

use jiff::Zoned;
use ramus_core::branches::BranchStatus;
use ramus_core::pull_request::PullRequestName;
use ramus_core::query::{
    FilterKey, MatchOptions, Query, QueryError, SpeakerRole, TextKind, TypedFilter, TypedQuery,
};
use ramus_store::scan::{RankedScan, SearchSource, ToolFilter};

use super::like::LikeQuery;
use super::rank::{RankedHits, rank_hits};
use crate::address::{AddressError, Scope};
use crate::time_text::{TimeEdge, TimeError, parse_time};
use crate::workspace::Workspace;

/// How many messages of each session front ends show if the best come first.
pub const PER_SESSION: usize = 3;
/// The shortest and the longest name of a commit.
const COMMIT_DIGITS: std::ops::RangeInclusive<usize> = 4..=64;

/// What is searched for, where, and how much of it is wanted.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    /// Search for messages that are about this text ([`Workspace::load_like_model`]); the words are those of it.
    pub like_text: Option<String>,
    /// The model, and what it makes of the text.
    pub(super) like: Option<Arc<LikeQuery>>,
    /// The words, and the kinds, roles and times of the texts they are searched in.
    pub query: Query,
    pub scope: Scope,
    /// The scope as it was typed, until [`Workspace::resolve_search_scope`] finds it.
    pub scope_text: Option<String>,
    pub tool: Option<ToolFilter>,
    /// Only sessions in which this pull request was made.
    pub pull_request: Option<PullRequestName>,
    /// Only sessions that mention this commit, in lower case.
    pub commit: Option<String>,
    /// Only messages on branches of this status.
    pub status: Option<BranchStatus>,
    pub agents: AgentFilter,
    pub order: SearchOrder,
    /// If the best come first: the maximum number of messages of each session; a search in a single session has all.
    /// `None`: all, and each record is a message.
    pub per_session: Option<usize>,
    /// Search for exactly the typed text: no other case, no other words.
    pub is_exact: bool,
    /// If no session has all words, show those that have most of them.
    pub accepts_partial: bool,
    /// Search for similar words where a word occurs nowhere.
    pub is_fuzzy: bool,
    /// Look for similar words to propose if a word occurs nowhere.
    pub suggests: bool,
    /// How many hits are left out at the beginning: those an earlier answer had.
    pub offset: usize,
    pub limit: Option<usize>,
    /// Go on counting hits beyond the limit.
    pub counts_all: bool,
    /// How many messages before and after each hit are read, too.
    pub context: usize,
    /// How many characters of a text are shown at most.
    pub passage_chars: usize,
    /// Leave half of the threads to others.
    pub in_background: bool,
}

/// Which records of sub-agents are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentFilter {
    Any,
    Only,
    None,
}

/// The order of hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchOrder {
    /// Newest first; hits are delivered while files are still read. A message must have all words.
    Newest,
    /// The best sessions first, each with its best messages; the words may be in several messages.
    Best,
}

/// Why a search cannot be made.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SearchError {
    #[error(transparent)]
    Query(#[from] QueryError),
    #[error(transparent)]
    Time(#[from] TimeError),
}

impl SearchRequest {
    fn new(query: Query) -> Self {
        Self {
            like_text: None,
            like: None,
            query,
            scope: Scope::All,
            scope_text: None,
            tool: None,
            pull_request: None,
            commit: None,
            status: None,
            agents: AgentFilter::Any,
            order: SearchOrder::Newest,
            per_session: None,
            is_exact: false,
            accepts_partial: true,
            is_fuzzy: false,
            suggests: false,
            offset: 0,
            limit: None,
            counts_all: false,
            context: 0,
            passage_chars: 240,
            in_background: false,
        }
    }

    /// Searches for a typed query: words, phrases and filters ([`TypedQuery`]).
    pub fn from_text(text: &str) -> Result<Self, SearchError> {
        Self::from_typed(&TypedQuery::parse(text), MatchOptions::default(), &Zoned::now())
    }

    /// Searches for words and filters. Without words, everything that passes the filters is found.
    pub fn from_typed(
        typed: &TypedQuery,
        options: MatchOptions,
        now: &Zoned,
    ) -> Result<Self, SearchError> {
        if let Some(filter) = typed.negated.first() {
            return Err(filter.negation_error().into());
        }
        let mut typed = typed.clone();
        let like_text = typed.take_like_text();
        if !typed.words.is_empty() {
            let request = Self { like_text, ..Self::new(Query::from_typed(&typed, options)?) };
            return request.with_filters(&typed.filters, now);
        }
        if typed.filters.is_empty() || !typed.without.is_empty() {
            let message = match typed.without.is_empty() {
                true => "the search text is empty".to_owned(),
                false => "add a word to find; `-word` only leaves messages out".to_owned(),
            };
            return Err(QueryError { message, span: None }.into());
        }
        let request = Self::new(Query::anything()?);
        let mut request = request.with_filters(&typed.filters, now)?;
        request.search_anything()?;
        Ok(request)
    }

    /// Searches for a regular expression.
    pub fn from_regex(
        pattern: &str,
        filters: &[TypedFilter],
        now: &Zoned,
    ) -> Result<Self, SearchError> {
        let request = Self { is_exact: true, ..Self::new(Query::from_regex(pattern)?) };
        request.with_filters(filters, now)
    }

    /// Chooses the kinds of text to find if there are only filters.
    fn search_anything(&mut self) -> Result<(), QueryError> {
        let kinds = match &*self {
            it if !it.query.kinds.is_empty() || !it.query.roles.is_empty() => return Ok(()),
            Self { tool: Some(_), .. } if self.query.only_errors => vec![TextKind::ToolResult],
            Self { tool: Some(_), .. } => vec![TextKind::ToolInput],
            Self { pull_request: Some(wanted), .. } => {
                let pattern = format!(r"(?:\A|\D){}(?:\D|\z)", wanted.number);
                self.query = self.query.with_regex(&pattern)?;
                vec![TextKind::PullRequest]
            }
            Self { commit: Some(commit), .. } => {
                self.query = self.query.with_regex(&commit_pattern(commit))?;
                return Ok(());
            }
            it if it.query.only_errors => return Ok(()),
            _ => vec![TextKind::Prompt, TextKind::Reply],
        };
        self.query.kinds = kinds;
        Ok(())
    }

    fn with_filters(mut self, filters: &[TypedFilter], now: &Zoned) -> Result<Self, SearchError> {
        for (index, filter) in filters.iter().enumerate() {
            let is_other = |it: &&TypedFilter| it.key == filter.key && it.value != filter.value;
            let earlier = filters[..index].iter().find(is_other);
            if let Some(earlier) = earlier.filter(|_| !filter.key.takes_several()) {
                return Err(earlier.conflict_error(filter).into());
            }
            self.add_filter(filter, now)?;
        }
        self.check_filters(filters)?;
        Ok(self)
    }

    /// Rejects filters that no message can pass together.
    fn check_filters(&self, filters: &[TypedFilter]) -> Result<(), QueryError> {
        let Query { since, until, kinds, roles, .. } = &self.query;
        let typed = |key| {
            let found = filters.iter().rev().find(|filter| filter.key == key);
            found.map_or("", |filter| &*filter.value)
        };
        let message = if let (Some(since), Some(until)) = (since, until)
            && since >= until
        {
            let (since, until) = (typed(FilterKey::Since), typed(FilterKey::Until));
            format!("no message is both since {since:?} and until {until:?}")
        } else if !kinds.is_empty()
            && !roles.is_empty()
            && !kinds.iter().any(|kind| roles.contains(&kind.speaker_role()))
        {
            let (kind, role) = (typed(FilterKey::Kind), typed(FilterKey::Role));
            format!("no text of the kind {kind:?} is from the role {role:?}")
        } else {
            return Ok(());
        };
        Err(QueryError { message, span: None })
    }

    fn add_filter(&mut self, filter: &TypedFilter, now: &Zoned) -> Result<(), SearchError> {
        let value = &filter.value;
        match filter.key {
            FilterKey::Tool => self.tool.get_or_insert_default().names.push(value.clone()),
            FilterKey::File => self.tool.get_or_insert_default().files.push(value.clone()),
            FilterKey::Since => {
                self.query.since = Some(parse_time(value, TimeEdge::Start, now)?);
            }
            FilterKey::Until => self.query.until = Some(parse_time(value, TimeEdge::End, now)?),
            FilterKey::Role => {
                let expected = SpeakerRole::ALL.map(SpeakerRole::as_str).join(", ");
                let role = SpeakerRole::parse(value);
                self.query.roles.push(role.ok_or_else(|| filter.value_error(&expected))?);
            }
            FilterKey::Kind => {
                let expected = TextKind::ALL.map(TextKind::as_str).join(", ");
                let kind = TextKind::ALL.into_iter().find(|kind| kind.as_str() == value);
                self.query.kinds.push(kind.ok_or_else(|| filter.value_error(&expected))?);
            }
            FilterKey::Branch if value == "any" => self.status = None,
            FilterKey::Branch => {
                let status = BranchStatus::parse(value);
                let status =
                    status.ok_or_else(|| filter.value_error("active, abandoned or any"))?;
                self.status = Some(status);
            }
            FilterKey::Model => self.query.model = Some(value.to_lowercase()),
            FilterKey::PullRequest => {
                let parsed = value.parse();
                let wrong = |_| filter.value_error("42, owner/name#42 or its URL");
                self.pull_request = Some(parsed.map_err(wrong)?);
            }
            FilterKey::Commit => {
                let is_name = value.bytes().all(|byte| byte.is_ascii_hexdigit())
                    && COMMIT_DIGITS.contains(&value.len());
                if !is_name {
                    return Err(filter.value_error("4 to 64 hexadecimal digits").into());
                }
                self.commit = Some(value.to_lowercase());
            }
            // Taken out before, with the words.
            FilterKey::Like => {}
            FilterKey::Scope => self.scope_text = Some(value.clone()),
            FilterKey::Is if value == "error" => self.query.only_errors = true,
            FilterKey::Is => return Err(filter.value_error("error").into()),
        }
        Ok(())
    }

    /// Returns the same request, for all messages if the scope is a single session.
    pub(super) fn with_all_of_single_session(&self) -> Self {
        let is_single = self.scope.sessions().is_some_and(|sessions| sessions.len() == 1);
        let per_session = self.per_session.map(|count| if is_single { usize::MAX } else { count });
        Self { per_session, ..self.clone() }
    }

    /// Ranks what a search found. Where all messages of a session are wanted, each record is one.
    pub(super) fn rank_hits(&self, scan: &RankedScan, sources: &[SearchSource]) -> RankedHits {
        rank_hits(scan, sources, &self.query, self.per_session.is_some())
    }

    /// Whether messages that have the words can still be left out.
    pub fn has_filters(&self) -> bool {
        let Query { kinds, roles, since, until, only_errors, model, .. } = &self.query;
        let has_excluded = || self.query.typed_words().is_some_and(|it| !it.without.is_empty());
        self.tool.is_some()
            || self.pull_request.is_some()
            || self.commit.is_some()
            || self.status.is_some()
            || self.agents != AgentFilter::Any
            || !kinds.is_empty()
            || !roles.is_empty()
            || since.is_some()
            || until.is_some()
            || *only_errors
            || model.is_some()
            || has_excluded()
    }

    /// Whether prompts of deleted sessions can match: only their words and times are known.
    pub(super) fn wants_deleted_prompts(&self) -> bool {
        self.tool.is_none()
            && self.pull_request.is_none()
            && self.commit.is_none()
            && self.query.model.is_none()
            && !self.query.only_errors
            && self.status.is_none()
            && self.agents != AgentFilter::Only
            && self.scope.sessions().is_none()
    }
}

/// Returns a pattern for a commit that is named by at least these digits.
pub(super) fn commit_pattern(digits: &str) -> String {
    format!(r"(?i)(?:\A|[^0-9a-z]){digits}[0-9a-f]{{0,60}}(?:[^0-9a-z]|\z)")
}

impl Workspace {
    /// Finds the scope that was typed in the query (`in:NAME`).
    pub fn resolve_search_scope(&self, request: &mut SearchRequest) -> Result<(), AddressError> {
        if let Some(text) = request.scope_text.take() {
            request.scope = self.resolve_scope(Some(&text))?;
        }
        Ok(())
    }
}
