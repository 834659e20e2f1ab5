//===- Models.cpp - The cost models whose constants are fitted ------------===//

#include "tools/dnn-fit/Models.h"

#include "compiler/Algorithms/ChooseTile.h"
#include "compiler/Algorithms/Depthwise/Depthwise.h"
#include "compiler/Algorithms/General/GeneralConv.h"
#include "compiler/Algorithms/ImplicitGemm/GemmCost.h"
#include "compiler/Algorithms/NarrowGroups/NarrowGroups.h"
#include "compiler/Algorithms/Packed/Packed.h"
#include "compiler/Algorithms/Pooling/PoolModel.h"
#include "compiler/Algorithms/Registry.h"
#include "compiler/Algorithms/RowWise/RowWiseModel.h"
#include "compiler/Algorithms/Stem/Stem.h"
#include "compiler/Algorithms/Tma/TmaTiles.h"
#include "compiler/Algorithms/Tma/TmaWeightTiles.h"
#include "compiler/Algorithms/Toeplitz/Toeplitz.h"

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
/// A member of `Struct` that is a constant of the model.
template <typename Struct>
struct Field {
  const char *name;
  const char *meaning;
  double &(*get)(Struct &);
};
} // namespace

/// Returns `base` with the numbers of `rates`.
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

/// Prints rows of a file with one constant each.
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

/// What a multiprocessor of an H100 multiplies and adds per clock, and its
/// share of 3.35 TB/s at 1.755 GHz. They are limits, because a fit of ranks
/// would exceed them.
static constexpr double kMostProducts = 2048, kMostMemoryBytes = 14.5;

static void limit(Model &model, const std::string &prefix) {
  for (Constant &constant : model.constants) {
    if (constant.name == prefix + "products")
      constant.most = kMostProducts;
    if (constant.name == prefix + "memoryBytes")
      constant.most = kMostMemoryBytes;
  }
}

/// The model for tf32, or for types of 16 bits.
static Model makeWgmmaOf(bool isTf32, const GpuTarget &target) {
  const std::vector<Field<TmaRates>> fields = {
#define TMA_RATE(NAME, VALUE, MEANING)                                         \
  {#NAME, MEANING, [](TmaRates &rates) -> double & { return rates.NAME; }},
#include "compiler/Algorithms/Tma/TmaRates.def"
  };
  const TmaRates &own = isTf32 ? kTmaTf32Rates : kTmaRates;
  Model model;
  model.constants = listConstants(own, fields);
  limit(model, "");
  model.getCandidates = [fields, isTf32, &own, &target](const Problem &problem,
                                                        const Rates &rates) {
    const ConvProblem *conv = problem.getConv();
    return conv && conv->direction != Direction::BackwardWeights &&
                   conv->allowsTf32() == isTf32
               ? getTmaCandidates(*conv, target, fill(own, fields, rates))
               : std::vector<Candidate>();
  };
  model.format = formatRows("TMA_RATE", fields);
  return model;
}

static Model makeWgmma(const GpuTarget &target) {
  return makeWgmmaOf(/*isTf32=*/false, target);
}

static Model makeWgmmaTf32(const GpuTarget &target) {
  return makeWgmmaOf(/*isTf32=*/true, target);
}

static Model makeWgmmaWeights(const GpuTarget &target) {
  const std::vector<Field<TmaWeightRates>> fields = {
#define TMA_WEIGHT_RATE(NAME, VALUE, MEANING)                                  \
  {#NAME, MEANING,                                                             \
   [](TmaWeightRates &rates) -> double & { return rates.NAME; }},
#include "compiler/Algorithms/Tma/TmaWeightRates.def"
  };
  Model model;
  model.constants = listConstants(kTmaWeightRates, fields);
  limit(model, "step.");
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

/// The spelling of GemmRates.def.
static const char *getUnitName(MatrixUnit unit) {
  switch (unit) {
#define GEMM_RATES(UNIT, ...)                                                  \
  case MatrixUnit::UNIT:                                                       \
    return #UNIT;
#include "compiler/Algorithms/ImplicitGemm/GemmRates.def"
  }
  return "";
}

/// The model of tiles through LDS: alone, or of all tiles that a call chooses
/// from, of which some are such tiles between other launches.
static Model makeGemmOf(bool isAlone, const GpuTarget &target) {
#define FIELD(NAME)                                                            \
  {                                                                            \
    #NAME, "", [](GemmRates &rates) -> double & { return rates.NAME; }         \
  }
  std::vector<Field<GemmRates>> fields = {
      FIELD(lds),     FIELD(cache),   FIELD(memory), FIELD(flat),
      FIELD(stepped), FIELD(joining), FIELD(sum)};
  if (getGemmRates(target).wait > 0)
    fields.insert(fields.end(), {FIELD(far), FIELD(store), FIELD(wait),
                                 FIELD(slow), FIELD(blend), FIELD(weights)});
#undef FIELD
  Model model;
  model.constants = listConstants(getGemmRates(target), fields);
  model.getCandidates = [=, &target](const Problem &problem,
                                     const Rates &rates) {
    const ConvProblem *conv = problem.getConv();
    if (!conv)
      return std::vector<Candidate>();
    const GemmRates filled = fill(GemmRates(), fields, rates);
    if (isAlone)
      return getGemmCandidates(*conv, target, filled);
    const GemmRatesScope scope(filled);
    ErrorOr<std::vector<Candidate>> ranked = rankTiles(problem, target);
    if (!ranked)
      return std::vector<Candidate>();
    std::ranges::sort(*ranked, {}, [](const Candidate &candidate) {
      return candidate.tile.toText();
    });
    return std::move(*ranked);
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

static Model makeGemm(const GpuTarget &target) {
  return makeGemmOf(/*isAlone=*/true, target);
}

static Model makeGemmAll(const GpuTarget &target) {
  return makeGemmOf(/*isAlone=*/false, target);
}

/// The model of an algorithm that has a table of its own.
template <typename Struct>
static Model makeOwn(const Algorithm &algorithm, const Struct &values,
                     const std::vector<Field<Struct>> &fields,
                     std::vector<Candidate> (*list)(const ConvProblem &,
                                                    const GpuTarget &,
                                                    const Struct &),
                     const GpuTarget &target) {
  Model model;
  model.constants = listConstants(values, fields);
  model.getCandidates = [&algorithm, values, fields, list,
                         &target](const Problem &problem, const Rates &rates) {
    return problem.getConv() && algorithm.check(problem, target).isOk()
               ? list(*problem.getConv(), target, fill(values, fields, rates))
               : std::vector<Candidate>();
  };
  return model;
}

/// A model of two algorithms whose tiles are ranked together.
static Model join(const Model &first, const Model &second) {
  const auto split = [count = first.constants.size()](const Rates &rates) {
    const auto middle = rates.begin() + static_cast<ptrdiff_t>(count);
    return std::pair(Rates(rates.begin(), middle), Rates(middle, rates.end()));
  };
  Model model;
  model.constants = first.constants;
  std::ranges::copy(second.constants, std::back_inserter(model.constants));
  model.getCandidates = [=](const Problem &problem, const Rates &rates) {
    const auto [left, right] = split(rates);
    std::vector<Candidate> candidates = first.getCandidates(problem, left);
    std::ranges::move(second.getCandidates(problem, right),
                      std::back_inserter(candidates));
    return candidates;
  };
  model.format = [=](const Rates &rates) {
    const auto [left, right] = split(rates);
    return first.format(left) + second.format(right);
  };
  return model;
}

static Model makeGroups(const GpuTarget &target) {
  const std::vector<Field<NarrowRates>> fields = {
#define NARROW_RATE(NAME, VALUE, MEANING)                                      \
  {#NAME, MEANING, [](NarrowRates &rates) -> double & { return rates.NAME; }},
#include "compiler/Algorithms/NarrowGroups/NarrowRates.def"
  };
  Model model = makeOwn(getNarrowGroups(), kNarrowRates, fields,
                        getNarrowCandidates, target);
  model.format = formatRows("NARROW_RATE", fields);
  return model;
}

/// The model of stems, and of packing, which covers the same problems.
static Model makeStem(const GpuTarget &target) {
  const std::vector<Field<StemRates>> stemFields = {
#define STEM_RATE(NAME, VALUE, MEANING)                                        \
  {#NAME, MEANING, [](StemRates &rates) -> double & { return rates.NAME; }},
#include "compiler/Algorithms/Stem/StemRates.def"
  };
  const std::vector<Field<PackRates>> packFields = {
#define PACK_RATE(NAME, VALUE, MEANING)                                        \
  {#NAME, MEANING, [](PackRates &rates) -> double & { return rates.NAME; }},
#include "compiler/Algorithms/Packed/PackRates.def"
  };
  Model stem =
      makeOwn(getStem(), kStemRates, stemFields, getStemCandidates, target);
  stem.format = formatRows("STEM_RATE", stemFields);
  Model packed =
      makeOwn(getPacked(), kPackRates, packFields, getPackedCandidates, target);
  packed.format = formatRows("PACK_RATE", packFields);
  return join(stem, packed);
}

static Model makeDepthwise(const GpuTarget &target) {
  const std::vector<Field<DepthwiseRates>> fields = {
      {"memoryBytes", "",
       [](DepthwiseRates &rates) -> double & { return rates.memoryBytes; }},
      {"products", "",
       [](DepthwiseRates &rates) -> double & { return rates.products; }},
      {"dataProducts", "",
       [](DepthwiseRates &rates) -> double & { return rates.dataProducts; }}};
  Model model = makeOwn(getDepthwise(), getDepthwiseRates(target), fields,
                        getDepthwiseCandidates, target);
  model.format = [isAmd = target.vendor == Vendor::Amd](const Rates &rates) {
    return std::string("DEPTHWISE_RATES(") + (isAmd ? "Amd" : "Nvidia") + ", " +
           formatNumber(rates[0]) + ", " + formatNumber(rates[1]) + ", " +
           formatNumber(rates[2]) + ")\n";
  };
  return model;
}

/// The model of algorithms with one tile a problem: it decides which algorithm
/// is best.
static Model makeSingle(const GpuTarget &target) {
  const std::vector<Field<ToeplitzRates>> toeplitzFields = {
#define TOEPLITZ_RATE(NAME, VALUE, MEANING)                                    \
  {#NAME, MEANING, [](ToeplitzRates &rates) -> double & { return rates.NAME; }},
#include "compiler/Algorithms/Toeplitz/ToeplitzRates.def"
  };
  const std::vector<Field<GeneralRates>> generalFields = {
#define GENERAL_RATE(NAME, VALUE, MEANING)                                     \
  {#NAME, MEANING, [](GeneralRates &rates) -> double & { return rates.NAME; }},
#include "compiler/Algorithms/General/GeneralRates.def"
  };
  Model toeplitz = makeOwn(getToeplitz(), kToeplitzRates, toeplitzFields,
                           getToeplitzCandidates, target);
  toeplitz.format = formatRows("TOEPLITZ_RATE", toeplitzFields);
  Model general = makeOwn(getGeneralConv(), kGeneralRates, generalFields,
                          getGeneralCandidates, target);
  general.format = formatRows("GENERAL_RATE", generalFields);
  return join(makeDepthwise(target), join(toeplitz, general));
}

static Model makePool(const GpuTarget &target) {
  const std::vector<Field<PoolRates>> fields = {
#define POOL_RATE(NAME, VALUE, MEANING)                                        \
  {#NAME, MEANING, [](PoolRates &rates) -> double & { return rates.NAME; }},
#include "compiler/Algorithms/Pooling/PoolRates.def"
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

/// One column of the table; the other vendor's column is kept.
static Model makeRows(const GpuTarget &target) {
  const std::vector<Field<RowWiseRates>> fields = {
#define ROW_WISE_RATE(NAME, AMD, NVIDIA, MEANING)                              \
  {#NAME, MEANING, [](RowWiseRates &rates) -> double & { return rates.NAME; }},
#include "compiler/Algorithms/RowWise/RowWiseRates.def"
  };
  Model model;
  model.constants = listConstants(getRowWiseRates(target), fields);
  model.getCandidates = [fields, &target](const Problem &problem,
                                          const Rates &rates) {
    std::vector<Candidate> candidates;
    const RowWiseRates filled = fill(RowWiseRates(), fields, rates);
    for (auto [algorithm, list] :
         {std::pair(&getRowWiseMap(), &getMapCandidates),
          std::pair(&getRows(), &getRowWiseCandidates),
          std::pair(&getRowWiseSplit(), &getRowSplitCandidates)})
      if (algorithm->check(problem, target).isOk())
        std::ranges::move(list(problem, target, filled),
                          std::back_inserter(candidates));
    return candidates;
  };
  model.format = [isAmd = target.vendor == Vendor::Amd](const Rates &rates) {
    std::string rows;
    auto rate = rates.begin();
#define ROW_WISE_RATE(NAME, AMD, NVIDIA, MEANING)                              \
  rows += "ROW_WISE_RATE(" #NAME ", " + (isAmd ? formatNumber(*rate) : #AMD) + \
          ", " + (isAmd ? #NVIDIA : formatNumber(*rate)) +                     \
          ", \"" MEANING "\")\n";                                              \
  ++rate;
#include "compiler/Algorithms/RowWise/RowWiseRates.def"
    return rows;
  };
  return model;
}

/// What a call gets: the tiles of all algorithms as they are ranked, which has
/// no constants of its own.
static Model makeAll(const GpuTarget &target) {
  Model model;
  model.getCandidates = [&target](const Problem &problem, const Rates &) {
    ErrorOr<std::vector<Candidate>> ranked = rankTiles(problem, target);
    return ranked ? std::move(*ranked) : std::vector<Candidate>();
  };
  return model;
}

//===----------------------------------------------------------------------===//
// By name
//===----------------------------------------------------------------------===//

static constexpr std::pair<const char *, Model (*)(const GpuTarget &)>
    kModels[] = {{"wgmma", makeWgmma},
                 {"wgmma-tf32", makeWgmmaTf32},
                 {"wgmma-weights", makeWgmmaWeights},
                 {"gemm", makeGemm},
                 {"gemm-all", makeGemmAll},
                 {"groups", makeGroups},
                 {"stem", makeStem},
                 {"single", makeSingle},
                 {"pool", makePool},
                 {"rowwise", makeRows},
                 {"all", makeAll}};

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
    if (name.starts_with("wgmma") && !target.hasWgmma)
      return invalidArgument("'" + std::string(target.name) +
                             "' is no chip with wgmma; sm_90 is");
    Model model = make(target);
    model.name = name;
    return model;
  }
  return invalidArgument("there is no model '" + name +
                         "', but there are: " + getModelNames());
}
