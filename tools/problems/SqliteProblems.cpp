//===- SqliteProblems.cpp - MIOpen's perf database as a list --------------===//
//
// The SQLite form of the perf database (*.db, *.udb) has a table "config" whose
// columns have the names of the driver's long flags.
//
//===----------------------------------------------------------------------===//

#include "runtime/Db/Sqlite.h"
#include "tools/problems/Collector.h"
#include "tools/problems/MiopenKey.h"

using namespace tessera;

static constexpr char kSelect[] =
    "SELECT id, spatial_dim, in_channels, out_channels, batchsize, "
    "group_count, bias, in_d, in_h, in_w, fil_d, fil_h, fil_w, pad_d, pad_h, "
    "pad_w, conv_stride_d, conv_stride_h, conv_stride_w, dilation_d, "
    "dilation_h, dilation_w, layout, data_type, direction FROM config "
    "ORDER BY id";

/// Reads the current row, in the order of kSelect. Borrows its texts.
static MiopenKey readRow(const SqliteStatement &row) {
  int column = 1;
  auto number = [&] { return row.getInt(column++); };
  auto three = [&] {
    const int64_t d = number(), h = number(), w = number();
    return MiopenKey::Three{d, h, w};
  };
  MiopenKey key;
  key.hasDepth = number() == 3;
  key.inChannels = number();
  key.outChannels = number();
  key.batch = number();
  key.groups = number();
  key.bias = number();
  key.in = three();
  key.filter = three();
  key.pad = three();
  key.stride = three();
  key.dilation = three();
  key.inLayout = key.filterLayout = key.outLayout = row.getText(column++);
  key.dataType = row.getText(column++);
  key.direction = row.getText(column++);
  return key;
}

/// A database that its owner may be writing is read under SQLite's locks; if
/// its file system has no locks, it is read without them.
static ErrorOr<SqliteDatabase> openToRead(const std::string &path) {
  ErrorOr<SqliteDatabase> shared =
      SqliteDatabase::open(path, SqliteAccess::Write);
  if (shared && shared->queryInt("SELECT count(*) FROM sqlite_master"))
    return shared;
  return SqliteDatabase::open(path, SqliteAccess::Immutable);
}

Status tessera::readSqliteProblems(const std::string &path,
                                   ProblemCollector &collector) {
  ErrorOr<SqliteDatabase> database = openToRead(path);
  if (!database)
    return database.getStatus();
  ErrorOr<SqliteStatement> rows = database->prepare(kSelect);
  if (!rows)
    return invalidArgument("'" + path +
                           "' is a SQLite file, but no perf database of "
                           "MIOpen: " +
                           rows.getStatus().getMessage());
  const Status status = rows->forEachRow([&] {
    const std::string source =
        path + ": config " + std::to_string(rows->getInt(0));
    ErrorOr<Problem> problem = toProblem(readRow(*rows));
    if (problem)
      collector.add(*problem, 1, source);
    else
      collector.passOver(problem.getStatus().getMessage(), source);
  });
  return status.isOk() ? status
                       : status.withContext("cannot read '" + path + "'");
}
