//===- TmaKernel.cpp - What begins every kernel that copies by TMA --------===//

#include "compiler/Conversion/Hopper/TmaKernel.h"
#include "compiler/Conversion/Common/KernelFunction.h"
#include "compiler/Conversion/Hopper/ClusterSum.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tessera;

TmaKernel tessera::createTmaKernel(func::FuncOp source,
                                   ArrayRef<TensorMap> maps,
                                   const llvm::SmallDenseSet<Value> &pointers,
                                   const HopperShape &shape,
                                   int64_t workgroups) {
  OpBuilder b(source);
  SmallVector<Type> inputs(maps.size(),
                           LLVM::LLVMPointerType::get(b.getContext()));
  SmallVector<BlockArgument> sources;
  for (BlockArgument argument : source.getArguments()) {
    const bool isTensor = isa<MemRefType>(argument.getType());
    if (isTensor && !pointers.contains(argument))
      continue;
    inputs.push_back(isTensor ? LLVM::LLVMPointerType::get(b.getContext(), 1)
                              : argument.getType());
    sources.push_back(argument);
  }
  TmaKernel kernel = {
      createKernelFrame(source, inputs, {}, shape.getThreads(), workgroups),
      {}};
  for (auto [i, argument] : llvm::enumerate(sources)) {
    const unsigned index = maps.size() + i;
    kernel.arguments.map(argument, kernel.function.getArgument(index));
    for (StringRef name : {dnn::kArgAttrName, dnn::kOffsetAttrName})
      if (Attribute attr = source.getArgAttr(argument.getArgNumber(), name))
        kernel.function.setArgAttr(index, name, attr);
  }
  setTensorMaps(kernel.function, maps);
  kernel.function->setAttr(dnn::kSharedBytesAttrName,
                           b.getI64IntegerAttr(shape.getSharedBytes()));
  kernel.function->setAttr("nvvm.minctasm",
                           b.getI32IntegerAttr(shape.blocksPerSm));
  if (shape.getClusterSize() > 1)
    kernel.function->setAttr(
        NVVM::NVVMDialect::getClusterDimAttrName(),
        b.getDenseI32ArrayAttr(
            {static_cast<int32_t>(shape.getClusterSize()), 1, 1}));
  return kernel;
}

TmaThreads tessera::emitTmaThreads(Emitter &e, const HopperShape &shape) {
  Type i32 = e.b.getI32Type();
  auto threads = LLVM::ConstantRangeAttr::get(e.b.getContext(), APInt(32, 0),
                                              APInt(32, shape.getThreads()));
  TmaThreads at;
  at.thread = NVVM::ThreadIdXOp::create(e.b, e.loc, i32, threads);
  Value block = NVVM::BlockIdXOp::create(e.b, e.loc, i32);
  at.workgroup = e.divu(block, shape.getClusterSize());
  at.rank = e.remu(block, shape.getClusterSize());
  if (shape.cluster > 1)
    ClusterSum::begin(e);
  // Only a shuffle tells ptxas that the warp number is uniform; without it,
  // wgmma behind a branch on it may be serialised.
  at.warp = NVVM::ShflOp::create(
      e.b, e.loc, i32, e.constant(-1), e.shru(at.thread, 5), e.constant(0),
      e.constant(31), NVVM::ShflKind::idx, UnitAttr());
  at.group = e.shru(at.warp, 2);
  at.consumer = e.add(at.group, -shape.countCopiers());
  return at;
}

void tessera::emitTmaBegin(Emitter &e, const HopperShape &shape,
                           gpu::GPUFuncOp kernel, size_t maps, Value thread,
                           llvm::function_ref<void()> initialize) {
  emitIf(e, e.ult(thread, 1), [&] {
    for (size_t map = 0; map < maps; ++map)
      NVVM::PrefetchOp::create(e.b, e.loc, nullptr, nullptr,
                               kernel.getArgument(map), Value(),
                               e.b.getUnitAttr());
    initialize();
  });
  // Copies of this thread need no other's barrier.
  if (shape.copiesFirst)
    return;
  // Another workgroup's copies and arrivals come to barriers that are there.
  if (shape.multicast) {
    NVVM::ClusterArriveRelaxedOp::create(e.b, e.loc, e.b.getUnitAttr());
    NVVM::ClusterWaitOp::create(e.b, e.loc, e.b.getUnitAttr());
  } else {
    NVVM::BarrierOp::create(e.b, e.loc);
  }
}
