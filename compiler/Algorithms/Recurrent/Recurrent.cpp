//===- Recurrent.cpp - All steps of a recurrent network in a launch -------===//

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Recurrent/StepProgram.h"
#include "compiler/Algorithms/Registry.h"
#include "compiler/Frontend/RowWiseFrontend.h"
#include "runtime/Base/RowWiseKind.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace tessera;

namespace {
class Recurrent final : public Algorithm {
public:
  std::string_view getName() const override { return "steps"; }
  bool takesUnaligned() const override { return true; }
  Status check(const Problem &problem, const GpuTarget &target) const override;
  std::vector<Candidate> getCandidates(const Problem &problem,
                                       const GpuTarget &target) const override;
  LogicalResult build(Operation *primitive, const TileConfig &config,
                      const GpuTarget &target) const override;
};
} // namespace

/// The sizes of a problem with steps; NotSupported without matrix unit.
static ErrorOr<StepGeometry> getGeometry(const RowWiseProblem &rows,
                                         const GpuTarget &target) {
  const std::optional<WaveShape> shape =
      findWaveShape(target, rows.tensors[0].type);
  if (!shape)
    return notSupported("needs a matrix unit for the data type");
  return StepGeometry{rows.lengths[0],
                      rows.lengths[1],
                      rows.lengths[2],
                      rows.lengths[3],
                      static_cast<int64_t>(getReductions(rows).front().size()),
                      *shape,
                      {}};
}

/// Inputs and outputs of a step that have an element for each unit.
static int64_t countOthers(const StepGeometry &g, int64_t tensors) {
  return tensors - 1 - g.weights;
}

/// The state of the next step has an element of each part for each unit.
static Status checkParts(const RowWiseProblem &rows) {
  if (rows.lengths[3] == 1 || rows.lengths[3] % rows.lengths[2] != 0)
    return notSupported("needs a state of several elements, as many of each "
                        "part as there are units");
  for (const RowTensor &tensor : rows.getTensors())
    if (tensor.type != rows.tensors[0].type)
      return notSupported("needs tensors of one type");
  return Status::ok();
}

Status Recurrent::check(const Problem &problem, const GpuTarget &target) const {
  const RowWiseProblem *rows = problem.getRows();
  if (!rows || !hasSteps(*rows))
    return notSupported("makes all steps of recurrent networks only");
  if (Status status = checkParts(*rows); !status.isOk())
    return status;
  const ErrorOr<StepGeometry> g = getGeometry(*rows, target);
  if (!g)
    return g.getStatus();
  return g->checkFit(target, countOthers(*g, rows->tensorCount));
}

std::vector<Candidate> Recurrent::getCandidates(const Problem &problem,
                                                const GpuTarget &target) const {
  const RowWiseProblem &rows = *problem.getRows();
  StepGeometry g = *getGeometry(rows, target);
  std::vector<Candidate> candidates;
  for (int blocks : {1, 2, 4}) {
    g.tile.blocks = blocks;
    if ((blocks > 1 &&
         g.getWaves() < static_cast<int64_t>(target.simdsPerCu)) ||
        !g.checkFit(target, countOthers(g, rows.tensorCount)).isOk())
      continue;
    // More waves than units of arithmetic hide what the others wait for.
    constexpr double kStep = 1000, kBlock = 100;
    candidates.push_back({g.tile.toConfig(), static_cast<double>(g.steps) *
                                                 (kStep + kBlock * blocks)});
  }
  return candidates;
}

static DataType getType(MemRefType type) {
  return type.getElementType().isF16()    ? DataType::F16
         : type.getElementType().isBF16() ? DataType::BF16
                                          : DataType::F32;
}

LogicalResult Recurrent::build(Operation *primitive, const TileConfig &config,
                               const GpuTarget &target) const {
  auto op = dyn_cast<dnn::RowWiseOp>(primitive);
  if (!op || !dnn::getCarried(op))
    return primitive->emitOpError("has no steps, but tile '")
           << config.toText() << "' is for them";
  const ErrorOr<StepTile> tile = parseStepTile(config);
  if (!tile)
    return op.emitOpError() << tile.getStatus().getMessage();
  const std::optional<WaveShape> shape = findWaveShape(
      target, getType(cast<MemRefType>(op.getInputs()[0].getType())));
  if (!shape)
    return op.emitOpError("needs a chip with a matrix unit for its type");
  ArrayRef<int64_t> lengths = op.getLengths();
  const StepGeometry g{lengths[0],
                       lengths[1],
                       lengths[2],
                       lengths[3],
                       static_cast<int64_t>(op.getKindsOf(0).size()),
                       *shape,
                       *tile};
  const Status fits = g.checkFit(target, countOthers(g, op.getNumOperands()));
  if (!fits.isOk())
    return op.emitOpError() << fits.getMessage();
  OpBuilder b(op);
  PointBuilder p(b, op.getLoc());
  StepProgram program(p, op, g, target.waveSize);
  if (failed(program.check()))
    return failure();
  program.build();
  op.erase();
  return success();
}

const Algorithm &tessera::getRecurrent() {
  static const Recurrent algorithm;
  return algorithm;
}
