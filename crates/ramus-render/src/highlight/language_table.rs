//! The table of languages. Languages of one family differ only in their words.

use super::language::{AttributeSyntax, KeySyntax, LanguageSpec, StringQuote};

const fn line_quote(mark: &'static str) -> StringQuote {
    StringQuote { open: mark, close: mark, lines: false, escape: true, template: false }
}

const fn multiline_quote(mark: &'static str) -> StringQuote {
    StringQuote { lines: true, ..line_quote(mark) }
}

const DOUBLE: StringQuote = line_quote("\"");
const SINGLE: StringQuote = line_quote("'");
const DOUBLED: StringQuote = StringQuote { escape: false, ..multiline_quote("'") };
const TEMPLATE: StringQuote = StringQuote { template: true, ..multiline_quote("`") };
const RAW: StringQuote = StringQuote { escape: false, ..multiline_quote("`") };
const TRIPLE: &[StringQuote] = &[multiline_quote("\"\"\""), multiline_quote("'''"), DOUBLE, SINGLE];
const C_COMMENT: &[(&str, &str)] = &[("/*", "*/")];

/// A language with strings and nothing else.
const PLAIN: LanguageSpec = LanguageSpec {
    names: "",
    keywords: "",
    types: "",
    constants: "true false null",
    line_comments: &[],
    block_comments: &[],
    nested_comments: false,
    comment_needs_space: false,
    quotes: &[DOUBLE, SINGLE],
    ticks: false,
    prefixes: false,
    keys: KeySyntax::None,
    attributes: AttributeSyntax::None,
    preprocessor: false,
    sections: false,
    sigils: "",
    word_chars: "",
    capitals: false,
    calls: true,
    ignore_case: false,
    regex: false,
};

/// Braces, `//` and `/* */`.
const BRACES: LanguageSpec = LanguageSpec {
    line_comments: &["//"],
    block_comments: C_COMMENT,
    capitals: true,
    attributes: AttributeSyntax::At,
    ..PLAIN
};

/// `#` begins a comment.
const HASH: LanguageSpec = LanguageSpec { line_comments: &["#"], ..PLAIN };

const JS_WORDS: &str = "as async await break case catch class const continue debugger default delete do else export extends finally for from \
    function get if import in instanceof let new of return set static super switch this throw try typeof var void while with yield";

pub(super) const SPECS: &[LanguageSpec] = &[
    LanguageSpec {
        names: "rust rs",
        keywords: "as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod move mut pub ref \
            return self static struct super trait type union unsafe use where while yield",
        types: "bool char f32 f64 i128 i16 i32 i64 i8 isize str u128 u16 u32 u64 u8 usize Self",
        constants: "true false None Some Ok Err",
        nested_comments: true,
        quotes: &[multiline_quote("\"")],
        ticks: true,
        prefixes: true,
        attributes: AttributeSyntax::Hash,
        ..BRACES
    },
    LanguageSpec {
        names: "js javascript jsx mjs cjs node",
        keywords: JS_WORDS,
        constants: "true false null undefined NaN Infinity",
        quotes: &[DOUBLE, SINGLE, TEMPLATE],
        regex: true,
        ..BRACES
    },
    LanguageSpec {
        names: "ts typescript tsx mts cts",
        keywords: "as async await break case catch class const continue debugger declare default delete do else enum export extends finally \
            for from function get if implements import in infer instanceof interface is keyof let namespace new of override private protected \
            public readonly return satisfies set static super switch this throw try type typeof var void while with yield abstract",
        types: "any bigint boolean never number object string symbol unknown",
        constants: "true false null undefined NaN Infinity",
        quotes: &[DOUBLE, SINGLE, TEMPLATE],
        regex: true,
        ..BRACES
    },
    LanguageSpec {
        names: "py python python3 py3 pyi pyw starlark bzl",
        keywords: "and as assert async await break case class continue def del elif else except finally for from global if import in is \
            lambda match nonlocal not or pass raise return try while with yield self cls",
        types: "bool bytes dict float frozenset int list object set str tuple type",
        constants: "True False None",
        quotes: TRIPLE,
        prefixes: true,
        attributes: AttributeSyntax::At,
        capitals: true,
        ..HASH
    },
    LanguageSpec {
        names: "go golang",
        keywords: "break case chan const continue default defer else fallthrough for func go goto if import interface map package range \
            return select struct switch type var",
        types: "any bool byte complex128 complex64 error float32 float64 int int16 int32 int64 int8 rune string uint uint16 uint32 uint64 \
            uint8 uintptr",
        constants: "true false nil iota",
        quotes: &[DOUBLE, SINGLE, RAW],
        ..BRACES
    },
    LanguageSpec {
        names: "c h cpp c++ cc cxx hpp hh hxx objc objective-c m mm cuda cu arduino ino",
        keywords: "alignas auto break case catch class co_await co_return co_yield concept const consteval constexpr continue decltype default \
            delete do else enum explicit extern final for friend goto if inline mutable namespace new noexcept operator override private \
            protected public register requires return signed sizeof static struct switch template this throw try typedef typename union \
            unsigned using virtual volatile while",
        types: "bool char double float int int16_t int32_t int64_t int8_t long short size_t ssize_t string uint16_t uint32_t uint64_t \
            uint8_t void wchar_t",
        constants: "true false nullptr NULL YES NO nil",
        prefixes: true,
        preprocessor: true,
        ..BRACES
    },
    LanguageSpec {
        names: "java groovy gradle",
        keywords: "abstract assert break case catch class const continue def default do else enum extends final finally for goto if implements \
            import instanceof interface native new package permits private protected public record return sealed static strictfp super switch \
            synchronized this throw throws transient try var void volatile while yield",
        types: "boolean byte char double float int long short",
        quotes: TRIPLE,
        ..BRACES
    },
    LanguageSpec {
        names: "cs csharp c# csx fsharp fs f#",
        keywords: "abstract as async await base break case catch checked class const continue default delegate do else enum event explicit \
            extern finally fixed for foreach fun get goto if implicit in init interface internal is let lock match module mutable namespace new open \
            operator out override params partial private protected public readonly record rec ref return sealed set sizeof stackalloc static \
            struct switch this throw try type typeof unchecked unsafe using var virtual void volatile when where while with yield",
        types: "bool byte char decimal double dynamic float int long nint object sbyte short string uint ulong ushort unit",
        quotes: &[multiline_quote("\"\"\""), DOUBLE, SINGLE],
        prefixes: true,
        preprocessor: true,
        attributes: AttributeSyntax::None,
        sigils: "@",
        ..BRACES
    },
    LanguageSpec {
        names: "kt kotlin kts scala sc sbt",
        keywords: "abstract actual annotation as break by case catch class companion const constructor continue crossinline data def do else \
            enum expect extends extern final finally for forSome fun given if implicit import in infix init inline inner interface internal is \
            lateinit lazy match new object open operator out override package private protected public reified return sealed super suspend \
            tailrec this throw trait try type typealias using val var vararg when where while with yield",
        nested_comments: true,
        quotes: &[multiline_quote("\"\"\""), DOUBLE, SINGLE],
        ..BRACES
    },
    LanguageSpec {
        names: "swift",
        keywords: "actor as associatedtype async await break case catch class continue convenience default defer deinit do else enum extension \
            fallthrough fileprivate final for func guard if import in indirect init inout internal is lazy let mutating open operator override \
            private protocol public repeat required rethrows return self some static struct subscript super switch throw throws try typealias \
            unowned var weak where while",
        constants: "true false nil",
        nested_comments: true,
        quotes: &[multiline_quote("\"\"\""), DOUBLE],
        preprocessor: true,
        ..BRACES
    },
    LanguageSpec {
        names: "dart",
        keywords: "abstract as assert async await break case catch class const continue covariant default deferred do dynamic else enum export \
            extends extension external factory final finally for get hide if implements import in interface is late library mixin new on \
            operator part required rethrow return sealed set show static super switch sync this throw try typedef var void while with yield",
        types: "bool double int num",
        quotes: TRIPLE,
        prefixes: true,
        ..BRACES
    },
    LanguageSpec {
        names: "php php5 php7 php8",
        keywords: "abstract and as break callable case catch class clone const continue declare default do echo else elseif empty enddeclare \
            endfor endforeach endif endswitch endwhile enum extends final finally fn for foreach function global goto if implements include \
            include_once instanceof insteadof interface isset list match namespace new or print private protected public readonly require \
            require_once return self static switch throw trait try unset use var while xor yield",
        types: "array bool float int iterable mixed object string void",
        line_comments: &["//", "# "],
        quotes: &[multiline_quote("\""), multiline_quote("'")],
        sigils: "$",
        attributes: AttributeSyntax::Hash,
        ..BRACES
    },
    LanguageSpec {
        names: "zig v odin",
        keywords: "align allowzero and anytype asm async await break catch comptime const continue defer else enum errdefer error export \
            extern fn for if import inline map mut noalias nosuspend or orelse packed proc pub resume return struct suspend switch \
            test threadlocal try union unreachable usingnamespace var volatile when while",
        types: "anyerror bool f32 f64 i16 i32 i64 i8 isize noreturn type u16 u32 u64 u8 usize void",
        constants: "true false null nil undefined none",
        ..BRACES
    },
    LanguageSpec {
        names: "proto protobuf thrift",
        keywords: "enum extend extensions import map message oneof option optional package public repeated required reserved returns rpc \
            service stream struct syntax to exception namespace",
        types: "bool bytes double fixed32 fixed64 float int32 int64 sfixed32 sfixed64 sint32 sint64 string uint32 uint64 i32 i64 list",
        ..BRACES
    },
    LanguageSpec {
        names: "sol solidity",
        keywords: "abstract anonymous as assembly break calldata case catch constant constructor continue contract default delete do else emit \
            enum error event external fallback for function if immutable import indexed interface internal is let library mapping memory \
            modifier new override payable pragma private public pure receive return returns storage struct super switch this throw try type \
            unchecked using view virtual while",
        types: "address bool byte bytes bytes32 int int256 string uint uint256 uint8",
        ..BRACES
    },
    LanguageSpec {
        names: "wgsl glsl hlsl vert frag metal",
        keywords: "break case const continue default discard do else enable fn for highp if in inout layout let loop lowp mediump out override \
            precision return struct switch uniform var varying while attribute",
        types: "bool f32 float half i32 int mat3 mat4 u32 uint vec2 vec3 vec4 void sampler2D",
        preprocessor: true,
        ..BRACES
    },
    LanguageSpec {
        names: "rb ruby rake gemfile rakefile podfile gemspec fastfile brewfile cr crystal",
        keywords: "BEGIN END alias and begin break case class def defined? do else elsif end ensure extend for if in include loop module \
            next not or private protected public raise redo require require_relative rescue retry return self super then undef unless until \
            when while yield attr_reader attr_writer attr_accessor",
        constants: "true false nil",
        comment_needs_space: true,
        block_comments: &[("=begin", "=end")],
        quotes: &[multiline_quote("\""), multiline_quote("'"), line_quote("`")],
        sigils: "@$:",
        word_chars: "?!",
        capitals: true,
        regex: true,
        ..HASH
    },
    LanguageSpec {
        names: "ex exs elixir",
        keywords: "after alias and case catch cond def defdelegate defexception defguard defimpl defmacro defmodule defp defprotocol defstruct \
            do else end fn for if import in not or quote raise receive require rescue reraise super throw try unless unquote use when with",
        constants: "true false nil",
        quotes: TRIPLE,
        attributes: AttributeSyntax::At,
        sigils: ":",
        word_chars: "?!",
        capitals: true,
        ..HASH
    },
    LanguageSpec {
        names: "pl pm perl raku",
        keywords: "and bless cmp continue default die do else elsif eq eval foreach for ge given gt if kill last le lt my ne next no not or \
            our package print printf push qw redo ref require return say shift sub unless until use wantarray when while x xor",
        constants: "undef",
        comment_needs_space: true,
        quotes: &[multiline_quote("\""), multiline_quote("'")],
        sigils: "$@%",
        regex: true,
        ..HASH
    },
    LanguageSpec {
        names: "lua luau",
        keywords: "and break do else elseif end for function goto if in local not or repeat return then until while",
        constants: "true false nil",
        line_comments: &["--"],
        block_comments: &[("--[[", "]]"), ("--[=[", "]=]")],
        quotes: &[
            DOUBLE,
            SINGLE,
            StringQuote { open: "[[", close: "]]", lines: true, escape: false, template: false },
        ],
        ..PLAIN
    },
    LanguageSpec {
        names: "sql psql mysql sqlite pgsql plsql tsql ddl bigquery",
        keywords: "add all alter analyze and any as asc begin between by cascade case check collate column commit conflict constraint create \
            cross cursor database declare default delete desc distinct do drop else end escape except exec execute exists explain fetch for \
            foreign from full function grant group having if ilike in index inner insert intersect into is join key lateral left like limit \
            natural not nothing offset on or order outer over partition primary procedure raise recursive references rename replace restrict \
            return returning returns revoke right rollback row rows schema select sequence set table temp temporary then to transaction trigger truncate \
            union unique update upsert using vacuum values view when where while window with",
        types: "bigint binary blob boolean bool bytea char date datetime decimal double float int integer interval json jsonb numeric \
            precision real serial smallint text time timestamp timestamptz tinyint uuid varchar",
        line_comments: &["--"],
        block_comments: C_COMMENT,
        quotes: &[DOUBLED, DOUBLE, RAW],
        ignore_case: true,
        ..PLAIN
    },
    LanguageSpec {
        names: "json jsonc json5 jsonl ndjson geojson ipynb webmanifest hjson",
        line_comments: &["//"],
        block_comments: C_COMMENT,
        keys: KeySyntax::Quoted,
        ..PLAIN
    },
    LanguageSpec {
        names: "yaml yml clang-format clang-tidy",
        constants: "true false null yes no on off True False Yes No",
        comment_needs_space: true,
        quotes: &[multiline_quote("\""), DOUBLED],
        keys: KeySyntax::Colon,
        sigils: "&*",
        word_chars: "-./",
        calls: false,
        ..HASH
    },
    LanguageSpec {
        names: "toml ini cfg conf cnf env dotenv properties editorconfig gitconfig gitmodules desktop service timer socket pylintrc",
        constants: "true false yes no on off",
        line_comments: &["#", ";"],
        comment_needs_space: true,
        quotes: TRIPLE,
        keys: KeySyntax::Equals,
        sections: true,
        word_chars: "-.",
        calls: false,
        ..PLAIN
    },
    LanguageSpec {
        names: "tf hcl terraform tfvars nomad",
        keywords: "data dynamic for for_each if in locals module output provider resource terraform variable",
        types: "any bool list map number object set string tuple",
        line_comments: &["#", "//"],
        block_comments: C_COMMENT,
        keys: KeySyntax::Equals,
        word_chars: "-",
        ..PLAIN
    },
    LanguageSpec {
        names: "nix",
        keywords: "assert else if import in inherit let or rec then with",
        block_comments: C_COMMENT,
        quotes: &[multiline_quote("\""), multiline_quote("''")],
        keys: KeySyntax::Equals,
        word_chars: "-'.",
        ..HASH
    },
    LanguageSpec {
        names: "css scss less sass postcss",
        keywords: "important",
        constants: "",
        line_comments: &["// "],
        block_comments: C_COMMENT,
        keys: KeySyntax::Declared,
        attributes: AttributeSyntax::At,
        sigils: "$.#",
        word_chars: "-",
        ..PLAIN
    },
    LanguageSpec {
        names: "graphql gql",
        keywords: "directive enum extend fragment implements input interface mutation on query scalar schema subscription type union",
        types: "Boolean Float ID Int String",
        quotes: &[multiline_quote("\"\"\""), DOUBLE],
        attributes: AttributeSyntax::At,
        sigils: "$",
        capitals: true,
        ..HASH
    },
    LanguageSpec {
        names: "dockerfile docker containerfile",
        keywords: "add arg as cmd copy entrypoint env expose from healthcheck label maintainer onbuild run shell stopsignal user volume \
            workdir",
        comment_needs_space: true,
        sigils: "$",
        calls: false,
        ignore_case: true,
        ..HASH
    },
    LanguageSpec {
        names: "makefile make mk gnumakefile mak just justfile ninja",
        keywords: "define else endef endif export ifdef ifeq ifndef ifneq include override unexport vpath",
        comment_needs_space: true,
        keys: KeySyntax::Colon,
        sigils: "$",
        word_chars: "-./",
        calls: false,
        ..HASH
    },
    LanguageSpec {
        names: "cmake cmakelists.txt",
        keywords: "else elseif endforeach endfunction endif endmacro endwhile foreach function if macro return while",
        constants: "ON OFF TRUE FALSE",
        quotes: &[multiline_quote("\"")],
        ignore_case: true,
        ..HASH
    },
    LanguageSpec {
        names: "ps1 powershell pwsh psm1 psd1",
        keywords: "begin break catch class continue data do dynamicparam else elseif end enum exit filter finally for foreach from function \
            if in param process return switch throw trap try until using while",
        block_comments: &[("<#", "#>")],
        quotes: &[
            StringQuote { open: "@\"", close: "\"@", lines: true, escape: false, template: false },
            StringQuote { open: "@'", close: "'@", lines: true, escape: false, template: false },
            StringQuote { escape: false, ..DOUBLE },
            StringQuote { escape: false, ..SINGLE },
        ],
        sigils: "$",
        word_chars: "-",
        ignore_case: true,
        ..HASH
    },
    LanguageSpec {
        names: "bat cmd batch",
        keywords: "call cd echo else endlocal errorlevel exist exit for goto if in not pause set setlocal shift start",
        line_comments: &["::", "rem ", "REM "],
        quotes: &[DOUBLE],
        sigils: "%",
        ignore_case: true,
        ..PLAIN
    },
    LanguageSpec {
        names: "r rmd jl julia",
        keywords: "abstract begin break catch const continue do else elseif end export finally for function global if import in let library \
            local macro module mutable next primitive quote repeat return struct try using while where",
        constants: "TRUE FALSE NULL NA NaN Inf true false nothing missing",
        block_comments: &[("#=", "=#")],
        quotes: TRIPLE,
        word_chars: ".!",
        ..HASH
    },
    LanguageSpec {
        names: "hs haskell purs purescript elm",
        keywords: "case class data default deriving do else exposing forall foreign if import in infix infixl infixr instance let module \
            newtype of port qualified then type where",
        constants: "True False Nothing Just",
        line_comments: &["--"],
        block_comments: &[("{-", "-}")],
        nested_comments: true,
        quotes: &[multiline_quote("\"\"\""), DOUBLE],
        ticks: true,
        capitals: true,
        ..PLAIN
    },
    LanguageSpec {
        names: "ml mli ocaml reason rei",
        keywords: "and as assert begin class constraint do done downto else end exception external for fun function functor if in include \
            inherit initializer lazy let match method module mutable new object of open private rec sig struct then to try type val virtual \
            when while with",
        block_comments: &[("(*", "*)")],
        nested_comments: true,
        quotes: &[multiline_quote("\"")],
        ticks: true,
        capitals: true,
        ..PLAIN
    },
    LanguageSpec {
        names: "erl hrl erlang",
        keywords: "after and andalso begin case catch end export fun if import include let module not of or orelse receive record spec try \
            type when xor",
        line_comments: &["%"],
        quotes: &[multiline_quote("\""), SINGLE],
        ..PLAIN
    },
    LanguageSpec {
        names: "clj cljs cljc edn clojure lisp cl el elisp emacs-lisp scheme scm rkt racket fennel",
        keywords: "and begin case cond def defmacro defmethod defmulti defn defn- defparameter defprotocol defrecord deftype defun defvar \
            define do doseq dotimes else fn for if if-let lambda let let* letrec loop not ns or progn quote recur require setq set! throw \
            try unless use when when-let while",
        constants: "true false nil t #t #f",
        line_comments: &[";"],
        block_comments: &[("#|", "|#")],
        quotes: &[multiline_quote("\"")],
        sigils: ":",
        word_chars: "-!?*><=/+'",
        calls: false,
        ..PLAIN
    },
    LanguageSpec {
        names: "nim nims",
        keywords: "and as asm bind block break case cast const continue converter defer discard distinct do elif else end enum except export \
            finally for from func if import in include interface is iterator let macro method mixin mod nil not object of or out proc ptr \
            raise ref return static template try tuple type using var when while yield",
        constants: "true false nil",
        quotes: &[multiline_quote("\"\"\""), DOUBLE],
        ticks: true,
        prefixes: true,
        capitals: true,
        ..HASH
    },
    LanguageSpec {
        names: "vim vimrc viml nvim",
        keywords: "augroup autocmd call command echo else elseif endfor endfunction endif endwhile for function highlight if in let map \
            nmap nnoremap noremap return set syntax unlet while",
        line_comments: &["\" "],
        quotes: &[SINGLE],
        ..PLAIN
    },
    LanguageSpec {
        names: "http https rest",
        keywords: "GET POST PUT PATCH DELETE HEAD OPTIONS HTTP",
        comment_needs_space: true,
        keys: KeySyntax::Colon,
        word_chars: "-",
        calls: false,
        ..HASH
    },
];
