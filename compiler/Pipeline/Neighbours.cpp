//===- Neighbours.cpp - Kernels with almost the same plan -----------------===//
//
// The plan is that of the first pipeline: a tile with several of them sets the
// knobs of all. Each neighbour is lowered to stage `workgroup`, which takes a
// millisecond or two, so that nobody is offered what is refused, or what makes
// no difference.
//
//===----------------------------------------------------------------------===//

#include "compiler/Pipeline/Neighbours.h"
#include "compiler/Conversion/Passes.h"
#include "compiler/Pipeline/Pipeline.h"
#include "dialect/IR/Dnn.h"
#include "dialect/IR/PlanKnobs.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

using namespace tessera;

/// The text of `stage` for a tile.
static ErrorOr<std::string> lower(CompileContext &context,
                                  const Problem &problem,
                                  const std::string &tile,
                                  const GpuTarget &target, Stage stage) {
  PipelineOptions options;
  options.target = &target;
  options.tile = tile;
  options.stopAfter = stage;
  ErrorOr<PipelineResult> result = compileProblem(context, problem, options);
  if (!result)
    return result.getStatus();
  return std::move(result->output);
}

/// The plan of the first pipeline of a text of stage `tiled`; empty if it has
/// none.
static dnn::PlanKnobs readPlan(CompileContext &context,
                               const std::string &text) {
  mlir::ScopedDiagnosticHandler quiet(
      &context.getMlir(), [](mlir::Diagnostic &) { return mlir::success(); });
  dnn::PlanKnobs plan;
  auto module =
      mlir::parseSourceString<mlir::ModuleOp>(text, &context.getMlir());
  mlir::PassManager passes(&context.getMlir());
  passes.addPass(createPlanKernel());
  if (!module || mlir::failed(passes.run(*module)))
    return plan;
  module->walk([&](dnn::PipelineOp pipeline) {
    plan = dnn::PlanKnobs(pipeline.getKnobs());
    return mlir::WalkResult::interrupt();
  });
  return plan;
}

/// The plan of a tile, or none if it is no tile or has no pipeline.
static dnn::PlanKnobs planTile(CompileContext &context, const Problem &problem,
                               const std::string &tile,
                               const GpuTarget &target) {
  const ErrorOr<std::string> tiled =
      lower(context, problem, tile, target, Stage::Tiled);
  return tiled ? readPlan(context, *tiled) : dnn::PlanKnobs();
}

/// Without values that the plan has by itself, so that each plan has one text.
static dnn::PlanKnobs dropOwn(dnn::PlanKnobs knobs, const dnn::PlanKnobs &own) {
  for (unsigned index = 0; index < dnn::kKnobs; ++index) {
    const auto knob = static_cast<dnn::Knob>(index);
    if (knobs.get(knob) == own.get(knob))
      knobs.set(knob, dnn::PlanKnobs::kOwn);
  }
  return knobs;
}

ErrorOr<std::vector<TileConfig>>
tessera::findNeighbours(CompileContext &context, const Problem &problem,
                        const TileConfig &tile, const GpuTarget &target) {
  const std::string all = tile.toText();
  const auto [base, ofKnobs] = dnn::splitKnobs(all);
  ErrorOr<std::string> own =
      lower(context, problem, all, target, Stage::Workgroup);
  if (!own)
    return own.getStatus();
  std::vector<TileConfig> neighbours;
  const dnn::PlanKnobs plan = planTile(context, problem, all, target);
  const dnn::PlanKnobs ofBase = planTile(context, problem, base.str(), target);
  const auto changed = dnn::parsePlanKnobs(ofKnobs, [&] {
    return mlir::emitError(mlir::UnknownLoc::get(&context.getMlir()));
  });
  if (plan.isEmpty() || mlir::failed(changed))
    return neighbours;
  for (const dnn::PlanKnobs &knobs : dnn::getNeighbours(plan, *changed)) {
    const std::string text = base.str() + dropOwn(knobs, ofBase).toText();
    const ErrorOr<std::string> other =
        lower(context, problem, text, target, Stage::Workgroup);
    if (other && *other != *own)
      neighbours.push_back(*parseTileConfig(text));
  }
  return neighbours;
}
