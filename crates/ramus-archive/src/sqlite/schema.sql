-- The archive of ramus, version 1.
CREATE TABLE file (
    id INTEGER PRIMARY KEY,
    root BLOB NOT NULL,
    path BLOB NOT NULL,
    session TEXT NOT NULL,
    kind TEXT NOT NULL,
    identity BLOB,
    newest INTEGER NOT NULL,
    UNIQUE (root, path)
);
CREATE TABLE generation (
    id INTEGER PRIMARY KEY,
    file INTEGER NOT NULL REFERENCES file (id),
    number INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    hash BLOB NOT NULL,
    mode INTEGER NOT NULL,
    modified_seconds INTEGER NOT NULL,
    modified_nanos INTEGER NOT NULL,
    created_seconds INTEGER,
    created_nanos INTEGER,
    added INTEGER NOT NULL,
    UNIQUE (file, number)
);
CREATE TABLE chunk (
    id INTEGER PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    bytes INTEGER NOT NULL,
    packed BLOB NOT NULL
);
CREATE TABLE piece (
    generation INTEGER NOT NULL REFERENCES generation (id),
    place INTEGER NOT NULL,
    chunk INTEGER NOT NULL REFERENCES chunk (id),
    PRIMARY KEY (generation, place)
) WITHOUT ROWID;
CREATE INDEX piece_chunk ON piece (chunk);
