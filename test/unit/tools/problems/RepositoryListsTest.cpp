//===- RepositoryListsTest.cpp - Every list of ours is read ---------------===//

#include "runtime/DriverCommand/DriverCommand.h"
#include "test/unit/Support/TemporaryDirectory.h"
#include "tools/problems/ProblemFile.h"

#include <gtest/gtest.h>

#include <filesystem>

using namespace tessera;

/// Finds the lists in a folder of the repository.
static std::vector<std::string> findLists(const std::string &folder) {
  std::vector<std::string> lists;
  for (const auto &entry : std::filesystem::directory_iterator(
           std::string(TESSERA_SOURCE_DIR) + "/" + folder))
    if (entry.path().extension() == ".txt" &&
        entry.path().filename() != "CMakeLists.txt")
      lists.push_back(entry.path());
  return lists;
}

static ErrorOr<ProblemFile> readStrictly(const std::string &path) {
  ProblemFileOptions options;
  options.strict = true;
  return readProblems(path, options);
}

// No line of the lists for the sweep and the benchmarks is skipped, and their
// problems are the same after they were written in either form and read again.
TEST(RepositoryLists, RoundTrip) {
  std::vector<std::string> lists = findLists("test/sweep/lists");
  for (const std::string &list : findLists("tools/bench"))
    lists.push_back(list);
  ASSERT_GE(lists.size(), 10u);
  for (const std::string &list : lists) {
    ErrorOr<ProblemFile> file = readStrictly(list);
    ASSERT_TRUE(file) << list << ": " << file.getStatus().getMessage();
    ASSERT_FALSE(file->problems.empty()) << list;
    std::string configs, lines;
    for (const ListedProblem &listed : file->problems) {
      configs += listed.problem.toNetworkConfig() + "\n";
      lines += toDriverCommand(listed.problem) + "\n";
    }
    test::TemporaryDirectory directory;
    for (const std::string &text : {configs, lines}) {
      directory.write("again", text);
      ErrorOr<ProblemFile> again = readStrictly(directory.get("again"));
      ASSERT_TRUE(again) << list << ": " << again.getStatus().getMessage();
      ASSERT_EQ(again->problems.size(), file->problems.size()) << list;
      for (size_t i = 0; i < again->problems.size(); ++i)
        EXPECT_EQ(again->problems[i].problem, file->problems[i].problem);
    }
  }
}

// ResNet-50 has 53 convolutions, of which 23 are different.
TEST(RepositoryLists, CountsRepetitions) {
  ErrorOr<ProblemFile> file = readStrictly(std::string(TESSERA_SOURCE_DIR) +
                                           "/tools/bench/resnet50.txt");
  ASSERT_TRUE(file) << file.getStatus().getMessage();
  EXPECT_EQ(file->problems.size(), 23u);
  EXPECT_EQ(getSummary(*file), "23 problems (53 with repetitions)\n");
}
