-- The archive of a team, version 1. Every statement can be repeated, and every key begins with the owner, so that
-- a distributed server can keep all rows of one person together.
CREATE SCHEMA IF NOT EXISTS ramus;
CREATE TABLE IF NOT EXISTS ramus.machines (
    owner text NOT NULL,
    machine text NOT NULL,
    -- Counted up by every change, so that readers notice it.
    changes bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (owner, machine)
);
CREATE TABLE IF NOT EXISTS ramus.shares (
    owner text NOT NULL,
    project text NOT NULL,
    PRIMARY KEY (owner, project)
);
CREATE TABLE IF NOT EXISTS ramus.files (
    owner text NOT NULL,
    -- The hash of machine, root and path: paths can be longer than a key may be.
    file bytea NOT NULL,
    machine text NOT NULL,
    root bytea NOT NULL,
    path bytea NOT NULL,
    -- The directory below projects/; empty for files that belong to no project.
    project text NOT NULL,
    session text NOT NULL,
    kind text NOT NULL,
    identity bytea,
    -- The newest generation: changed only if it is still the one that a change was decided on.
    newest integer NOT NULL,
    hash bytea NOT NULL,
    PRIMARY KEY (owner, file)
);
CREATE TABLE IF NOT EXISTS ramus.generations (
    owner text NOT NULL,
    file bytea NOT NULL,
    number integer NOT NULL,
    bytes bigint NOT NULL,
    hash bytea NOT NULL,
    mode integer NOT NULL,
    modified_seconds bigint NOT NULL,
    modified_nanos integer NOT NULL,
    created_seconds bigint,
    created_nanos integer,
    added bigint NOT NULL,
    PRIMARY KEY (owner, file, number),
    FOREIGN KEY (owner, file) REFERENCES ramus.files (owner, file)
);
CREATE TABLE IF NOT EXISTS ramus.chunks (
    owner text NOT NULL,
    hash bytea NOT NULL,
    bytes bigint NOT NULL,
    packed bytea NOT NULL,
    PRIMARY KEY (owner, hash)
);
CREATE TABLE IF NOT EXISTS ramus.pieces (
    owner text NOT NULL,
    file bytea NOT NULL,
    number integer NOT NULL,
    place integer NOT NULL,
    hash bytea NOT NULL,
    PRIMARY KEY (owner, file, number, place),
    FOREIGN KEY (owner, file, number) REFERENCES ramus.generations (owner, file, number),
    -- Nobody can remove a chunk that a file needs, whatever happens at the same moment.
    FOREIGN KEY (owner, hash) REFERENCES ramus.chunks (owner, hash)
);
CREATE INDEX IF NOT EXISTS pieces_by_chunk ON ramus.pieces (owner, hash);
