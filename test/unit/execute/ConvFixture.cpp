//===- ConvFixture.cpp - Compiles, runs and judges a convolution ----------===//

#include "runtime/DriverCommand/DriverCommand.h"
#include "test/unit/execute/ConvFixture.h"

using namespace tessera;

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
