PRAGMA application_id = 0x54657373;

-- Compiled kernels. The key is what the code object was made for and by what;
-- of several tiles the row stored last, which has the largest rowid, is used.
CREATE TABLE kernels (
  problem         TEXT NOT NULL,    -- network config
  target          TEXT NOT NULL,    -- chip, as "gfx942"
  revision        TEXT NOT NULL,    -- of the compiler
  tile            TEXT NOT NULL,
  symbol          TEXT NOT NULL,
  grid_x          INTEGER NOT NULL, -- workgroups
  grid_y          INTEGER NOT NULL,
  grid_z          INTEGER NOT NULL,
  block_x         INTEGER NOT NULL, -- threads of a workgroup
  block_y         INTEGER NOT NULL,
  block_z         INTEGER NOT NULL,
  dynamic_lds     INTEGER NOT NULL, -- bytes
  args            TEXT NOT NULL,    -- pointers in order, as "x,w,y"
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
