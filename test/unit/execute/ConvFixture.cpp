//===- ConvFixture.cpp - Compiles, runs and judges a convolution ----------===//

#include "test/unit/execute/ConvFixture.h"
#include "runtime/DriverCommand/DriverCommand.h"

using namespace tessera;

uint64_t test::getSeed() {
  static const uint64_t seed = [] {
    uint64_t ofChip = 0;
    for (char letter : getTarget().name)
      ofChip = ofChip * 31 + static_cast<unsigned char>(letter);
    return getEnvInt("TESSERA_TEST_SEED").value_or(20261121 + ofChip % 1000);
  }();
  return seed;
}

bool test::isTurn(int64_t number) {
  static const bool runsAll = getEnvInt("TESSERA_TEST_ALL").value_or(0) != 0;
  static const bool isOdd =
      getTarget().name == "gfx942" || getTarget().name == "gfx1100";
  return runsAll || number % 2 == isOdd;
}

std::unique_ptr<Engine>
test::makeEngine(std::shared_ptr<KernelCompiler> compiler) {
  auto created = Engine::create(getGpu(), {std::move(compiler), ""});
  EXPECT_TRUE(created) << created.getStatus().getMessage();
  return created ? std::move(*created) : nullptr;
}

void test::checkConv(Engine &engine, const ConvProblem &problem,
                     reference::DataKind kind, int64_t sample) {
  SCOPED_TRACE(toDriverCommand(problem) + "   [" + problem.toNetworkConfig() +
               "]");
  const ConvOutcome outcome = runConv(engine, problem, kind, getSeed(), sample);
  EXPECT_TRUE(outcome.passed()) << outcome.tile << ": " << outcome.toText();
}
