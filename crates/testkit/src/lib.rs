//! Short-form sessions and hermetic homes for tests.
