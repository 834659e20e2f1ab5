-- A kernel is a code object with one launch or more. What is in the table was
-- made by an older compiler, whose kernels are never used again.
DROP TABLE kernels;

CREATE TABLE kernels (
  problem         TEXT NOT NULL,    -- network config
  target          TEXT NOT NULL,    -- chip, as "gfx942"
  revision        TEXT NOT NULL,    -- of the compiler
  tile            TEXT NOT NULL,
  launches        TEXT NOT NULL,    -- one line each; see KernelRow.cpp
  workspace_bytes INTEGER NOT NULL,
  vgprs           INTEGER NOT NULL,
  agprs           INTEGER NOT NULL,
  sgprs           INTEGER NOT NULL,
  vgpr_spills     INTEGER NOT NULL,
  sgpr_spills     INTEGER NOT NULL,
  lds_bytes       INTEGER NOT NULL,
  scratch_bytes   INTEGER NOT NULL, -- of one lane
  code_object     BLOB NOT NULL,
  checksum        INTEGER NOT NULL, -- of all columns above; see KernelRow.cpp
  stored_at       INTEGER NOT NULL DEFAULT (strftime('%s', 'now')),
  PRIMARY KEY (problem, target, revision, tile)
);
