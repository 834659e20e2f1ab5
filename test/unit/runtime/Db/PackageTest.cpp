//===- PackageTest.cpp - Kernels to ship ----------------------------------===//

#include "runtime/Db/KernelDatabase.h"
#include "runtime/Db/PackageWriter.h"

#include "test/unit/Support/ChildProcess.h"
#include "test/unit/Support/SampleKernel.h"
#include "test/unit/Support/TemporaryDirectory.h"

#include <gtest/gtest.h>

#include <sys/resource.h>

#include <algorithm>
#include <random>

using namespace tessera;
using namespace tessera::test;
namespace fs = std::filesystem;

static const KernelKey kKey = {"conv-a", "gfx942", "r1"};
static const TuningKey kTuningKey = {"conv-a", "gfx942", 304};

/// A kernel whose code is 100 KB of bytes that do not compress.
static Kernel makeIncompressibleKernel(uint32_t seed) {
  Kernel kernel = makeSampleKernel();
  std::minstd_rand random(seed + 1);
  for (int i = 0; i < 100000; ++i)
    kernel.codeObject.push_back(static_cast<char>(random() >> 8));
  return kernel;
}

namespace {
struct Package : testing::Test {
  TemporaryDirectory folder;
  /// SQLite would parse the rest of a name after ? or # as options of a URI.
  const std::string path = folder.get("a b%20?#.db");

  std::shared_ptr<DatabaseFile> open() {
    return std::make_shared<DatabaseFile>(path, DatabaseFile::Use::Package);
  }

  /// Makes a package with some kernels of 3000 bytes each and a tuning.
  void makePackage() {
    ErrorOr<std::unique_ptr<PackageWriter>> writer =
        PackageWriter::create(path);
    ASSERT_TRUE(writer) << writer.getStatus().getMessage();
    for (int i = 0; i < 20; ++i) {
      Kernel kernel = makeSampleKernel();
      kernel.codeObject.resize(3000, static_cast<char>('a' + i));
      ASSERT_TRUE(
          (*writer)
              ->add({"conv-" + std::to_string(i), "gfx942", "r1"}, kernel)
              .isOk());
    }
    ASSERT_TRUE((*writer)->add(kKey, makeSampleKernel()).isOk());
    Tuning tuning;
    tuning.tile = "t";
    ASSERT_TRUE((*writer)->add(kTuningKey, tuning).isOk());
    Status status = (*writer)->finish();
    ASSERT_TRUE(status.isOk()) << status.getMessage();
  }

  std::vector<std::string> getFiles() const {
    std::vector<std::string> names;
    for (const fs::directory_entry &entry :
         fs::directory_iterator(folder.getPath()))
      names.push_back(entry.path().filename());
    return names;
  }
};
} // namespace

// A package is one file; reading it leaves nothing beside it.
TEST_F(Package, IsReadWithoutATrace) {
  makePackage();
  KernelDatabase kernels(open());
  std::optional<Kernel> found = kernels.find(kKey);
  ASSERT_TRUE(found);
  EXPECT_EQ(getStoredFields(*found), getStoredFields(makeSampleKernel()));
  EXPECT_EQ(
      PerfDatabase(open()).find(kTuningKey, Objective::MeasuredTime).size(),
      1u);
  EXPECT_EQ(getFiles(), std::vector<std::string>{"a b%20?#.db"});
}

// Nothing is written to a package, whoever asks.
TEST_F(Package, IsNotWritten) {
  makePackage();
  const auto before = fs::last_write_time(path);
  KernelDatabase kernels(open());
  kernels.store({"new", "gfx942", "r1"}, makeSampleKernel());
  PerfDatabase(open()).store(kTuningKey, Tuning());
  EXPECT_FALSE(kernels.find({"new", "gfx942", "r1"}));
  EXPECT_EQ(fs::last_write_time(path), before);
}

// A writer that is destroyed early leaves nothing, and the old package stays.
TEST_F(Package, AppearsWhole) {
  auto startToWrite = [&] {
    ErrorOr<std::unique_ptr<PackageWriter>> writer =
        PackageWriter::create(path);
    ASSERT_TRUE(writer);
    ASSERT_TRUE((*writer)->add(kKey, makeSampleKernel("other")).isOk());
  };
  startToWrite();
  EXPECT_TRUE(getFiles().empty());
  makePackage();
  startToWrite();
  EXPECT_EQ(getFiles().size(), 1u);
  EXPECT_EQ(KernelDatabase(open()).find(kKey)->tile, "igemm-tile");
}

// A full disk is a failure with a sentence; nothing of the package is left.
TEST_F(Package, FullDisk) {
  ChildProcess writer([&] {
    const rlimit limit = {50000, 50000};
    setrlimit(RLIMIT_FSIZE, &limit);
    signal(SIGXFSZ, SIG_IGN);
    ErrorOr<std::unique_ptr<PackageWriter>> writer =
        PackageWriter::create(path);
    Status status = writer.getStatus();
    for (int i = 0; i < 100 && status.isOk(); ++i) {
      Kernel kernel = makeIncompressibleKernel(i);
      status =
          (*writer)->add({"conv-" + std::to_string(i), "gfx942", "r1"}, kernel);
    }
    if (status.isOk())
      status = (*writer)->finish();
    return status.getMessage().find(path) == std::string::npos ? 1 : 0;
  });
  EXPECT_EQ(writer.wait(), 0);
  EXPECT_TRUE(getFiles().empty());
}

// Kernels that share a code object share its bytes in the file.
TEST_F(Package, KeepsCodeObjectsOnce) {
  const Kernel kernel = makeIncompressibleKernel(1);
  ErrorOr<std::unique_ptr<PackageWriter>> writer = PackageWriter::create(path);
  ASSERT_TRUE(writer);
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE((*writer)
                    ->add({"conv-" + std::to_string(i), "gfx942", "r1"}, kernel)
                    .isOk());
  ASSERT_TRUE((*writer)->finish().isOk());
  EXPECT_LT(fs::file_size(path), 200000u);
  std::optional<Kernel> found =
      KernelDatabase(open()).find({"conv-19", "gfx942", "r1"});
  ASSERT_TRUE(found);
  EXPECT_EQ(getStoredFields(*found), getStoredFields(kernel));
}

// A damaged package is not used, is left as it is, and is reported once.
TEST_F(Package, DamageIsToldOnce) {
  folder.write("a b%20?#.db", std::string(5000, 'g'));
  testing::internal::CaptureStderr();
  KernelDatabase kernels(open());
  EXPECT_FALSE(kernels.find(kKey));
  EXPECT_FALSE(kernels.find(kKey));
  std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  EXPECT_NE(said.find("a package of kernels is not used: "), std::string::npos)
      << said;
  EXPECT_EQ(getFiles().size(), 1u);
}

// Bytes that change anywhere in a package never give a wrong kernel.
TEST_F(Package, OverwrittenBytesAreNeverBelieved) {
  makePackage();
  const uint64_t size = fs::file_size(path);
  testing::internal::CaptureStderr();
  for (uint64_t offset = 0; offset + 64 < size; offset += 509) {
    makePackage();
    {
      std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(offset));
      file << std::string(64, '\xa5');
    }
    if (std::optional<Kernel> found = KernelDatabase(open()).find(kKey))
      EXPECT_EQ(getStoredFields(*found), getStoredFields(makeSampleKernel()));
  }
  (void)testing::internal::GetCapturedStderr();
}

// A database of another program, as MIOpen's folders hold, is skipped without a
// warning.
TEST_F(Package, DatabasesOfOthersArePassedOver) {
  {
    ErrorOr<SqliteDatabase> other = SqliteDatabase::open(path);
    ASSERT_TRUE(other);
    ASSERT_TRUE(other->execute("CREATE TABLE kern_db (i)").isOk());
  }
  testing::internal::CaptureStderr();
  EXPECT_FALSE(KernelDatabase(open()).isOpen());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}
