//===- DeviceOps.h - Where the vendors' instructions differ ----*- C++ -*--===//
//
// The lowering is one for all chips. What it cannot say in a dialect of MLIR
// that every chip shares is asked of this class, which has one implementation a
// vendor (AmdDeviceOps.cpp, NvidiaDeviceOps.cpp): a new vendor is a new file,
// and what tells two vendors apart is found by comparing the files.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_CONVERSION_COMMON_DEVICEOPS_H
#define TESSERA_COMPILER_CONVERSION_COMMON_DEVICEOPS_H

#include "compiler/Target/MatrixInstruction.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#include <memory>
#include <optional>

namespace tessera {

class Emitter;

/// Bytes of a value of `type`: a number, or a vector of them.
int64_t getByteSize(mlir::Type type);

/// Bytes of global memory whose accesses are checked against its end.
struct CheckedMemory {
  mlir::Value base;  ///< A buffer descriptor (AMD), or a pointer.
  mlir::Value bytes; ///< An i32; null where the descriptor holds it.

  explicit operator bool() const { return static_cast<bool>(base); }
};

/// A function of LLVM's IR.
struct Intrinsic {
  mlir::StringRef name;
  bool takesVectors = true; ///< Else one element at a time.
};

/// Emits a vendor's instructions. Has no state but the chip; safe from any
/// thread.
class DeviceOps {
public:
  explicit DeviceOps(const GpuTarget &target) : target(target) {}
  virtual ~DeviceOps() = default;

  const GpuTarget &getTarget() const { return target; }

  //===--------------------------------------------------------------------===//
  // Threads
  //===--------------------------------------------------------------------===//

  /// The thread in its workgroup and the workgroup in its grid, as an i32;
  /// below `count` where that is given.
  virtual mlir::Value emitThreadId(Emitter &e,
                                   std::optional<int64_t> count = {}) const = 0;
  virtual mlir::Value emitBlockId(Emitter &e,
                                  std::optional<int64_t> count = {}) const = 0;
  /// An i32 of which the caller knows that all lanes of a wave hold the same.
  virtual mlir::Value emitUniform(Emitter &e, mlir::Value value) const = 0;

  /// Waits for this thread's LDS operations, then for the workgroup.
  virtual void emitLdsBarrier(Emitter &e) const = 0;
  /// Waits for the workgroup alone.
  virtual void emitBareBarrier(Emitter &e) const = 0;
  /// Waits until all but the youngest so many loads or LDS operations of this
  /// thread are done. Nothing where the chip knows what a register waits for.
  virtual void emitWait(Emitter &e, std::optional<int64_t> loads,
                        std::optional<int64_t> lds) const = 0;
  /// Nothing may be moved across this place. Nothing where a later compiler
  /// orders instructions anew.
  virtual void emitOrderPin(Emitter &e) const = 0;
  /// Attributes of a kernel whose lanes hold sums in so many registers, and of
  /// which `perUnit` workgroups share a compute unit if that is known.
  virtual void setKernelAttributes(mlir::gpu::GPUFuncOp kernel,
                                   int64_t accumulatorRegisters,
                                   std::optional<int64_t> perUnit) const = 0;

  //===--------------------------------------------------------------------===//
  // Global memory
  //===--------------------------------------------------------------------===//

  /// `bytes` (an i64, at most 2^31) from `pointer` on.
  virtual CheckedMemory makeMemory(Emitter &e, mlir::Value pointer,
                                   mlir::Value bytes) const = 0;

  /// Loads `type`, an integer or a vector of i32, at byte offset `lane` +
  /// `uniform`; zero where `lane`, unsigned, is not in range. `uniform` is the
  /// same in all lanes and not checked. `alignment` of the address in bytes.
  virtual mlir::Value load(Emitter &e, CheckedMemory memory, mlir::Type type,
                           mlir::Value lane, mlir::Value uniform,
                           int64_t alignment) const = 0;

  /// Stores an integer or a vector of i32 at byte offset `lane`; nothing where
  /// that is not in range.
  virtual void store(Emitter &e, mlir::Value value, CheckedMemory memory,
                     mlir::Value lane, int64_t alignment) const = 0;

  /// Adds an f32 to the one at byte offset `lane`, atomically on the device;
  /// does nothing where that is not in range. Only of chips with
  /// GpuTarget::hasFloatAtomics.
  virtual void atomicAdd(Emitter &e, mlir::Value value, CheckedMemory memory,
                         mlir::Value lane) const = 0;

  //===--------------------------------------------------------------------===//
  // Loads to LDS: only of chips with GpuTarget::directLdsBytes
  //===--------------------------------------------------------------------===//

  /// What loadToLds() wants to know of the place of lane `lane` in a wave that
  /// fills LDS from offset `wavePlace` on, `bytes` a lane.
  virtual mlir::Value emitDirectPlace(Emitter &e, mlir::Value wavePlace,
                                      mlir::Value lane,
                                      int64_t bytes) const = 0;
  /// Loads `bytes` a lane to LDS, at `ldsPointer`, which emitDirectPlace() has
  /// moved. `immediate` is added to the offset in memory, and on AMD's chips to
  /// the place in LDS, too.
  virtual void loadToLds(Emitter &e, CheckedMemory memory,
                         mlir::Value ldsPointer, int64_t bytes,
                         mlir::Value lane, mlir::Value uniform,
                         int64_t immediate) const = 0;
  /// Ends a group of loads to LDS.
  virtual void endDirectGroup(Emitter &e) const = 0;
  /// Waits for LDS operations, and until all but the youngest so many groups,
  /// of `loads` each, are there for this thread.
  virtual void waitForDirectGroups(Emitter &e, int64_t groups,
                                   int64_t loads) const = 0;

  //===--------------------------------------------------------------------===//
  // Arithmetic
  //===--------------------------------------------------------------------===//

  /// Reads four matrices of 8 rows by 16 bytes from LDS: a row of 16 bytes
  /// lies at each lane's `ldsPointer`. Only of rows with readsMatrices().
  virtual mlir::Value readMatrices(Emitter &e, mlir::Value ldsPointer,
                                   mlir::VectorType type) const = 0;
  /// accumulator + P * Q, by an instruction of a matrix unit.
  virtual mlir::Value multiply(Emitter &e, const MatrixInstruction &instruction,
                               mlir::Value p, mlir::Value q,
                               mlir::Value accumulator) const = 0;
  /// accumulator + the dot product of four signed bytes, each four an i32.
  /// Only of chips with GpuTarget::byteDot.
  virtual mlir::Value dotBytes(Emitter &e, mlir::Value p, mlir::Value q,
                               mlir::Value accumulator) const = 0;
  /// What an op of the arith or math dialect becomes of which upstream's
  /// conversion would make the wrong thing; else no name.
  virtual Intrinsic getIntrinsic(mlir::Operation *op) const = 0;

protected:
  const GpuTarget &target;
};

/// For `target`, which outlives it.
std::unique_ptr<DeviceOps> createDeviceOps(const GpuTarget &target);

/// The vendors'.
std::unique_ptr<DeviceOps> createAmdDeviceOps(const GpuTarget &target);
std::unique_ptr<DeviceOps> createNvidiaDeviceOps(const GpuTarget &target);

/// The dialects of all vendors' instructions.
void registerDeviceDialects(mlir::DialectRegistry &registry);

/// A call of the intrinsic `name`.
mlir::Value callIntrinsic(Emitter &e, mlir::StringRef name, mlir::Type type,
                          mlir::ValueRange operands);

/// Reads four matrices of 8 lines by 16 bytes from LDS, a line at each lane's
/// `ldsPointer`, and transposes them (NVIDIA's ldmatrix.trans).
mlir::Value readTransposedMatrices(Emitter &e, mlir::Value ldsPointer,
                                   mlir::VectorType type);

/// Rearranges an accumulator of the instruction "mma16t" as "mma16" has it: the
/// lanes of a quad exchange values, after which each lane has eight neighbours
/// along P to store. For NVIDIA's chips.
mlir::Value dealSums(Emitter &e, mlir::Value accumulator, mlir::Value lane);

} // namespace tessera

#endif // TESSERA_COMPILER_CONVERSION_COMMON_DEVICEOPS_H
