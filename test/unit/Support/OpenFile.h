//===- OpenFile.h - The user's database in a directory ---------*- C++ -*--===//

#ifndef TESSERA_TEST_UNIT_SUPPORT_OPENFILE_H
#define TESSERA_TEST_UNIT_SUPPORT_OPENFILE_H

#include "runtime/Db/DatabaseFile.h"

#include <memory>

namespace tessera::test {

/// Opens the database file that an engine creates or finds in `directory`.
inline std::shared_ptr<DatabaseFile> openFile(const std::string &directory) {
  return std::make_shared<DatabaseFile>(directory + "/kernels.db");
}

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_SUPPORT_OPENFILE_H
