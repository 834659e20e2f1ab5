-- Code objects are kept once each, compressed: many kernels share one. A kernel
-- says in which format its launches are written, so that one of another
-- compiler may be used.
--
-- Nothing is converted: the rows were made by older compilers, whose kernels
-- are not looked for again, and a kernel takes some tens of milliseconds.
DROP TABLE kernels;

CREATE TABLE code_objects (
  hash            INTEGER PRIMARY KEY, -- of the bytes; see CodeObjects.cpp
  compressed      BLOB NOT NULL        -- one zstd frame, which knows its size
);

-- Of several tiles the row stored last is used: the largest stored_at, and of
-- one second the largest id.
CREATE TABLE kernels (
  id              INTEGER PRIMARY KEY,
  problem         TEXT NOT NULL,    -- network config
  target          TEXT NOT NULL,    -- chip, as "gfx942"
  revision        TEXT NOT NULL,    -- of the compiler
  tile            TEXT NOT NULL,
  format          INTEGER NOT NULL, -- of launches; kKernelFormat
  launches        TEXT NOT NULL,    -- one line each; see KernelRow.cpp
  workspace_bytes INTEGER NOT NULL,
  vgprs           INTEGER NOT NULL,
  agprs           INTEGER NOT NULL,
  sgprs           INTEGER NOT NULL,
  vgpr_spills     INTEGER NOT NULL,
  sgpr_spills     INTEGER NOT NULL,
  lds_bytes       INTEGER NOT NULL,
  scratch_bytes   INTEGER NOT NULL, -- of one lane
  code_object     INTEGER NOT NULL REFERENCES code_objects,
  stored_at       INTEGER NOT NULL, -- seconds since 1970
  checksum        INTEGER NOT NULL, -- of all columns but id; see KernelRow.cpp
  UNIQUE (problem, target, revision, tile)
);
CREATE INDEX kernels_of_code_object ON kernels (code_object);

-- A code object goes with its last kernel.
CREATE TRIGGER drop_code_object AFTER DELETE ON kernels
WHEN NOT EXISTS (SELECT 1 FROM kernels WHERE code_object = old.code_object)
BEGIN
  DELETE FROM code_objects WHERE hash = old.code_object;
END;

-- Tiles that were tried, with what came of it; see PerfDatabase.h.
CREATE TABLE tunings (
  id              INTEGER PRIMARY KEY,
  problem         TEXT NOT NULL,    -- network config
  target          TEXT NOT NULL,
  compute_units   INTEGER NOT NULL, -- of the device
  tile            TEXT NOT NULL,
  objective       TEXT NOT NULL,    -- what value counts: "us" or "cycles"
  device          TEXT NOT NULL,    -- what measured
  revision        TEXT NOT NULL,    -- of the compiler
  value           REAL NOT NULL,
  spread          REAL NOT NULL,
  model_cost      REAL NOT NULL,
  measured_at     INTEGER NOT NULL, -- seconds since 1970
  failure         TEXT NOT NULL,    -- why it is in quarantine; else empty
  checksum        INTEGER NOT NULL, -- of all columns but id; see TuningRow.cpp
  UNIQUE (problem, target, compute_units, objective, device, tile)
);
