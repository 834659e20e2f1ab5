//===- GeneralConv.h - The convolution for any problem ---------*- C++ -*--===//

#ifndef TESSERA_COMPILER_ALGORITHMS_GENERAL_GENERALCONV_H
#define TESSERA_COMPILER_ALGORITHMS_GENERAL_GENERALCONV_H

#include "compiler/Algorithms/Algorithm.h"
#include "compiler/Algorithms/Common/ConvProgram.h"
#include "runtime/Base/ErrorOr.h"
#include "runtime/Base/TileConfig.h"

namespace tessera {

/// The tile of the general convolution, "general-b4r1t256s1". Plain data.
struct GeneralTile {
  /// Neighbouring channels of the result, or input channels of the filter,
  /// that a thread owns.
  int64_t block = 1;
  int64_t rows = 1;      ///< Backward weights: output channels of a thread.
  int64_t threads = 256; ///< Threads of a workgroup.
  int64_t splits = 1;    ///< Backward weights: splits of the reduction.

  TileConfig toConfig() const;
};

/// Reads what GeneralTile::toConfig() writes.
ErrorOr<GeneralTile> parseGeneralTile(const TileConfig &config);

/// Replace the convolution by its program.
void buildGeneralData(const ConvProgram &program, const GeneralTile &tile);
void buildGeneralWeights(const ConvProgram &program, const GeneralTile &tile);

/// The constants of the cost model; GeneralRates.def describes each.
struct GeneralRates {
#define GENERAL_RATE(NAME, VALUE, MEANING) double NAME = VALUE;
#include "compiler/Algorithms/General/GeneralRates.def"
};
inline constexpr GeneralRates kGeneralRates;

/// The candidates of a problem that "general" takes, in an order that does not
/// depend on the rates.
std::vector<Candidate>
getGeneralCandidates(const ConvProblem &problem, const GpuTarget &target,
                     const GeneralRates &rates = kGeneralRates);

} // namespace tessera

#endif // TESSERA_COMPILER_ALGORITHMS_GENERAL_GENERALCONV_H
