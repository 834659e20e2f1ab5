//===- PackageBuilderTest.cpp - Packages of kernels -----------------------===//

#include "tools/dnn-opt/PackageBuilder.h"

#include "runtime/Db/KernelDatabase.h"
#include "runtime/Db/PerfDatabase.h"
#include "test/unit/Support/TemporaryDirectory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>

using namespace tessera;

namespace {
/// A compiler whose kernels' code is the name of what they are for.
class NamingCompiler : public KernelCompiler {
public:
  std::string revision = "r1";
  std::set<std::string> badTiles; ///< Tiles that do not compile.
  int64_t refusedBatch = 0;       ///< Problems with it have no kernel.
  std::atomic<int> compiled = 0;

  std::string getRevision() const override { return revision; }

  ErrorOr<TileConfig> chooseTile(const Problem &problem,
                                 const GpuTarget &) const override {
    if (problem.getConv()->batch == refusedBatch)
      return notSupported("no algorithm likes this batch");
    return TileConfig{"a", "1"};
  }

  ErrorOr<std::vector<RankedTile>> rankTiles(const Problem &problem,
                                             const GpuTarget &target,
                                             size_t limit) const override {
    ErrorOr<TileConfig> best = chooseTile(problem, target);
    if (!best)
      return best.getStatus();
    std::vector<RankedTile> ranked = {{*best, 1}, {TileConfig{"a", "2"}, 2}};
    ranked.resize(std::min(limit, ranked.size()));
    return ranked;
  }

  ErrorOr<Kernel> compile(const Problem &problem, const TileConfig &tile,
                          const GpuTarget &target) override {
    ++compiled;
    if (badTiles.contains(tile.toText()))
      return internalError("the compiler fell over");
    const std::string code =
        problem.toNetworkConfig() + std::string(target.name) + tile.toText();
    Kernel kernel;
    kernel.codeObject.assign(code.begin(), code.end());
    kernel.launches = {{"conv", {1, 2, 3}, {64, 1, 1}, 0, {}, {KernelArg::X}}};
    kernel.tile = tile.toText();
    return kernel;
  }
};

class PackageBuilder : public testing::Test {
protected:
  PackageBuilder() {
    request.output = directory.get("kernels.db");
    request.targets = {findTarget("gfx942"), findTarget("gfx1100")};
    request.jobs = 3;
    addProblems(5);
  }

  void addProblems(int count) {
    for (int i = 0; i < count; ++i)
      addProblem(static_cast<int64_t>(request.problems.size()) + 1);
  }

  void addProblem(int64_t batch) {
    ConvProblem problem;
    problem.batch = batch;
    request.problems.push_back(problem);
  }

  PackageReport build() {
    ErrorOr<PackageReport> report =
        buildPackage(request, compiler, [](const PackageReport &) {});
    EXPECT_TRUE(report) << report.getStatus().getMessage();
    return report ? *report : PackageReport();
  }

  std::string refuse() {
    return buildPackage(request, compiler, [](const PackageReport &) {})
        .getStatus()
        .getMessage();
  }

  /// Stores a tuning in the file that the request names from then on.
  void store(int problem, const char *tile, Objective objective, double value,
             const char *failure = "", uint32_t computeUnits = 304) {
    request.tiles = directory.get("tunings.db");
    PerfDatabase tunings(std::make_shared<DatabaseFile>(request.tiles));
    Tuning tuning;
    tuning.tile = tile;
    tuning.objective = objective;
    tuning.value = value;
    tuning.failure = failure;
    tuning.device = "d";
    tunings.store(
        {request.problems[problem].toNetworkConfig(), "gfx942", computeUnits},
        tuning);
  }

  KernelKey getKey(int problem, const char *target = "gfx942") const {
    return {request.problems[problem].toNetworkConfig(), target,
            compiler.revision};
  }

  /// The tile of a kernel in the package; "" if there is no kernel.
  std::string findTile(int problem, const char *target = "gfx942") const {
    KernelDatabase package(std::make_shared<DatabaseFile>(
        request.output, DatabaseFile::Use::Package));
    std::optional<Kernel> kernel = package.find(getKey(problem, target));
    return kernel ? kernel->tile : "";
  }

  std::string readBytes() const {
    std::ifstream stream(request.output, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  std::set<std::string> getFiles() const {
    std::set<std::string> names;
    for (const auto &entry :
         std::filesystem::directory_iterator(directory.getPath()))
      names.insert(entry.path().filename());
    return names;
  }

  test::TemporaryDirectory directory;
  PackageRequest request;
  NamingCompiler compiler;
};
} // namespace

// The package has every problem for every chip, in one file and nothing beside
// it.
TEST_F(PackageBuilder, HasEveryKernel) {
  PackageReport report = build();
  EXPECT_EQ(report.wanted, 10);
  EXPECT_EQ(report.done, 10);
  EXPECT_EQ(report.made, 10);
  EXPECT_TRUE(report.failures.empty());
  for (int i = 0; i < 5; ++i)
    for (const char *target : {"gfx942", "gfx1100"})
      EXPECT_EQ(findTile(i, target), "a-1");
  EXPECT_EQ(findTile(0, "gfx90a"), "");
  EXPECT_EQ(getFiles(), std::set<std::string>{"kernels.db"});
}

// Threads may finish in any order, and at any time; the bytes are the same.
TEST_F(PackageBuilder, IsReproducible) {
  addProblems(40);
  build();
  const std::string first = readBytes();
  std::filesystem::remove(request.output);
  request.jobs = 1;
  build();
  EXPECT_EQ(first == readBytes(), true);
  build();
  EXPECT_EQ(first == readBytes(), true) << "taken over";
}

// Kernels that the package has are not compiled again, those of another
// compiler are; problems that the list does not name are deleted.
TEST_F(PackageBuilder, TakesKernelsOver) {
  build();
  EXPECT_EQ(compiler.compiled, 10);
  request.problems.erase(request.problems.begin());
  addProblem(77);
  PackageReport report = build();
  EXPECT_EQ(report.takenOver, 8);
  EXPECT_EQ(report.made, 2);
  EXPECT_EQ(compiler.compiled, 12);
  EXPECT_EQ(findTile(4), "a-1");
  compiler.revision = "r2";
  EXPECT_EQ(build().made, 10);
}

// A build that was stopped leaves its kernels beside the package, and the next
// build uses them.
TEST_F(PackageBuilder, ResumesAStoppedBuild) {
  {
    KernelDatabase part(
        std::make_shared<DatabaseFile>(request.output + ".part"));
    ErrorOr<Kernel> kernel = compiler.compile(
        request.problems[2], TileConfig{"a", "1"}, *findTarget("gfx942"));
    part.store(getKey(2), *kernel);
  }
  PackageReport report = build();
  EXPECT_EQ(report.takenOver, 1);
  EXPECT_EQ(report.made, 9);
  EXPECT_EQ(getFiles(), std::set<std::string>{"kernels.db"});
}

// Kernels that cannot be compiled are reported, in a fixed order, and the
// others are in the package.
TEST_F(PackageBuilder, ReportsFailures) {
  compiler.refusedBatch = 3;
  PackageReport report = build();
  EXPECT_EQ(report.made, 8);
  EXPECT_EQ(report.done, 10);
  ASSERT_EQ(report.failures.size(), 2u);
  EXPECT_EQ(report.failures[0].target, "gfx1100");
  EXPECT_EQ(report.failures[1].target, "gfx942");
  EXPECT_EQ(report.failures[0].reason, "no algorithm likes this batch");
  EXPECT_EQ(report.failures[0].networkConfig,
            request.problems[2].toNetworkConfig());
  EXPECT_EQ(findTile(2), "");
  EXPECT_EQ(findTile(3), "a-1");
}

// If the best tile fails, the next one is used, and the report says why.
TEST_F(PackageBuilder, TriesTheNextTile) {
  compiler.badTiles = {"a-1"};
  PackageReport report = build();
  EXPECT_EQ(report.made, 10);
  EXPECT_EQ(report.replaced.size(), 10u);
  EXPECT_EQ(report.replaced[0].reason, "the compiler fell over");
  EXPECT_EQ(findTile(0), "a-2");
  compiler.badTiles = {"a-1", "a-2"};
  compiler.revision = "r2";
  EXPECT_EQ(build().failures.size(), 10u);
}

// The tile is the best verified one of a tuning, by time rather than by an
// estimate; the model's if there is none, or if it cannot be compiled.
TEST_F(PackageBuilder, UsesTunedTiles) {
  store(0, "a-8", Objective::MeasuredTime, 5);
  store(0, "a-9", Objective::MeasuredTime, 3);
  store(0, "a-7", Objective::IssueCycles, 1);
  store(1, "a-6", Objective::IssueCycles, 1);
  store(2, "a-5", Objective::MeasuredTime, 1, "wrong result");
  store(3, "b-1", Objective::MeasuredTime, 1);
  compiler.badTiles = {"b-1"};
  PackageReport report = build();
  EXPECT_EQ(report.tuned, 2);
  EXPECT_EQ(findTile(0), "a-9");
  EXPECT_EQ(findTile(0, "gfx1100"), "a-1");
  EXPECT_EQ(findTile(1), "a-6");
  EXPECT_EQ(findTile(2), "a-1");
  EXPECT_EQ(findTile(3), "a-1");
  EXPECT_EQ(report.replaced.size(), 1u);
}

// A tile in quarantine is not used, even if the model prefers it or another
// size of the chip found it good; a trial that was cut short is no quarantine.
TEST_F(PackageBuilder, AvoidsTilesInQuarantine) {
  store(0, "a-1", Objective::MeasuredTime, 0, "wrong result");
  store(1, "a-9", Objective::MeasuredTime, 1);
  store(1, "a-9", Objective::MeasuredTime, 0, "wrong result", 228);
  store(2, "a-1", Objective::MeasuredTime, 0, kUnfinishedTrial);
  store(3, "a-1", Objective::MeasuredTime, 0, "wrong result");
  store(3, "a-2", Objective::IssueCycles, 0, "does not end");
  PackageReport report = build();
  EXPECT_EQ(findTile(0), "a-2");
  EXPECT_EQ(findTile(1), "a-1");
  EXPECT_EQ(findTile(2), "a-1");
  EXPECT_EQ(report.tuned, 0);
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures[0].reason, "every tile is in quarantine");
}

// A kernel in the package is compiled anew if a tuning has a better tile.
TEST_F(PackageBuilder, ReplacesUntunedKernels) {
  build();
  store(0, "a-9", Objective::MeasuredTime, 1);
  store(1, "a-1", Objective::MeasuredTime, 1);
  store(2, "a-1", Objective::MeasuredTime, 0, "wrong result");
  PackageReport report = build();
  EXPECT_EQ(report.made, 2);
  EXPECT_EQ(report.takenOver, 8);
  EXPECT_EQ(findTile(0), "a-9");
  EXPECT_EQ(findTile(1), "a-1");
  EXPECT_EQ(findTile(2), "a-2");
  EXPECT_EQ(build().made, 0);
}

// A file that is no package is not overwritten, and is left as it was.
TEST_F(PackageBuilder, KeepsOtherFiles) {
  directory.write("kernels.db", "my thesis");
  EXPECT_NE(refuse().find("is no package, so it is not replaced"),
            std::string::npos)
      << refuse();
  EXPECT_EQ(readBytes(), "my thesis");
}

// The failure names folders and files that do not exist.
TEST_F(PackageBuilder, Refusals) {
  request.tiles = directory.get("none.db");
  EXPECT_NE(refuse().find("cannot read tiles"), std::string::npos);
  request.tiles = "";
  request.output = "/proc/none/kernels.db";
  EXPECT_EQ(refuse(), "cannot write '/proc/none/kernels.db': there is no "
                      "directory '/proc/none'; make it first");
  // The folder is not created either.
  request.output = directory.get("none/kernels.db");
  EXPECT_NE(refuse().find("there is no directory"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(directory.get("none")));
  request.output = directory.getPath();
  EXPECT_NE(refuse().find("it is a directory"), std::string::npos);
}
