//===- PlanKnobs.cpp - Decisions of a kernel's plan, as numbers -----------===//

#include "dialect/IR/PlanKnobs.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tessera::dnn;

static const KnobRow kRows[] = {
#define TESSERA_KNOB(Name, text, takers, least, most, unit, words, what)       \
  {text, KnobTakers::takers, least, most, unit, words, what},
#include "dialect/IR/PlanKnobs.def"
};

const KnobRow &tessera::dnn::getKnobRow(Knob knob) {
  return kRows[static_cast<unsigned>(knob)];
}

std::optional<Knob> tessera::dnn::findKnob(StringRef text) {
  for (auto [index, row] : llvm::enumerate(kRows))
    if (row.text == text)
      return static_cast<Knob>(index);
  return std::nullopt;
}

static SmallVector<StringRef> getWords(const KnobRow &row) {
  SmallVector<StringRef> words;
  StringRef(row.words).split(words, ' ', -1, /*KeepEmpty=*/false);
  return words;
}

bool KnobRow::holds(int64_t value) const {
  return value >= least && value <= most && (value - least) % unit == 0;
}

std::string KnobRow::print(int64_t value) const {
  if (!holds(value))
    return "";
  return words.empty() ? std::to_string(value) : getWords(*this)[value].str();
}

std::optional<int64_t> KnobRow::parse(StringRef text) const {
  for (int64_t value = least; value <= most; value += unit)
    if (print(value) == text)
      return value;
  return std::nullopt;
}

std::string KnobRow::describeValues() const {
  if (!words.empty())
    return llvm::join(getWords(*this), " or ");
  return std::to_string(least) + " to " + std::to_string(most) +
         (unit > 1 ? " in steps of " + std::to_string(unit) : "");
}

PlanKnobs::PlanKnobs(std::optional<ArrayRef<int64_t>> attribute) : PlanKnobs() {
  if (attribute)
    llvm::copy(attribute->take_front(kKnobs), values.begin());
}

std::optional<int64_t> PlanKnobs::get(Knob knob) const {
  const int64_t value = values[static_cast<unsigned>(knob)];
  return value == kOwn ? std::nullopt : std::optional(value);
}

bool PlanKnobs::isEmpty() const {
  return llvm::all_of(values, [](int64_t value) { return value == kOwn; });
}

std::string PlanKnobs::toText() const {
  std::string text;
  for (auto [row, value] : llvm::zip_equal(kRows, values))
    if (value != kOwn)
      text += "+" + row.text.str() + row.print(value);
  return text;
}

std::pair<StringRef, StringRef> tessera::dnn::splitKnobs(StringRef tile) {
  const size_t plus = tile.find('+');
  return {tile.take_front(plus), tile.substr(std::min(plus, tile.size()))};
}

FailureOr<PlanKnobs> tessera::dnn::parsePlanKnobs(
    StringRef text, llvm::function_ref<InFlightDiagnostic()> emitError) {
  PlanKnobs knobs;
  unsigned next = 0;
  while (!text.empty()) {
    if (!text.consume_front("+"))
      return emitError() << "'" << text << "' is no knob, which begins with +";
    const StringRef item = text.take_front(text.find('+'));
    text = text.substr(item.size());
    auto *row = llvm::find_if(
        kRows, [&](const KnobRow &row) { return item.starts_with(row.text); });
    if (row == std::end(kRows))
      return emitError() << "no knob of a plan is called '" << item << "'";
    const auto value = row->parse(item.substr(row->text.size()));
    if (!value)
      return emitError() << "'" << item << "' is no value of knob '"
                         << row->text << "', which takes "
                         << row->describeValues();
    const auto index = static_cast<unsigned>(row - kRows);
    if (index < next)
      return emitError() << "knob '" << row->text
                         << "' comes too late: each comes once, in the order "
                            "of the table";
    next = index + 1;
    knobs.set(static_cast<Knob>(index), *value);
  }
  return knobs;
}

std::vector<PlanKnobs> tessera::dnn::getNeighbours(const PlanKnobs &plan,
                                                   const PlanKnobs &knobs) {
  std::vector<PlanKnobs> neighbours;
  for (auto [index, row] : llvm::enumerate(kRows)) {
    const auto knob = static_cast<Knob>(index);
    const std::optional<int64_t> own = plan.get(knob);
    // Which way tiles are walked is the launch's business, not the tuner's.
    if (!own || knob == Knob::Walk)
      continue;
    for (int64_t value = row.least; value <= row.most; value += row.unit) {
      const bool isNext = value == *own - row.unit || value == *own + row.unit;
      if (value == *own || (row.words.empty() && !isNext))
        continue;
      PlanKnobs neighbour = knobs;
      neighbour.set(knob, value);
      neighbours.push_back(neighbour);
    }
  }
  return neighbours;
}
