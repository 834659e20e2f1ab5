//===- OpenFile.h - The user's database in a folder ------------*- C++ -*-===//

#ifndef TESSERA_TEST_UNIT_SUPPORT_OPENFILE_H
#define TESSERA_TEST_UNIT_SUPPORT_OPENFILE_H

#include "runtime/Db/DatabaseFile.h"

#include <memory>

namespace tessera::test {

/// The file that an engine makes or finds in `folder`.
inline std::shared_ptr<DatabaseFile> openFile(const std::string &folder) {
  return std::make_shared<DatabaseFile>(folder + "/kernels.db");
}

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_SUPPORT_OPENFILE_H
