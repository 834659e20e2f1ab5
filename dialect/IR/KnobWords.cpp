//===- KnobWords.cpp - Knobs of a plan as words in an op ------------------===//

#include "dialect/IR/KnobWords.h"

using namespace mlir;
using namespace tessera::dnn;

ParseResult tessera::dnn::parseKnobWords(OpAsmParser &parser,
                                         DenseI64ArrayAttr &attr) {
  PlanKnobs knobs;
  auto parseOne = [&]() -> ParseResult {
    const SMLoc loc = parser.getCurrentLocation();
    StringRef name;
    if (parser.parseKeyword(&name))
      return failure();
    const std::optional<Knob> knob = findKnob(name);
    if (!knob)
      return parser.emitError(loc)
             << "no knob of a plan is called '" << name << "'";
    const KnobRow &row = getKnobRow(*knob);
    std::string text;
    if (row.words.empty()) {
      int64_t number = 0;
      if (parser.parseInteger(number))
        return failure();
      text = std::to_string(number);
    } else if (parser.parseKeywordOrString(&text)) {
      return failure();
    }
    const std::optional<int64_t> value = row.parse(text);
    if (!value)
      return parser.emitError(loc)
             << "knob '" << name << "' takes " << row.describeValues();
    if (knobs.get(*knob))
      return parser.emitError(loc) << "knob '" << name << "' comes twice";
    knobs.set(*knob, *value);
    return success();
  };
  if (parser.parseCommaSeparatedList(parseOne))
    return failure();
  attr = parser.getBuilder().getDenseI64ArrayAttr(knobs.getValues());
  return success();
}

void tessera::dnn::printKnobWords(OpAsmPrinter &printer, Operation *,
                                  DenseI64ArrayAttr attr) {
  const PlanKnobs knobs(attr.asArrayRef());
  bool isFirst = true;
  for (unsigned index = 0; index < kKnobs; ++index) {
    const auto knob = static_cast<Knob>(index);
    const std::optional<int64_t> value = knobs.get(knob);
    if (!value)
      continue;
    const KnobRow &row = getKnobRow(knob);
    printer << (isFirst ? "" : ", ") << row.text << " " << row.print(*value);
    isFirst = false;
  }
}

LogicalResult
tessera::dnn::verifyKnobs(ArrayRef<int64_t> values, KnobTakers takers,
                          llvm::function_ref<InFlightDiagnostic()> emitError) {
  if (values.size() != kKnobs || PlanKnobs(values).isEmpty())
    return emitError() << "needs a value for one of " << kKnobs << " knobs";
  for (auto [index, value] : llvm::enumerate(values)) {
    const KnobRow &row = getKnobRow(static_cast<Knob>(index));
    if (value == PlanKnobs::kOwn)
      continue;
    if (!row.holds(value))
      return emitError() << "has " << value << " for knob '" << row.text
                         << "', which takes " << row.describeValues();
    if (!row.isOf(takers))
      return emitError() << "has knob '" << row.text
                         << "', which is of another way to copy";
  }
  return success();
}
