-- What version 2 adds: whether secrets were removed before sending, and what is derived from files, so that lists, sums
-- and searches need not read them. Rows of another version of ramus, or of another content, are not used.
ALTER TABLE ramus.generations ADD COLUMN IF NOT EXISTS redacted boolean NOT NULL DEFAULT false;
CREATE TABLE IF NOT EXISTS ramus.derived (
    owner text NOT NULL,
    file bytea NOT NULL,
    kind text NOT NULL,
    version text NOT NULL,
    -- The content that it was derived from.
    hash bytea NOT NULL,
    value bytea NOT NULL,
    PRIMARY KEY (owner, file, kind, version),
    FOREIGN KEY (owner, file) REFERENCES ramus.files (owner, file)
);
-- Which four bytes occur in a part of a file: a power of two of bytes, so that a search reads one of them.
CREATE TABLE IF NOT EXISTS ramus.filters (
    owner text NOT NULL,
    file bytea NOT NULL,
    version text NOT NULL,
    part integer NOT NULL,
    hash bytea NOT NULL,
    bytes bigint NOT NULL,
    lines integer NOT NULL,
    octets integer NOT NULL,
    escaped integer[] NOT NULL,
    bits bytea NOT NULL,
    PRIMARY KEY (owner, file, version, part),
    FOREIGN KEY (owner, file) REFERENCES ramus.files (owner, file),
    -- A row that breaks the search of others must not be possible.
    CHECK (octets > 0 AND octets = octet_length(bits)),
    CHECK (cardinality(escaped) <= 65536)
);
