//===- RowWiseTest.cpp - Row-wise operations on the device ----------------===//
//
// Tests every operation of RowWiseKind.def on the device that TESSERA_DEVICE
// names.
//
//===----------------------------------------------------------------------===//

#include "runtime/Base/RowWiseKind.h"
#include "test/unit/Support/RunRowWise.h"
#include "test/unit/execute/ConvFixture.h"
#include "test/unit/execute/DrawProblem.h"

#include <algorithm>

using namespace tessera;
using namespace tessera::test;

static Engine &getEngine() {
  static std::unique_ptr<Engine> engine =
      makeEngine(std::shared_ptr<KernelCompiler>(createJitCompiler()));
  return *engine;
}

static void checkRows(const RowWiseProblem &problem,
                      const SharedMemory &shared = {}) {
  SCOPED_TRACE(problem.toNetworkConfig());
  const RowOutcome outcome =
      runRowWise(getEngine(), problem, getSeed(), 0, shared);
  EXPECT_TRUE(outcome.passed()) << outcome.tile << ": " << outcome.toText();
}

/// Returns an activation of packed f32 tensors with one dimension.
static RowWiseProblem getActivation(int64_t length) {
  RowWiseProblem p;
  p.op = RowWiseKind::ActivationForward;
  p.mode = 3;
  p.lengths[0] = length;
  p.tensorCount = 2;
  p.tensors[0] = {DataType::F32, RowRole::Input, {1}};
  p.tensors[1] = {DataType::F32, RowRole::Output, {1}};
  return p;
}

// Tests lengths around the sizes of accesses, waves and workgroups.
TEST(Rows, Lengths) {
  for (int64_t length : {1, 2, 3, 4, 5, 63, 64, 255, 1024, 4097})
    checkRows(getActivation(length));
}

// An output may overwrite an input that has the same strides.
TEST(Rows, InPlace) {
  checkRows(getActivation(100), {{0, 1}});
  checkRows(getActivation(4096), {{0, 1}});
}

// Tests random problems of every operation and mode, with all types, reduced
// dimensions, orders, gaps and broadcasts.
TEST(Rows, RandomProblems) {
  for (int64_t i = 0; i < TESSERA_RANDOM_PROBLEMS; ++i)
    checkRows(drawRowWise(getSeed(), i));
}
