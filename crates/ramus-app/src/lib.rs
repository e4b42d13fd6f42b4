//! The questions ramus answers: each once, for the command line, the screens, the page and MCP.
//!
//! A [`Workspace`] holds the Claude directories and what was read of them.
//! Front ends turn a request into an [`address`], ask, and draw the answer. Nothing here prints,
//! parses arguments or knows a protocol.

pub mod address;
pub mod archive;
pub mod carry;
pub mod change;
pub mod compare;
pub mod conversation;
pub mod files_at;
pub mod list;
pub mod message;
pub mod prices;
pub mod resume;
pub mod search;
pub mod usage;

/// Files in short, as [`Workspace`] reads them.
pub mod survey {
    pub use ramus_store::survey::{
        MostComplex, ProjectSurvey, Survey, SurveyCounts, SurveyedFile, count_survey,
        time_from_system,
    };
}

pub mod time_text;
pub mod workspace;

pub use address::{Address, AddressError, NodeSelector, ResolvedFile, ResolvedProject, Scope};
pub use carry::{CarryError, PackItem, PlannedUnpack, UnpackRequest};
pub use change::{
    ChangeError, ChangeRequest, NewSessionAt, OpenedSession, PlanKeeper, PlannedChange,
};
pub use conversation::OpenConversation;
pub use prices::ActivePrices;
pub use resume::{
    ClientProgram, ResumeCommand, ResumeDecision, ResumeError, ResumePlan, ResumeStep,
};
pub use search::{SearchBatch, SearchOrder, SearchRequest};
pub use workspace::{ProgressSink, SurveyDetail, Workspace};
