//===- TileFrame.cpp - A workgroup's tile, while it is lowered ------------===//

#include "compiler/Conversion/Cooperative/TileFrame.h"
#include "compiler/Conversion/Common/KernelFunction.h"
#include "compiler/Conversion/Cooperative/DirectCopy.h"
#include "compiler/Conversion/Cooperative/Epilogue.h"
#include "compiler/Conversion/Cooperative/PlaneCopy.h"
#include "compiler/Conversion/Cooperative/TransposedCopy.h"
#include "compiler/Target/ElementType.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tessera;

//===----------------------------------------------------------------------===//
// The function and its LDS
//===----------------------------------------------------------------------===//

Type tessera::getLdsType(TileProgram &program, int64_t elements) {
  auto space = gpu::AddressSpaceAttr::get(program.function.getContext(),
                                          gpu::AddressSpace::Workgroup);
  return MemRefType::get({elements}, ViewAccess(program.viewM).getElementType(),
                         MemRefLayoutAttrInterface(), space);
}

static int64_t countBytes(Type buffer) {
  auto type = cast<MemRefType>(buffer);
  return type.getNumElements() * type.getElementTypeBitWidth() / 8;
}

/// Bytes of all buffers, of which the last may lie over the others.
static int64_t countAllBytes(const TileProgram &program, ArrayRef<Type> lds) {
  int64_t bytes = 0;
  for (Type buffer : lds.drop_back(program.isStagedOver ? 1 : 0))
    bytes += countBytes(buffer);
  return program.isStagedOver ? std::max(bytes, countBytes(lds.back())) : bytes;
}

/// What the launch is asked for, since code may not declare so much; or 0.
static int64_t getLaunchLdsBytes(const TileProgram &program, ArrayRef<Type> lds,
                                 const GpuTarget &target) {
  const int64_t bytes = countAllBytes(program, lds);
  return bytes > target.ldsBytes ? bytes : 0;
}

gpu::GPUFuncOp tessera::createTileFunction(TileProgram &program,
                                           ArrayRef<Type> lds,
                                           const TileLaunch &launch,
                                           const DeviceOps &device) {
  int64_t ofLaunch = getLaunchLdsBytes(program, lds, device.getTarget());
  SmallVector<Type> whole;
  if (program.isStagedOver)
    whole.push_back(
        MemRefType::get({countAllBytes(program, lds)},
                        IntegerType::get(program.function.getContext(), 8),
                        MemRefLayoutAttrInterface(),
                        cast<MemRefType>(lds.front()).getMemorySpace()));
  if (ofLaunch > 0)
    lds = {};
  else if (program.isStagedOver)
    lds = whole;
  gpu::GPUFuncOp kernel =
      createKernel(program.function, lds, program.threads,
                   launch.openWorkgroups ? 0 : launch.workgroups);
  // Chunks are moved as one, which not every vendor's linker knows to align.
  Builder b(kernel.getContext());
  for (unsigned i = 0; i < lds.size(); ++i)
    kernel.setWorkgroupAttributionAttr(
        i, b.getStringAttr(LLVM::LLVMDialect::getAlignAttrName()),
        b.getI64IntegerAttr(kChunkBytes));
  if (launch.openWorkgroups)
    kernel->setAttr(dnn::kWorkgroupsAttrName,
                    b.getStringAttr(launch.openWorkgroups->toText()));
  if (ofLaunch > 0)
    kernel->setAttr(dnn::kSharedBytesAttrName, b.getI64IntegerAttr(ofLaunch));
  device.setKernelAttributes(kernel, program.getAccumulatorRegisters(),
                             launch.perUnit);
  return kernel;
}

/// The memory that buffers are pieces of: what the launch asks for, or the one
/// buffer that the kernel declares.
static Value emitWholeLds(Emitter &e, ArrayRef<Type> types,
                          gpu::GPUFuncOp kernel) {
  if (!kernel.getWorkgroupAttributions().empty())
    return kernel.getWorkgroupAttributions().front();
  auto bytes = MemRefType::get(
      {ShapedType::kDynamic}, e.b.getI8Type(), MemRefLayoutAttrInterface(),
      cast<MemRefType>(types.front()).getMemorySpace());
  return gpu::DynamicSharedMemoryOp::create(e.b, e.loc, bytes);
}

/// The LDS buffers of a kernel: what it declares, or pieces of one memory.
static SmallVector<Value> emitLdsBuffers(Emitter &e, const TileProgram &program,
                                         ArrayRef<Type> types,
                                         gpu::GPUFuncOp kernel) {
  if (getLaunchLdsBytes(program, types, e.device.getTarget()) == 0 &&
      !program.isStagedOver)
    return llvm::to_vector_of<Value>(kernel.getWorkgroupAttributions());
  Value all = emitWholeLds(e, types, kernel);
  SmallVector<Value> buffers;
  int64_t begin = 0;
  for (Type type : types) {
    const bool isOver =
        program.isStagedOver && buffers.size() + 1 == types.size();
    buffers.push_back(memref::ViewOp::create(
        e.b, e.loc, type, all, e.indexConstant(isOver ? 0 : begin),
        ValueRange()));
    begin += countBytes(type);
  }
  return buffers;
}

//===----------------------------------------------------------------------===//
// The frame
//===----------------------------------------------------------------------===//

TileFrame::TileFrame(OpBuilder &b, TileProgram &program,
                     gpu::GPUFuncOp function, const DeviceOps &device)
    : sizes(program.function),
      e(b, function.getLoc(), &function.getBody().front(), device),
      program(program), function(function), target(device.getTarget()),
      accessM(program.viewM), accessN(program.viewN) {
  sizes.setKernel(function);
  e.sizes = &sizes;
  thread = device.emitThreadId(e, program.threads);
  block = device.emitBlockId(e);
}

void TileFrame::findThreads(ArrayRef<Type> ldsTypes) {
  lane = e.andi(thread, target.waveSize - 1);
  wave =
      e.device.emitUniform(e, e.shru(thread, llvm::Log2_32(target.waveSize)));
  lds = emitLdsBuffers(e, program, ldsTypes, function);
}

Value TileFrame::getArgument(Value source) {
  return function.getArgument(cast<BlockArgument>(source).getArgNumber());
}

GlobalBuffer TileFrame::getBuffer(const ViewAccess &access, Value first,
                                  int64_t headroom) {
  return makeBuffer(e, access, getArgument(access.getSource()), group, first,
                    headroom);
}

TileMma TileFrame::makeMma(const MatrixInstruction &instruction, LdsTile ldsM,
                           LdsTile ldsN, const SourceFactory &sourceM,
                           const SourceFactory &sourceN) {
  ArrayRef<int64_t> waves = program.waves;
  return TileMma(e, instruction, ldsM, ldsN, waves[0], waves[1],
                 program.lanesAlongN, lane, e.divu(wave, waves[1]),
                 e.remu(wave, waves[1]), accessM.getElementType(), sourceM,
                 sourceN);
}

void TileFrame::emitStore(const TileMma &mma, ArrayRef<Value> accumulators,
                          function_ref<void(Value, int64_t, int64_t)> put) {
  emitEpilogue(
      e,
      {program.viewD, program.extras, *program.epilogue, program.rowsM,
       program.rowsN, program.isAtomic},
      mma,
      {accumulators, row0, column0,
       [&](const ViewAccess &access) { return getBuffer(access, row0); },
       [&](Value source) { return getArgument(source); }, put});
}

void TileFrame::emitDealtStore(const TileMma &mma,
                               ArrayRef<Value> accumulators) {
  StringRef named = program.instructionName;
  Type element = ViewAccess(program.viewD).getElementType();
  if (std::string_view(named) == program.instruction.name ||
      element.getIntOrFloatBitWidth() != 16)
    return emitStore(mma, accumulators);
  TileMma dealt =
      makeMma(*findMatrixInstruction(target, named,
                                     *findDataType(accessM.getElementType())),
              mma.getM().lds, mma.getN().lds);
  emitStore(dealt, llvm::map_to_vector(accumulators, [&](Value sums) {
              return dealSums(e, sums, lane);
            }));
}

//===----------------------------------------------------------------------===//
// Factors
//===----------------------------------------------------------------------===//

TileFactor tessera::chooseFactor(TileProgram &program, const GpuTarget &target,
                                 const ViewAccess &access, int64_t rows) {
  LdsTile lds = program.hasWindows()
                    ? LdsTile{rows, program.step, access.getElementBytes(),
                              target.ldsBanks}
                    : chooseLdsTile(access, rows, program.step, program.threads,
                                    program.walk, target, program.instruction);
  return {access, lds,
          program.isDirect &&
              TransposedCopy::isFor(access, program.instruction),
          Value()};
}

std::unique_ptr<TileCopy>
tessera::createCopy(TileFrame &f, const TileFactor &factor, Value first) {
  const auto &[access, lds, isTransposed, table] = factor;
  TileProgram &program = f.program;
  if (program.walk.plane > 0) {
    GlobalBuffer whole = f.getBuffer(access, first);
    Value pointer = f.getArgument(access.getSource());
    return std::make_unique<PlaneCopy>(
        f.e, access, lds, program.walk,
        PlaneCopy::makeBuffer(f.e, access, pointer, whole), whole,
        program.threads, f.thread, table);
  }
  if (!program.isDirect)
    return createTileCopy(f.e, access, lds, program.walk,
                          f.getBuffer(access, first), program.threads,
                          f.thread);
  GlobalBuffer buffer =
      f.getBuffer(access, first, DirectCopy::getHeadroom(f.target));
  if (isTransposed)
    return std::make_unique<TransposedCopy>(f.e, access, lds, program.walk,
                                            std::move(buffer), program.threads,
                                            f.thread);
  return std::make_unique<DirectCopy>(f.e, access, lds, program.walk,
                                      std::move(buffer), program.threads,
                                      f.thread);
}

SourceFactory tessera::makeSource(TileFrame &f, const TileFactor &factor,
                                  bool isP) {
  if (!factor.isTransposed)
    return nullptr;
  return [&f, isP, rows = factor.lds.rows](const FragmentPlace &place) {
    return readTransposed(f.e, rows, place, isP, f.lane);
  };
}
