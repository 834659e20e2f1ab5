//===- StepProgram.h - All steps of a recurrent network --------*- C++ -*--===//
//
// A workgroup makes all steps of some sequences, which nothing else reads or
// writes, so that workgroups need not wait for each other. Its waves share out
// the units and keep their weights in registers, and what does not fit these in
// shared memory, each lane its own. The state lies in shared memory, twice, so
// that a step has one barrier: behind the new state. In a cluster, each
// workgroup has some of the units, and writes their state to the memory of all.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_COMPILER_ALGORITHMS_RECURRENT_STEPPROGRAM_H
#define TESSERA_COMPILER_ALGORITHMS_RECURRENT_STEPPROGRAM_H

#include "compiler/Algorithms/Recurrent/StepGeometry.h"
#include "dialect/IR/Steps.h"

namespace tessera {

/// Writes the program. Borrows all arguments.
class StepProgram {
public:
  StepProgram(PointBuilder &p, dnn::RowWiseOp op, const StepGeometry &g,
              int64_t waveSize)
      : p(p), op(op), g(g), waveSize(waveSize), carried(*dnn::getCarried(op)) {}

  /// Emits an error and fails unless the op's reduction is the product of its
  /// first input with each of the next ones.
  mlir::LogicalResult check();
  void build();

  /// Which of the values that the loop over the steps carries.
  struct Slot {
    size_t first, count;
  };

protected:
  using Value = mlir::Value;
  using Values = PointBuilder::Values;

  /// Dimensions of the space.
  static constexpr int64_t kTime = 0, kSequence = 1, kUnit = 2, kElement = 3;

  /// The elements of a tensor that has one for each unit and sequence, or fewer
  /// where it is broadcast, as the lane loads and stores them: blocks of
  /// neighbouring units, those of its first sequence first.
  struct Access {
    Value memory;
    mlir::MemRefType type;
    int64_t width = 1;  ///< Of a block.
    int64_t blocks = 1; ///< Of a sequence.
    int64_t sequences = 1;
    bool isTimed = false;       ///< Whether each step has its own.
    std::optional<Slot> slot{}; ///< If the loop carries it.
    Values fixed{};             ///< What an input has in the first step.
    int64_t count() const { return blocks * sequences; }
  };

  bool isBroadcast(mlir::MemRefType type, int64_t dim);
  Access getAccess(Value memory);
  /// Where a block lies, and which of its coordinates need a check.
  Values getIndices(const Access &access, int64_t block, Value time);
  mlir::DenseI64ArrayAttr getInside(const Access &access);
  Values load(const Access &access, Value time);
  void store(const Access &access, mlir::ValueRange blocks, Value time);
  /// The element of a unit and a sequence of the lane.
  Value getElement(const Access &access, mlir::ValueRange blocks, int64_t unit,
                   int64_t sequence);
  /// The blocks of results, one for each unit and sequence.
  Values makeBlocks(const Access &access, mlir::ArrayRef<Value> results);

  void enterLane();
  void clusterBarrier();
  void publish(Value buffer);
  void loadWeights();
  Value getMemorySlot(int64_t block, int64_t instruction);
  Values takeWeights(int64_t block, int64_t instruction);
  Value loadWeight(Value memory, Value unit, int64_t segment, int64_t first);
  void clearState();
  void beginState();
  void ifKept(llvm::function_ref<void()> body);
  void putState(Value buffer, int64_t segment, mlir::ArrayRef<Value> results);
  void storeSegment(Value buffer, int64_t segment, int64_t sequence,
                    Value units);

  /// The accumulators of all blocks.
  Values multiply(Value buffer);
  /// What the row region yields for each unit and sequence of the lane.
  std::vector<Values> evaluate(mlir::ArrayRef<Values> inputs,
                               const Values &accumulators);
  Size getSteps();
  Value getTime(Value step);
  void beginInputs(Values &init);
  void beginOutputs(Values &init);
  Values makeStep(Value step, mlir::ValueRange values);

  PointBuilder &p;
  dnn::RowWiseOp op;
  const StepGeometry &g;
  const int64_t waveSize;
  const mlir::SmallVector<dnn::Carried> carried;

  mlir::Type element; ///< Of the tensors.
  mlir::Type held;    ///< Of weights and state in the workgroup.
  Value thread, shared, lastStep;
  std::optional<WaveLane> lane;
  Value firstUnit, firstSequence; ///< Of the lane, in the space.
  /// Of its wave and its workgroup.
  Value waveUnit, groupUnit, groupSequence;
  /// Of each block, instruction and held row, in registers.
  Values weights;
  Value memory, laneMemory; ///< The others, and where the lane's begin.
  std::vector<Access> inputs, outputs; ///< Of the units; null for weights.
};

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_RECURRENT_STEPPROGRAM_H
