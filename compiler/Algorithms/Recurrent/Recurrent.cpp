//===- Recurrent.cpp - All steps of a recurrent network in a launch -------===//

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Recurrent/OneStepProgram.h"
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
  bool takesUnknownSizes() const override { return true; }
  Status check(const Problem &problem, const GpuTarget &target) const override;
  std::vector<Candidate> getCandidates(const Problem &problem,
                                       const GpuTarget &target) const override;
  LogicalResult build(Operation *primitive, const TileConfig &config,
                      const GpuTarget &target) const override;
};
} // namespace

/// The sizes of a problem with steps; NotSupported if no wave has its product.
static ErrorOr<StepGeometry> getGeometry(const RowWiseProblem &rows,
                                         const GpuTarget &target) {
  const std::optional<WaveShape> shape =
      findWaveShape(target, rows.tensors[0].type);
  if (!shape)
    return notSupported("needs floats of up to 32 bits");
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
  return tensors - 1 - g.gates;
}

/// The tiles that fit, with their geometries. Those of one step only where the
/// problem's sizes are known, and those of fused multiply-adds where a step is
/// not as fast as a launch of its own.
static std::vector<StepGeometry>
getFitting(const RowWiseProblem &rows, const GpuTarget &target, bool isKnown) {
  std::vector<StepGeometry> fitting;
  ErrorOr<StepGeometry> g = getGeometry(rows, target);
  if (!g)
    return fitting;
  const int64_t others = countOthers(*g, rows.tensorCount);
  auto add = [&](const StepTile &tile) {
    g->setTile(tile, target.waveSize);
    if (g->fit(target, others).isOk() &&
        (!tile.isFma() ||
         g->estimateStep(target) < g->estimateLaunches(target)))
      fitting.push_back(*g);
  };
  for (int units = 1; units <= 32; units *= 2) {
    for (int cluster = 1; cluster <= 8; cluster *= 2) {
      if (!g->shape.isFma())
        add({.units = units, .cluster = cluster});
      for (int lanes = 1; g->shape.isFma() && units <= 2 && lanes <= 32;
           lanes *= 2)
        for (int tiles = 1; tiles <= 16; tiles *= 2)
          add({.units = units,
               .cluster = cluster,
               .lanes = lanes,
               .tiles = tiles});
    }
    for (int splits = 1; isKnown && splits <= 16; splits *= 2)
      for (int tiles = 1; tiles <= 8; tiles *= 2)
        add({.units = units, .splits = splits, .tiles = tiles});
  }
  return fitting;
}

/// The state of the next step has an element of each segment for each unit.
static Status checkParts(const RowWiseProblem &rows) {
  if (rows.lengths[3] == 1 || rows.lengths[3] % rows.lengths[2] != 0)
    return notSupported("needs a state of several elements, as many of each "
                        "segment as there are units");
  for (const RowTensor &tensor : rows.getTensors())
    if (tensor.type != rows.tensors[0].type)
      return notSupported("needs tensors of one type");
  return Status::ok();
}

Status Recurrent::check(const Problem &problem, const GpuTarget &target) const {
  const Problem sample = problem.getSample();
  const RowWiseProblem *rows = sample.getRows();
  if (!rows || !hasSteps(*rows))
    return notSupported("makes all steps of recurrent networks only");
  if (Status status = checkParts(*rows); !status.isOk())
    return status;
  const ErrorOr<StepGeometry> g = getGeometry(*rows, target);
  if (!g)
    return g.getStatus();
  if (getFitting(*rows, target, !problem.hasUnknownSizes()).empty())
    return notSupported("the weights of a layer and direction are too large "
                        "for the registers and the memory of a workgroup, or "
                        "the sequences are too many");
  return Status::ok();
}

std::vector<Candidate> Recurrent::getCandidates(const Problem &problem,
                                                const GpuTarget &target) const {
  std::vector<Candidate> candidates;
  const Problem sample = problem.getSample();
  const bool isKnown = !problem.hasUnknownSizes();
  for (const StepGeometry &g : getFitting(*sample.getRows(), target, isKnown))
    candidates.push_back({g.tile.toConfig(), g.estimate(target)});
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
    return op.emitOpError("needs floats of up to 32 bits");
  ArrayRef<int64_t> lengths = op.getLengths();
  StepGeometry g{lengths[0],
                 lengths[1],
                 lengths[2],
                 lengths[3],
                 static_cast<int64_t>(op.getKindsOf(0).size()),
                 *shape,
                 {}};
  g.setTile(*tile, target.waveSize);
  const Status fits = g.fit(target, countOthers(g, op.getNumOperands()));
  if (!fits.isOk())
    return op.emitOpError() << fits.getMessage();
  OpBuilder b(op);
  PointBuilder p(b, op.getLoc());
  StepProgram program(p, op, g, target.waveSize);
  if (failed(program.check()))
    return failure();
  if (tile->isOneStep())
    OneStepProgram(p, op, g, target.waveSize).build();
  else
    program.build();
  op.erase();
  return success();
}

const Algorithm &tessera::getRecurrent() {
  static const Recurrent algorithm;
  return algorithm;
}
