//===- RowWiseProblemText.cpp - A row problem's network config ------------===//

#include "runtime/Base/ProblemText.h"
#include "runtime/Base/RowWiseKind.h"

using namespace tessera;

static constexpr RowWiseKind kOps[] = {
#define TESSERA_ROW_OP(name, text) RowWiseKind::name,
#include "runtime/Base/RowWiseKind.def"
};
static constexpr RowRole kRoles[] = {RowRole::Input, RowRole::RowOutput,
                                     RowRole::Output};

std::string_view tessera::getName(RowWiseKind op) {
  switch (op) {
#define TESSERA_ROW_OP(name, text)                                             \
  case RowWiseKind::name:                                                      \
    return text;
#include "runtime/Base/RowWiseKind.def"
  }
  __builtin_unreachable();
}

std::string_view tessera::getName(RowRole role) {
  switch (role) {
  case RowRole::Input:
    return "i";
  case RowRole::RowOutput:
    return "r";
  case RowRole::Output:
    return "o";
  }
  __builtin_unreachable();
}

std::string RowWiseProblem::toNetworkConfig() const {
  std::string text = "rowwise-";
  text += getName(op);
  text += "-m" + std::to_string(mode);
  for (int dim = 0; dim < rank; ++dim)
    text += (dim == 0 ? "-" : "x") + toSizeText(lengths[dim]);
  text += "-r";
  const char *comma = "";
  for (int dim = 0; dim < rank; ++dim)
    if (isReduced(dim)) {
      text += comma + std::to_string(dim);
      comma = ",";
    }
  for (const RowTensor &tensor : getTensors()) {
    text += "-";
    text += getName(tensor.role);
    text += ":";
    text += getName(tensor.type);
    for (int dim = 0; dim < rank; ++dim)
      text += ":" + std::to_string(tensor.strides[dim]);
  }
  return text;
}

static void scanSpace(TextScanner &scanner, RowWiseProblem &p) {
  scanSize(scanner, p.lengths[0]);
  for (p.rank = 1; p.rank < kMaxRowRank && scanner.consume("x"); ++p.rank)
    scanSize(scanner, p.lengths[p.rank]);
  scanner.expect("-r");
  for (int dim = 0; dim < p.rank; ++dim)
    if (scanner.consume((p.reduced ? "," : "") + std::to_string(dim)))
      p.reduced |= 1u << dim;
}

RowWiseProblem tessera::scanRowWiseProblem(TextScanner &scanner) {
  RowWiseProblem p;
  scanName(scanner, kOps, p.op);
  scanner.expect("-m").number(p.mode).expect("-");
  scanSpace(scanner, p);
  while (p.tensorCount < kMaxTensors && scanner.consume("-")) {
    RowTensor &tensor = p.tensors[p.tensorCount++];
    scanName(scanner, kRoles, tensor.role, ":");
    scanName(scanner.expect(":"), kDataTypes, tensor.type, ":");
    for (int dim = 0; dim < p.rank; ++dim)
      scanner.expect(":").number(tensor.strides[dim]);
  }
  return p;
}
