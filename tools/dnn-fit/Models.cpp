//===- Models.cpp - The cost models whose constants are fitted ------------===//

#include "tools/dnn-fit/Models.h"

#include "compiler/Algorithms/GemmCost.h"
#include "compiler/Algorithms/NarrowGroups.h"
#include "compiler/Algorithms/PoolModel.h"
#include "compiler/Algorithms/Registry.h"
#include "compiler/Algorithms/TmaTiles.h"
#include "compiler/Algorithms/TmaWeightTiles.h"

#include <cstdio>

using namespace tessera;
using namespace tessera::fit;

Rates Model::getRates() const {
  Rates rates;
  for (const Constant &constant : constants)
    rates.push_back(constant.value);
  return rates;
}

static std::string formatNumber(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

namespace {
/// A constant of `Struct`, which the model takes.
template <typename Struct>
struct Field {
  const char *name;
  const char *meaning;
  double &(*get)(Struct &);
};
} // namespace

/// `base` with the numbers of `rates`.
template <typename Struct>
static Struct fill(Struct base, const std::vector<Field<Struct>> &fields,
                   const Rates &rates) {
  for (size_t i = 0; i != fields.size(); ++i)
    fields[i].get(base) = rates[i];
  return base;
}

template <typename Struct>
static std::vector<Constant>
listConstants(Struct values, const std::vector<Field<Struct>> &fields) {
  std::vector<Constant> constants;
  for (const Field<Struct> &field : fields)
    constants.push_back({field.name, field.get(values)});
  return constants;
}

/// Rows of a file with one constant each.
template <typename Struct>
static auto formatRows(std::string macro, std::vector<Field<Struct>> fields) {
  return [macro = std::move(macro),
          fields = std::move(fields)](const Rates &rates) {
    std::string rows;
    for (size_t i = 0; i != fields.size(); ++i)
      rows += macro + "(" + fields[i].name + ", " + formatNumber(rates[i]) +
              ", \"" + fields[i].meaning + "\")\n";
    return rows;
  };
}

//===----------------------------------------------------------------------===//
// The models
//===----------------------------------------------------------------------===//

/// What the tensor cores of sm_90 multiply and add in a clock.
static constexpr double kMostProducts = 2048;

static Model makeWgmma(const GpuTarget &target) {
  const std::vector<Field<TmaRates>> fields = {
#define TMA_RATE(NAME, VALUE, MEANING)                                         \
  {#NAME, MEANING, [](TmaRates &rates) -> double & { return rates.NAME; }},
#include "compiler/Algorithms/TmaRates.def"
  };
  Model model;
  model.constants = listConstants(kTmaRates, fields);
  model.constants[0].most = kMostProducts;
  model.getCandidates = [fields, &target](const Problem &problem,
                                          const Rates &rates) {
    const ConvProblem *conv = problem.getConv();
    return conv && conv->direction != Direction::BackwardWeights
               ? getTmaCandidates(*conv, target, fill(kTmaRates, fields, rates))
               : std::vector<Candidate>();
  };
  model.format = formatRows("TMA_RATE", fields);
  return model;
}

static Model makeWgmmaWeights(const GpuTarget &target) {
  const std::vector<Field<TmaWeightRates>> fields = {
#define TMA_WEIGHT_RATE(NAME, VALUE, MEANING)                                  \
  {#NAME, MEANING,                                                             \
   [](TmaWeightRates &rates) -> double & { return rates.NAME; }},
#include "compiler/Algorithms/TmaWeightRates.def"
  };
  Model model;
  model.constants = listConstants(kTmaWeightRates, fields);
  model.getCandidates = [fields, &target](const Problem &problem,
                                          const Rates &rates) {
    const ConvProblem *conv = problem.getConv();
    return conv && conv->direction == Direction::BackwardWeights
               ? getTmaWeightCandidates(*conv, target,
                                        fill(kTmaWeightRates, fields, rates))
               : std::vector<Candidate>();
  };
  model.format = formatRows("TMA_WEIGHT_RATE", fields);
  return model;
}

/// As GemmRates.def spells it.
static const char *getUnitName(MatrixUnit unit) {
  switch (unit) {
#define GEMM_RATES(UNIT, ...)                                                  \
  case MatrixUnit::UNIT:                                                       \
    return #UNIT;
#include "compiler/Algorithms/GemmRates.def"
  }
  return "";
}

static Model makeGemm(const GpuTarget &target) {
#define FIELD(NAME)                                                            \
  {                                                                            \
    #NAME, "", [](GemmRates &rates) -> double & { return rates.NAME; }         \
  }
  const std::vector<Field<GemmRates>> fields = {
      FIELD(lds),     FIELD(cache),   FIELD(memory), FIELD(flat),
      FIELD(stepped), FIELD(joining), FIELD(sum)};
#undef FIELD
  Model model;
  model.constants = listConstants(getGemmRates(target), fields);
  model.getCandidates = [fields, &target](const Problem &problem,
                                          const Rates &rates) {
    const ConvProblem *conv = problem.getConv();
    return conv ? getGemmCandidates(*conv, target,
                                    fill(GemmRates(), fields, rates))
                : std::vector<Candidate>();
  };
  model.format = [&target](const Rates &rates) {
    std::string row =
        "GEMM_RATES(" + std::string(getUnitName(target.matrixUnit));
    for (double rate : rates)
      row += ", " + formatNumber(rate);
    return row + ")\n";
  };
  return model;
}

static Model makeGroups(const GpuTarget &target) {
  const std::vector<Field<NarrowRates>> fields = {
#define NARROW_RATE(NAME, VALUE, MEANING)                                      \
  {#NAME, MEANING, [](NarrowRates &rates) -> double & { return rates.NAME; }},
#include "compiler/Algorithms/NarrowRates.def"
  };
  Model model;
  model.constants = listConstants(kNarrowRates, fields);
  model.getCandidates = [fields, &target](const Problem &problem,
                                          const Rates &rates) {
    const ConvProblem *conv = problem.getConv();
    return conv && getNarrowGroups().check(problem, target).isOk()
               ? getNarrowCandidates(*conv, target,
                                     fill(kNarrowRates, fields, rates))
               : std::vector<Candidate>();
  };
  model.format = formatRows("NARROW_RATE", fields);
  return model;
}

static Model makePool(const GpuTarget &target) {
  const std::vector<Field<PoolRates>> fields = {
#define POOL_RATE(NAME, VALUE, MEANING)                                        \
  {#NAME, MEANING, [](PoolRates &rates) -> double & { return rates.NAME; }},
#include "compiler/Algorithms/PoolRates.def"
  };
  Model model;
  model.constants = listConstants(kPoolRates, fields);
  model.getCandidates = [fields, &target](const Problem &problem,
                                          const Rates &rates) {
    std::vector<Candidate> candidates;
    const PoolProblem *pool = problem.getPool();
    if (!pool)
      return candidates;
    const PoolRates filled = fill(kPoolRates, fields, rates);
    candidates = getPoolCandidates(*pool, target, filled);
    if (pool->direction == Direction::Forward)
      std::ranges::move(getPoolSplitCandidates(*pool, target, filled),
                        std::back_inserter(candidates));
    return candidates;
  };
  model.format = formatRows("POOL_RATE", fields);
  return model;
}

//===----------------------------------------------------------------------===//
// By name
//===----------------------------------------------------------------------===//

static constexpr std::pair<const char *, Model (*)(const GpuTarget &)>
    kModels[] = {{"wgmma", makeWgmma},
                 {"wgmma-weights", makeWgmmaWeights},
                 {"gemm", makeGemm},
                 {"groups", makeGroups},
                 {"pool", makePool}};

std::string fit::getModelNames() {
  std::string names;
  for (const auto &[name, make] : kModels)
    names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

ErrorOr<Model> fit::makeModel(const std::string &name,
                              const GpuTarget &target) {
  for (const auto &[known, make] : kModels) {
    if (name != known)
      continue;
    if (name.starts_with("wgmma") && target.wgmmaSharedBytes == 0)
      return invalidArgument("'" + std::string(target.name) +
                             "' is no chip with wgmma; sm_90 is");
    Model model = make(target);
    model.name = name;
    return model;
  }
  return invalidArgument("there is no model '" + name +
                         "', but there are: " + getModelNames());
}
