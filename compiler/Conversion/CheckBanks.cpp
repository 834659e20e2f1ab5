//===- CheckBanks.cpp - Bank conflicts of a kernel's shared memory --------===//
//
// Where a lane accesses shared memory is arithmetic on its number and on what
// all lanes of a wave have in common. This check does that arithmetic for each
// lane of each wave and counts the lanes that meet in a bank, whatever layout
// a buffer has and whoever wrote the kernel. What lanes have in common moves
// all of them by as many banks, so that one value stands for all: a workgroup's
// number is 0, a loop is in its first iteration.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Passes.h"
#include "dialect/IR/Dnn.h"
#include "runtime/Base/GpuTarget.h"
#include "runtime/Base/LdsBanks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/TypeSwitch.h"

namespace tessera {
#define GEN_PASS_DEF_CHECKBANKS
#include "compiler/Conversion/Passes.h.inc"
} // namespace tessera

using namespace mlir;
using namespace tessera;

static constexpr int64_t kMostBytes = 16; ///< Of an instruction, by lane.
static constexpr unsigned kSharedSpace = 3;

static int64_t getBytes(Operation *op, Type type) {
  return DataLayout::closest(op).getTypeSize(type);
}

namespace {
/// What one thread of the first workgroup computes. A value that it loads, or
/// that depends on the launch's arguments, is not known.
class ThreadValues {
public:
  ThreadValues(int64_t thread, int64_t waveSize)
      : thread(thread), waveSize(waveSize) {}

  std::optional<int64_t> get(Value value) {
    auto number = dyn_cast_or_null<IntegerAttr>(evaluate(value));
    if (!number)
      return std::nullopt;
    const bool isBit = number.getValue().getBitWidth() == 1;
    return isBit ? number.getValue().getZExtValue() : number.getInt();
  }
  /// Whether the thread comes to `op`, as far as the conditions are known.
  bool reaches(Operation *op) {
    for (Region *region = op->getParentRegion(); region;
         region = region->getParentOp()->getParentRegion())
      if (auto branch = dyn_cast<scf::IfOp>(region->getParentOp()))
        if (std::optional<int64_t> taken = get(branch.getCondition()))
          if ((*taken != 0) != (region == &branch.getThenRegion()))
            return false;
    return true;
  }

private:
  Attribute evaluate(Value value) {
    auto [known, isNew] = numbers.try_emplace(value, Attribute());
    if (!isNew)
      return known->second;
    const Attribute number = isa<BlockArgument>(value)
                                 ? evaluateArgument(cast<BlockArgument>(value))
                                 : evaluateResult(cast<OpResult>(value));
    return numbers[value] = number;
  }
  static Attribute makeNumber(Type type, int64_t number) {
    if (isa<LLVM::LLVMPointerType>(type))
      type = IntegerType::get(type.getContext(), 64);
    return type.isIntOrIndex() ? IntegerAttr::get(type, number) : Attribute();
  }

  /// A loop is in its first iteration.
  Attribute evaluateArgument(BlockArgument argument) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop)
      return {};
    if (argument == loop.getInductionVar())
      return evaluate(loop.getLowerBound());
    return evaluate(loop.getTiedLoopInit(argument)->get());
  }

  Attribute evaluateResult(OpResult result) {
    Operation *op = result.getOwner();
    const Type type = result.getType();
    if (isa<ROCDL::ThreadIdXOp, NVVM::ThreadIdXOp>(op))
      return makeNumber(type, thread);
    if (isa<NVVM::LaneIdOp>(op))
      return makeNumber(type, thread % waveSize);
    if (isa<ROCDL::BlockIdXOp, ROCDL::BlockIdYOp, ROCDL::BlockIdZOp,
            NVVM::BlockIdXOp, NVVM::BlockIdYOp, NVVM::BlockIdZOp,
            NVVM::ClusterIdXOp, NVVM::BlockInClusterIdXOp,
            gpu::DynamicSharedMemoryOp, LLVM::AddressOfOp>(op))
      return makeNumber(type, 0);
    if (auto first = dyn_cast<ROCDL::ReadfirstlaneOp>(op))
      return ThreadValues(thread / waveSize * waveSize, waveSize)
          .evaluate(first.getSrc());
    if (auto other = dyn_cast<NVVM::ShflOp>(op))
      if (matchPattern(other.getOffset(), m_Zero()) &&
          other.getKind() == NVVM::ShflKind::idx)
        return ThreadValues(thread / waveSize * waveSize, waveSize)
            .evaluate(other.getVal());
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return evaluate(loop.getInitArgs()[result.getResultNumber()]);
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return evaluateBranch(branch, result.getResultNumber());
    if (auto address = dyn_cast<memref::ExtractAlignedPointerAsIndexOp>(op))
      return makeNumber(type, getBegin(address.getSource()));
    if (isa<LLVM::IntToPtrOp, LLVM::PtrToIntOp, LLVM::AddrSpaceCastOp>(op)) {
      const std::optional<int64_t> number = get(op->getOperand(0));
      return number ? makeNumber(type, *number) : Attribute();
    }
    if (auto element = dyn_cast<LLVM::GEPOp>(op))
      return evaluateElement(element);
    return fold(op, result.getResultNumber());
  }

  Attribute evaluateBranch(scf::IfOp branch, unsigned number) {
    const std::optional<int64_t> taken = get(branch.getCondition());
    if (!taken)
      return {};
    Block &block = *taken ? branch.getThenRegion().front()
                          : branch.getElseRegion().front();
    return evaluate(block.getTerminator()->getOperand(number));
  }

  /// An element so many elements behind a pointer.
  Attribute evaluateElement(LLVM::GEPOp op) {
    const std::optional<int64_t> base = get(op.getBase());
    if (!base || op.getIndices().size() != 1)
      return {};
    int64_t index;
    if (auto number = dyn_cast<IntegerAttr>(op.getIndices()[0]))
      index = number.getInt();
    else if (std::optional<int64_t> known =
                 get(cast<Value>(op.getIndices()[0])))
      index = *known;
    else
      return {};
    const int64_t bytes = DataLayout::closest(op).getTypeSize(op.getElemType());
    return makeNumber(op.getType(), *base + index * bytes);
  }

  Attribute fold(Operation *op, unsigned number) {
    auto isNumber = [](Type type) { return type.isIntOrIndex(); };
    if (!isPure(op) || op->getNumRegions() ||
        !llvm::all_of(op->getResultTypes(), isNumber) ||
        !llvm::all_of(op->getOperandTypes(), isNumber))
      return {};
    SmallVector<Attribute> operands;
    for (Value operand : op->getOperands())
      operands.push_back(evaluate(operand));
    SmallVector<OpFoldResult> results;
    // A fold that changes the op itself would hold for one thread only.
    Operation *copy = op->clone();
    const bool isFolded = succeeded(copy->fold(operands, results));
    Attribute folded;
    if (isFolded && number < results.size()) {
      if (auto value = dyn_cast<Value>(results[number])) {
        folded = value.getDefiningOp() == copy ? Attribute() : evaluate(value);
      } else {
        folded = cast<Attribute>(results[number]);
      }
    }
    copy->destroy();
    return folded;
  }

public:
  /// The byte at which a buffer begins, from where its memory does.
  int64_t getBegin(Value buffer) {
    auto view = buffer.getDefiningOp<memref::ViewOp>();
    return view ? get(view.getByteShift()).value_or(0) : 0;
  }

private:
  const int64_t thread, waveSize;
  llvm::DenseMap<Value, Attribute> numbers;
};

/// An op by which each lane accesses `bytes` of shared memory.
struct SharedAccess {
  Operation *op;
  Value memory;       ///< A buffer or a pointer.
  ValueRange indices; ///< Of a buffer.
  int64_t bytes;
  bool isWrite;
  /// Of an op on matrices: as many as this, the rows of each at the addresses
  /// of eight lanes, and lanes are served by matrix.
  int64_t matrices = 0;

  std::optional<int64_t> getAddress(ThreadValues &thread) const {
    auto buffer = dyn_cast<MemRefType>(memory.getType());
    if (!buffer)
      return thread.get(memory);
    int64_t element = 0;
    for (auto [length, value] : llvm::zip(buffer.getShape(), indices)) {
      const std::optional<int64_t> index = thread.get(value);
      if (!index)
        return std::nullopt;
      element = element * length + *index;
    }
    return thread.getBegin(memory) +
           element * getBytes(op, buffer.getElementType());
  }
};
} // namespace

static bool isShared(Type memory) {
  if (auto pointer = dyn_cast<LLVM::LLVMPointerType>(memory))
    return pointer.getAddressSpace() == kSharedSpace;
  auto buffer = dyn_cast<MemRefType>(memory);
  return buffer && buffer.getLayout().isIdentity() &&
         gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(buffer);
}

/// The access that `op` makes; none if it makes no such one.
static std::optional<SharedAccess> findAccess(Operation *op) {
  using Access = std::optional<SharedAccess>;
  Access access =
      llvm::TypeSwitch<Operation *, Access>(op)
          .Case<vector::LoadOp, memref::LoadOp>([&](auto load) {
            return SharedAccess{op, load->getOperand(0), load.getIndices(),
                                getBytes(op, load->getResult(0).getType()),
                                false};
          })
          .Case<vector::StoreOp, memref::StoreOp>([&](auto store) {
            return SharedAccess{op, store->getOperand(1), store.getIndices(),
                                getBytes(op, store->getOperand(0).getType()),
                                true};
          })
          .Case([&](LLVM::LoadOp load) {
            return SharedAccess{
                op, load.getAddr(), {}, getBytes(op, load.getType()), false};
          })
          .Case([&](LLVM::StoreOp store) {
            return SharedAccess{op,
                                store.getAddr(),
                                {},
                                getBytes(op, store.getValue().getType()),
                                true};
          })
          .Case([&](NVVM::CpAsyncOp copy) {
            return SharedAccess{op,
                                copy.getDst(),
                                {},
                                static_cast<int64_t>(copy.getSize()),
                                true};
          })
          .Case([&](NVVM::LdMatrixOp load) {
            return SharedAccess{op,    load.getPtr(),
                                {},    kMostBytes,
                                false, static_cast<int64_t>(load.getNum())};
          })
          .Case([&](NVVM::StMatrixOp store) {
            return SharedAccess{
                op,   store.getPtr(),
                {},   kMostBytes,
                true, static_cast<int64_t>(store.getSources().size())};
          })
          .Default([](Operation *) { return std::nullopt; });
  if (!access || !isShared(access->memory.getType()))
    return std::nullopt;
  return access;
}

namespace {
/// Counts, in one kernel, the clocks that conflicts cost.
class BankCounter {
public:
  BankCounter(gpu::GPUFuncOp kernel, const GpuTarget &target)
      : target(target), banks(target.ldsBanks) {
    const int64_t threads = kernel.getKnownBlockSize()->front();
    for (int64_t i = 0; i < threads; ++i)
      values.emplace_back(i, target.waveSize);
  }

  /// The most clocks beyond the fewest that one wave needs for `access`. None
  /// if it is not known where its lanes are.
  std::optional<uint32_t> count(const SharedAccess &access) {
    uint32_t worst = 0;
    for (size_t first = 0; first < values.size(); first += target.waveSize) {
      SmallVector<LdsLaneAccess> lanes;
      const size_t end = std::min(values.size(), first + target.waveSize);
      for (size_t i = first; i < end; ++i) {
        if (!values[i].reaches(access.op))
          continue;
        const std::optional<int64_t> address = access.getAddress(values[i]);
        if (!address)
          return std::nullopt;
        lanes.push_back({static_cast<uint32_t>(i - first),
                         static_cast<uint32_t>(*address)});
      }
      worst = std::max(worst, countWave(access, lanes));
    }
    return worst;
  }

private:
  /// An access wider than an instruction is several.
  uint32_t countWave(const SharedAccess &access,
                     ArrayRef<LdsLaneAccess> lanes) const {
    uint32_t clocks = 0;
    for (int64_t done = 0; done < access.bytes; done += kMostBytes) {
      SmallVector<LdsLaneAccess> part(lanes);
      for (LdsLaneAccess &lane : part)
        lane.address += static_cast<uint32_t>(done);
      clocks += countPhases(
          access, part,
          static_cast<uint32_t>(std::min(kMostBytes, access.bytes - done)));
    }
    return clocks;
  }

  /// NVIDIA serves as many lanes at a time as touch each bank once, and of a
  /// matrix its eight rows.
  uint32_t countPhases(const SharedAccess &access,
                       ArrayRef<LdsLaneAccess> lanes, uint32_t bytes) const {
    if (target.vendor == Vendor::Amd)
      return countLdsConflicts({lanes.data(), lanes.size()}, bytes, banks,
                               access.isWrite);
    constexpr uint32_t kBankBytes = 4, kRows = 8;
    const uint32_t phase =
        access.matrices ? kRows
                        : banks * kBankBytes / std::max(bytes, kBankBytes);
    uint32_t clocks = 0;
    for (uint32_t first = 0; first < target.waveSize; first += phase) {
      if (access.matrices && first >= access.matrices * kRows)
        break;
      SmallVector<LdsLaneAccess> part;
      llvm::copy_if(lanes, std::back_inserter(part), [&](LdsLaneAccess lane) {
        return lane.lane >= first && lane.lane < first + phase;
      });
      clocks += countLdsConflicts({part.data(), part.size()}, bytes, banks,
                                  /*isWrite=*/true);
    }
    return clocks;
  }

  const GpuTarget &target;
  const uint32_t banks;
  std::vector<ThreadValues> values;
};

struct CheckBanks : tessera::impl::CheckBanksBase<CheckBanks> {
  using Base::Base;

  void runOnOperation() override {
    const GpuTarget *target = nullptr;
    if (auto name =
            getOperation()->getAttrOfType<StringAttr>(dnn::kTargetAttrName))
      target = findTarget(name.strref());
    if (!target) {
      getOperation().emitError(getArgument())
          << ": the module must name a known chip in '" << dnn::kTargetAttrName
          << "'";
      return signalPassFailure();
    }
    bool hasConflict = false;
    getOperation().walk([&](gpu::GPUFuncOp kernel) {
      if (!kernel.getKnownBlockSize() || kernel.getKnownBlockSize()->empty())
        return;
      BankCounter counter(kernel, *target);
      kernel.walk([&](Operation *op) {
        if (std::optional<SharedAccess> access = findAccess(op))
          hasConflict |= report(*access, counter.count(*access));
      });
    });
    if (hasConflict)
      signalPassFailure();
    markAllAnalysesPreserved();
  }

  /// Whether there is a conflict.
  bool report(const SharedAccess &access, std::optional<uint32_t> clocks) {
    if (!clocks)
      access.op->emitRemark("is not judged: where it is depends on what is "
                            "loaded, or on arguments of the launch");
    if (clocks.value_or(0) == 0)
      return false;
    access.op->emitOpError("has lanes that meet in a bank of shared memory: a "
                           "wave needs ")
        << *clocks << (*clocks == 1 ? " clock" : " clocks")
        << " more than if they were spread over the banks";
    return true;
  }
};
} // namespace
