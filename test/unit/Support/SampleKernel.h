//===- SampleKernel.h - A kernel without default values --------*- C++ -*--===//

#ifndef TESSERA_TEST_UNIT_SUPPORT_SAMPLEKERNEL_H
#define TESSERA_TEST_UNIT_SUPPORT_SAMPLEKERNEL_H

#include "runtime/Base/Kernel.h"

#include <tuple>

namespace tessera::test {

/// Returns a tensor map of images in which every list has its own values.
inline TensorMap makeSampleMap() {
  TensorMap map;
  map.tensor = KernelArg::W;
  map.dataType = DataType::BF16;
  map.mode = TensorMap::Mode::Im2col;
  map.rank = 4;
  map.sizes = {256, 15, 14, 64, 1};
  map.strides = {0, 512, 7680, 107520, 0};
  map.box = {64, 192, 1, 1, 1};
  map.steps = {1, 2, 3, 1, 1};
  map.lower = {-3, -2, 0};
  map.upper = {-1, 4, 0};
  return map;
}

inline SizeExpr makeSampleSize() {
  return SizeExpr::makeSize(KernelArg::X, 1) *
         SizeExpr::makeSize(KernelArg::Tensor0, 2);
}

/// Returns a kernel in which every number differs, so that two swapped columns
/// of a database show.
inline Kernel makeSampleKernel(const std::string &tile = "igemm-tile") {
  Kernel kernel;
  kernel.codeObject = {'\x7f', 'E', 'L', 'F', '\0', '\xff', 'x'};
  kernel.launches = {{"conv",
                      {11, 12, 13},
                      {14, 15, 16},
                      17,
                      {},
                      {{KernelArg::Y, 33554432},
                       KernelArg::X,
                       KernelArg::W,
                       KernelArg::Workspace,
                       KernelArg::ActivGamma}},
                     {"conv_sum",
                      {26, 27, 28},
                      {29, 30, 31},
                      32,
                      {makeSampleMap(), {}},
                      {},
                      true},
                     {"conv_sizes",
                      {0, 33, 34},
                      {35, 36, 37},
                      38,
                      {},
                      {KernelArg::X,
                       {KernelArg::Size, makeSampleSize() * 39},
                       {KernelArg::Divisor, makeSampleSize()},
                       {KernelArg::Workspace, makeSampleSize() + 41}},
                      false,
                      ceilDiv(makeSampleSize(), 40),
                      makeSampleSize() * 42}};
  kernel.workspaceBytes = uint64_t(18) << 32;
  kernel.resources = {19, 20, 21, 22, 23, 24, 25};
  kernel.tile = tile;
  return kernel;
}

/// Returns everything that a database stores of a kernel.
inline auto getStoredFields(const Kernel &kernel) {
  const KernelResources &used = kernel.resources;
  return std::tuple(kernel.codeObject, kernel.launches, kernel.workspaceBytes,
                    used.vgprs, used.agprs, used.sgprs, used.vgprSpills,
                    used.sgprSpills, used.ldsBytes, used.scratchBytes,
                    kernel.tile);
}

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_SUPPORT_SAMPLEKERNEL_H
