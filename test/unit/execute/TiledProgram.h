//===- TiledProgram.h - Runs text of stage `tiled` -------------*- C++ -*--===//

#ifndef TESSERA_TEST_UNIT_EXECUTE_TILEDPROGRAM_H
#define TESSERA_TEST_UNIT_EXECUTE_TILEDPROGRAM_H

#include "compiler/Pipeline/Pipeline.h"
#include "runtime/Gpu/DeviceBuffer.h"
#include "runtime/Gpu/Module.h"
#include "test/unit/execute/ConvFixture.h"

namespace tessera::test {

/// Compiles and runs programs that are written as text of stage `tiled`.
class TiledProgram : public testing::Test {
protected:
  /// Compiles the body of a module from stage `tiled` and loads its function.
  void compile(const std::string &body) {
    CompileContext context;
    PipelineOptions options;
    options.target = &getTarget();
    std::string text = "module attributes {dnn.target = \"" +
                       std::string(getTarget().name) + "\"} {" + body + "}";
    auto result = compileText(context, Stage::Tiled, text, options);
    ASSERT_TRUE(result) << result.getStatus().getMessage();
    launch = result->launches.at(0);
    auto loaded =
        Module::load(getGpu(), {result->output.data(), result->output.size()});
    ASSERT_TRUE(loaded) << loaded.getStatus().getMessage();
    module.emplace(std::move(*loaded));
  }

  void run(std::vector<void *> args) {
    auto function = module->getFunction(launch.symbol);
    ASSERT_TRUE(function) << function.getStatus().getMessage();
    ASSERT_EQ(getGpu().hipModuleLaunchKernel(*function, launch.grid[0], 1, 1,
                                             launch.block[0], 1, 1, 0, nullptr,
                                             args.data(), nullptr),
              hipSuccess);
  }

  template <typename T>
  static DeviceBuffer upload(const std::vector<T> &data) {
    auto buffer = DeviceBuffer::allocate(getGpu(), data.size() * sizeof(T));
    EXPECT_TRUE(buffer) << buffer.getStatus().getMessage();
    EXPECT_TRUE(
        buffer->copyFromHost(data.data(), data.size() * sizeof(T)).isOk());
    return std::move(*buffer);
  }

  template <typename T>
  static std::vector<T> download(const DeviceBuffer &buffer, size_t count) {
    std::vector<T> data(count);
    EXPECT_TRUE(buffer.copyToHost(data.data(), count * sizeof(T)).isOk());
    return data;
  }

  /// Returns small integers, so that every sum is exact.
  template <typename T>
  static std::vector<T> count(size_t size) {
    std::vector<T> data(size);
    for (size_t i = 0; i < size; ++i)
      data[i] = static_cast<T>(static_cast<int>(i * 7 % 23) - 11);
    return data;
  }

  LaunchRecipe launch;
  std::optional<Module> module;
};

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_EXECUTE_TILEDPROGRAM_H
