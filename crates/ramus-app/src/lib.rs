//! Answers the questions of all front ends, each in one place: command line, screens, web app and MCP.
//!
//! A [`Workspace`] has the Claude directories and caches what it reads from them.
//! Front ends turn a request into an [`address`], ask, and draw the answer. Nothing here prints,
//! parses arguments or knows a protocol.

pub mod address;
pub mod annotations;
pub mod archive;
pub mod carry;
pub mod change;
pub mod check;
pub mod compare;
pub mod conversation;
pub mod export;
pub mod files_at;
pub mod list;
pub mod live;
pub mod message;
pub mod name;
pub mod prices;
pub mod resume;
pub mod search;
pub mod secrets;
pub mod session_status;
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

pub use address::{
    Address, AddressError, CurrentDir, CurrentProject, NodeSelector, ResolvedFile, ResolvedProject,
    Scope,
};
pub use annotations::AnnotateError;
pub use carry::{CarryError, PackItem, PlannedUnpack, UnpackRequest};
pub use change::{
    ChangeError, ChangeRequest, NewSessionAt, OpenedSession, PlanKeeper, PlannedChange,
};
pub use conversation::OpenConversation;
pub use export::{ExportError, ExportFormat, ExportReport, ExportRequest, Exporter};
pub use prices::ActivePrices;
pub use resume::{
    ClientProgram, ResumeCommand, ResumeDecision, ResumeError, ResumeOptions, ResumePlan,
    ResumeStep,
};
pub use search::{SearchBatch, SearchError, SearchNotes, SearchOrder, SearchRequest};
pub use workspace::{ProgressSink, SurveyDetail, TeamFilter, Workspace};
