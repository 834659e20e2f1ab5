//===- TemporaryDirectory.h - A directory for one test ---------*- C++ -*--===//

#ifndef TESSERA_TEST_UNIT_SUPPORT_TEMPORARYDIRECTORY_H
#define TESSERA_TEST_UNIT_SUPPORT_TEMPORARYDIRECTORY_H

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace tessera::test {

/// A new empty directory that the destructor removes. It is in memory if
/// possible, because tests of databases would otherwise wait for the disk.
class TemporaryDirectory {
public:
  TemporaryDirectory()
      : path((std::filesystem::exists("/dev/shm")
                  ? std::string("/dev/shm")
                  : std::filesystem::temp_directory_path().string()) +
             "/tessera-XXXXXX") {
    if (!mkdtemp(path.data()))
      std::abort();
  }
  ~TemporaryDirectory() {
    std::error_code error;
    std::filesystem::remove_all(path, error);
  }
  TemporaryDirectory(const TemporaryDirectory &) = delete;
  TemporaryDirectory &operator=(const TemporaryDirectory &) = delete;

  const std::string &getPath() const { return path; }

  /// Returns the path of a file in the directory.
  std::string get(const std::string &name) const { return path + "/" + name; }

  void write(const std::string &name, const std::string &text) const {
    std::ofstream(get(name), std::ios::binary) << text;
  }

private:
  std::string path;
};

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_SUPPORT_TEMPORARYDIRECTORY_H
