//! Finds languages by name, and describes their syntax for the scanner.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::painter::LabelPainter;
use super::{code_scanner, formats, language_table, shell_scanner};
use crate::span::SyntaxKind;

/// How a text is scanned.
#[derive(Clone, Copy)]
pub(super) enum Grammar {
    Words(&'static Language),
    Shell,
    /// Commands after a prompt, with their output.
    Console,
    Markup,
    Markdown,
    Diff,
}

impl Grammar {
    /// Finds the grammar for a name, an extension or the name of a file.
    pub(super) fn for_language(language: &str) -> Option<Self> {
        // ```rust,ignore  ```{.python}  ```ts title="a.ts"  ```rust:src/lib.rs
        let word = language.trim_start_matches(['{', '.']).split([' ', ',', '{', '}']).next()?;
        let name = word.rsplit(['/', '\\']).next()?.split(':').next()?.to_ascii_lowercase();
        let ending = |name: &str| Self::by_name(name.rsplit_once('.')?.1);
        // A file name may contain spaces.
        Self::by_name(&name)
            .or_else(|| ending(&name))
            .or_else(|| ending(&language.to_ascii_lowercase()))
    }

    fn by_name(name: &str) -> Option<Self> {
        Some(match name {
            "sh" | "bash" | "zsh" | "shell" | "ksh" | "fish" | "bats" => Self::Shell,
            "console" | "shellsession" | "shell-session" | "terminal" => Self::Console,
            "html" | "htm" | "xhtml" | "xml" | "svg" | "vue" | "svelte" | "astro" | "plist"
            | "xsl" | "xsd" | "csproj" | "jsp" | "erb" => Self::Markup,
            "md" | "markdown" | "mdx" => Self::Markdown,
            "diff" | "patch" => Self::Diff,
            name => Self::Words(find_language(name)?),
        })
    }

    pub(super) fn scan_text(self, text: &str, painter: &mut LabelPainter<'_>) {
        match self {
            Self::Words(language) => code_scanner::scan_code(language, text, 0, painter),
            Self::Shell => shell_scanner::scan_shell(text, 0, painter),
            Self::Console => shell_scanner::scan_console(text, painter),
            Self::Markup => formats::scan_markup(text, painter),
            Self::Markdown => formats::scan_markdown(text, painter),
            Self::Diff => formats::scan_diff(text, painter),
        }
    }
}

/// Returns a language made of words by its name.
pub(super) fn find_language(name: &str) -> Option<&'static Language> {
    static NAMES: LazyLock<HashMap<&'static str, Language>> = LazyLock::new(|| {
        let specs = language_table::SPECS.iter();
        specs
            .flat_map(|spec| spec.names.split(' ').map(move |name| (name, Language::new(spec))))
            .collect()
    });
    NAMES.get(name)
}

/// A language with a lookup table of its words.
pub(super) struct Language {
    spec: &'static LanguageSpec,
    words: HashMap<&'static str, SyntaxKind>,
}

impl Language {
    fn new(spec: &'static LanguageSpec) -> Self {
        let kinds = [
            (spec.types, SyntaxKind::Type),
            (spec.constants, SyntaxKind::Constant),
            (spec.keywords, SyntaxKind::Keyword),
        ];
        let words = kinds.iter().flat_map(|(words, kind)| {
            words.split_ascii_whitespace().map(move |word| (word, *kind))
        });
        Self { spec, words: words.collect() }
    }

    /// Returns the kind of a word, regardless of its context.
    pub(super) fn word_kind(&self, word: &str) -> Option<SyntaxKind> {
        if self.spec.ignore_case && word.len() < 32 {
            return self.words.get(&*word.to_ascii_lowercase()).copied();
        }
        self.words.get(word).copied()
    }
}

impl std::ops::Deref for Language {
    type Target = LanguageSpec;

    fn deref(&self) -> &LanguageSpec {
        self.spec
    }
}

/// The syntax of a language.
pub(super) struct LanguageSpec {
    /// Names, extensions and file names, in lower case.
    pub(super) names: &'static str,
    pub(super) keywords: &'static str,
    pub(super) types: &'static str,
    pub(super) constants: &'static str,
    pub(super) line_comments: &'static [&'static str],
    pub(super) block_comments: &'static [(&'static str, &'static str)],
    pub(super) nested_comments: bool,
    /// `#` begins a comment only at the start of a word.
    pub(super) comment_needs_space: bool,
    /// The longer ones first.
    pub(super) quotes: &'static [StringQuote],
    /// `'a'` is a character, `'a` something else.
    pub(super) ticks: bool,
    /// Strings may have a letter prefix: `b"…"`.
    pub(super) prefixes: bool,
    pub(super) keys: KeySyntax,
    pub(super) attributes: AttributeSyntax,
    /// Lines that begin with `#` are for a preprocessor.
    pub(super) preprocessor: bool,
    /// Lines like `[name]` are headings.
    pub(super) sections: bool,
    /// Characters that variables begin with.
    pub(super) sigils: &'static str,
    /// Characters that words may contain besides letters, digits and `_`.
    pub(super) word_chars: &'static str,
    /// Words that begin with a capital letter are types.
    pub(super) capitals: bool,
    /// A word before `(` is the name of a function.
    pub(super) calls: bool,
    pub(super) ignore_case: bool,
    /// `/…/` is a regular expression, unless a value precedes it.
    pub(super) regex: bool,
}

/// How a string begins and ends.
#[derive(Clone, Copy)]
pub(super) struct StringQuote {
    pub(super) open: &'static str,
    pub(super) close: &'static str,
    /// It may span several lines.
    pub(super) lines: bool,
    pub(super) escape: bool,
    /// `${…}` in it is code.
    pub(super) template: bool,
}

/// Which words are keys of a mapping.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum KeySyntax {
    None,
    /// Strings before a colon.
    Quoted,
    /// Words before a colon and a space.
    Colon,
    /// Words before `=`.
    Equals,
    /// Words before a colon inside braces.
    Declared,
}

/// How attributes and decorators are written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AttributeSyntax {
    None,
    /// `@name`
    At,
    /// `#[…]`
    Hash,
}
