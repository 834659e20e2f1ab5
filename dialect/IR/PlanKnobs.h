//===- PlanKnobs.h - Decisions of a kernel's plan, as numbers --*- C++ -*--===//
//
// What the lowering decides for a pipeline by itself, and a tile's text or a
// dnn.pipeline may decide instead. One table has them all; the text of a tile,
// the attribute of the pipeline, its verifier, the plans and the tuner read it.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_DIALECT_IR_PLANKNOBS_H
#define TESSERA_DIALECT_IR_PLANKNOBS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace tessera::dnn {

enum class Knob : unsigned {
#define TESSERA_KNOB(Name, text, takers, least, most, unit, words, what) Name,
#include "dialect/IR/PlanKnobs.def"
};

inline constexpr unsigned kKnobs = 0
#define TESSERA_KNOB(Name, text, takers, least, most, unit, words, what) +1
#include "dialect/IR/PlanKnobs.def"
    ;

/// Which pipelines a knob is of: those that TMA copies for, and those whose
/// waves all copy.
enum class KnobTakers : unsigned { None = 0, Tma = 1, Waves = 2, Both = 3 };

/// A row of the table.
struct KnobRow {
  llvm::StringLiteral text;
  KnobTakers takers;
  int64_t least, most, unit;
  /// Names of its values, one behind the other; empty: values are numbers.
  llvm::StringLiteral words;
  llvm::StringLiteral what; ///< It decides.

  bool isOf(KnobTakers pipeline) const {
    return (static_cast<unsigned>(takers) & static_cast<unsigned>(pipeline)) !=
           0;
  }
  bool holds(int64_t value) const;
  /// A value as texts have it, or the empty text if `value` is none.
  std::string print(int64_t value) const;
  /// The value of a text; none if it is no value.
  std::optional<int64_t> parse(llvm::StringRef text) const;
  /// "1 to 4", "24 to 256 in steps of 8", "n or m".
  std::string describeValues() const;
};

const KnobRow &getKnobRow(Knob knob);
/// The knob of a name; none if there is none.
std::optional<Knob> findKnob(llvm::StringRef text);

/// Values of knobs. Those without a value are the plan's own business.
class PlanKnobs {
public:
  /// In the attribute, and here, what the plan decides.
  static constexpr int64_t kOwn = -1;

  PlanKnobs() { values.fill(kOwn); }
  /// The values of the attribute of a pipeline, which may lack.
  explicit PlanKnobs(std::optional<llvm::ArrayRef<int64_t>> attribute);

  std::optional<int64_t> get(Knob knob) const;
  void set(Knob knob, int64_t value) {
    values[static_cast<unsigned>(knob)] = value;
  }
  bool isEmpty() const;
  llvm::ArrayRef<int64_t> getValues() const { return values; }

  /// What follows the text of a tile: "+staging1+orderm".
  std::string toText() const;

  friend bool operator==(const PlanKnobs &, const PlanKnobs &) = default;

private:
  std::array<int64_t, kKnobs> values;
};

/// Splits the text of a tile, or of its parameters, from that of its knobs,
/// which begins with the first plus.
std::pair<llvm::StringRef, llvm::StringRef> splitKnobs(llvm::StringRef tile);

/// Reads what PlanKnobs::toText() writes: each knob once, in the order of the
/// table, so that a plan has one text. Fails after an error.
llvm::FailureOr<PlanKnobs>
parsePlanKnobs(llvm::StringRef text,
               llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// A tile's values for `knobs` that are one step from those of `plan`, which
/// has all of its pipeline: for each knob the next numbers below and above it,
/// or all other words. Knob::Walk is left alone.
std::vector<PlanKnobs> getNeighbours(const PlanKnobs &plan,
                                     const PlanKnobs &knobs);

} // namespace tessera::dnn

#endif // TESSERA_DIALECT_IR_PLANKNOBS_H
