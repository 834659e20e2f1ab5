//===- KernelRow.cpp - A kernel as a row of a table -----------------------===//

#include "runtime/Db/KernelRow.h"

#include "runtime/Base/Hash.h"
#include "runtime/Base/Log.h"

using namespace tessera;

//===----------------------------------------------------------------------===//
// Arguments as text
//===----------------------------------------------------------------------===//

static std::string_view getName(KernelArg arg) {
  switch (arg) {
  case KernelArg::X:
    return "x";
  case KernelArg::W:
    return "w";
  case KernelArg::Y:
    return "y";
  case KernelArg::Workspace:
    return "workspace";
  }
  __builtin_unreachable();
}

static std::string toText(const std::vector<KernelArg> &args) {
  std::string text;
  for (KernelArg arg : args) {
    text += text.empty() ? "" : ",";
    text += getName(arg);
  }
  return text;
}

/// Reads what toText() writes; nothing if a name is unknown.
static std::optional<std::vector<KernelArg>> parseArgs(std::string_view text) {
  std::vector<KernelArg> args;
  while (!text.empty()) {
    std::string_view name = text.substr(0, text.find(','));
    size_t before = args.size();
    for (KernelArg arg :
         {KernelArg::X, KernelArg::W, KernelArg::Y, KernelArg::Workspace})
      if (getName(arg) == name)
        args.push_back(arg);
    if (args.size() == before)
      return std::nullopt;
    text.remove_prefix(std::min(name.size() + 1, text.size()));
  }
  return args;
}

//===----------------------------------------------------------------------===//
// Numbers as columns
//===----------------------------------------------------------------------===//

/// Calls `visit` with every number of a kernel, in the order of the columns
/// grid_x ... dynamic_lds, workspace_bytes ... scratch_bytes.
template <typename SomeKernel, typename Visitor>
static void visitNumbers(SomeKernel &kernel, Visitor visit) {
  for (auto &size : kernel.launch.grid)
    visit(size);
  for (auto &size : kernel.launch.block)
    visit(size);
  visit(kernel.launch.dynamicLdsBytes);
  visit(kernel.launch.workspaceBytes);
  visit(kernel.resources.vgprs);
  visit(kernel.resources.agprs);
  visit(kernel.resources.sgprs);
  visit(kernel.resources.vgprSpills);
  visit(kernel.resources.sgprSpills);
  visit(kernel.resources.ldsBytes);
  visit(kernel.resources.scratchBytes);
}

/// Covers the key too: a row under another key is as wrong as a flipped bit.
static int64_t getChecksum(const KernelKey &key, const Kernel &kernel) {
  Fnv1a hash;
  hash.addField(key.networkConfig);
  hash.addField(key.target);
  hash.addField(key.revision);
  hash.addField(kernel.tile);
  hash.addField(kernel.launch.symbol);
  hash.addField(toText(kernel.launch.args));
  visitNumbers(kernel, [&](uint64_t number) { hash.addField(number); });
  hash.addField(
      std::string_view(kernel.codeObject.data(), kernel.codeObject.size()));
  return static_cast<int64_t>(hash.get());
}

// Columns of a query count from 0 in this order; parameters of the insertion
// from 3, after problem and target.
#define KERNEL_COLUMNS                                                         \
  "revision, tile, symbol, args, code_object, checksum, grid_x, grid_y, "      \
  "grid_z, block_x, block_y, block_z, dynamic_lds, workspace_bytes, vgprs, "   \
  "agprs, sgprs, vgpr_spills, sgpr_spills, lds_bytes, scratch_bytes"
namespace {
enum Column { Revision, Tile, Symbol, Args, CodeObject, Checksum, FirstNumber };
} // namespace
static constexpr int kRowid = FirstNumber + 15;
static constexpr int kFirstParameter = 3;

Status tessera::writeKernelRow(SqliteDatabase &database, const KernelKey &key,
                               const Kernel &kernel) {
  ErrorOr<SqliteStatement> insert = database.prepare(
      "INSERT OR REPLACE INTO kernels (problem, target, " KERNEL_COLUMNS
      ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, "
      "?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23)");
  if (!insert)
    return insert.getStatus();
  insert->bind(1, key.networkConfig);
  insert->bind(2, key.target);
  insert->bind(kFirstParameter + Revision, key.revision);
  insert->bind(kFirstParameter + Tile, kernel.tile);
  insert->bind(kFirstParameter + Symbol, kernel.launch.symbol);
  insert->bind(kFirstParameter + Args, toText(kernel.launch.args));
  insert->bindBlob(kFirstParameter + CodeObject, kernel.codeObject);
  insert->bind(kFirstParameter + Checksum, getChecksum(key, kernel));
  int parameter = kFirstParameter + FirstNumber;
  visitNumbers(kernel, [&](uint64_t number) {
    insert->bind(parameter++, static_cast<int64_t>(number));
  });
  return insert->step().getStatus();
}

/// The current row of `query`, if its checksum is right.
static std::optional<Kernel> decodeRow(const SqliteStatement &query,
                                       KernelKey key) {
  Kernel kernel;
  key.revision = query.getText(Revision);
  kernel.tile = query.getText(Tile);
  kernel.launch.symbol = query.getText(Symbol);
  std::optional<std::vector<KernelArg>> args = parseArgs(query.getText(Args));
  if (!args)
    return std::nullopt;
  kernel.launch.args = std::move(*args);
  std::span<const char> codeObject = query.getBlob(CodeObject);
  kernel.codeObject.assign(codeObject.begin(), codeObject.end());
  int column = FirstNumber;
  visitNumbers(kernel, [&](auto &number) {
    number = static_cast<std::remove_reference_t<decltype(number)>>(
        query.getInt(column++));
  });
  if (query.getInt(Checksum) != getChecksum(key, kernel))
    return std::nullopt;
  return kernel;
}

static Status deleteRow(SqliteDatabase &database, int64_t rowid) {
  ErrorOr<SqliteStatement> statement =
      database.prepare("DELETE FROM kernels WHERE rowid = ?1");
  if (!statement)
    return statement.getStatus();
  statement->bind(1, rowid);
  return statement->step().getStatus();
}

ErrorOr<Kernel> tessera::readKernelRow(SqliteDatabase &database,
                                       const KernelKey &key) {
  while (true) {
    int64_t wrongRow = 0;
    { // A statement that still reads would keep us from deleting.
      ErrorOr<SqliteStatement> query = database.prepare(
          "SELECT " KERNEL_COLUMNS ", rowid FROM kernels WHERE problem = ?1 "
          "AND target = ?2 AND (revision = ?3 OR ?3 = '') ORDER BY rowid DESC "
          "LIMIT 1");
      if (!query)
        return query.getStatus();
      query->bind(1, key.networkConfig);
      query->bind(2, key.target);
      query->bind(3, key.revision);
      ErrorOr<bool> hasRow = query->step();
      if (!hasRow)
        return hasRow.getStatus();
      if (!*hasRow)
        return notFound("no kernel is stored for " + key.networkConfig);
      if (std::optional<Kernel> kernel = decodeRow(*query, key))
        return *kernel;
      wrongRow = query->getInt(kRowid);
    }
    logMessage(LogLevel::Warning,
               "a stored kernel has a wrong checksum and is deleted: " +
                   key.networkConfig);
    if (Status status = deleteRow(database, wrongRow); !status.isOk())
      return status;
  }
}
