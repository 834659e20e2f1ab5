//===- PoolProblemText.cpp - A pooling's network config -------------------===//

#include "runtime/Base/ProblemText.h"

using namespace tessera;

static constexpr PoolMode kModes[] = {PoolMode::Max, PoolMode::Average,
                                      PoolMode::AverageInclusive,
                                      PoolMode::MaxNan};

std::string_view tessera::getName(PoolMode mode) {
  switch (mode) {
  case PoolMode::Max:
    return "max";
  case PoolMode::Average:
    return "avg";
  case PoolMode::AverageInclusive:
    return "avgin";
  case PoolMode::MaxNan:
    return "maxnan";
  }
  __builtin_unreachable();
}

std::string_view tessera::getName(IndexType type) {
  switch (type) {
  case IndexType::None:
    return "none";
  case IndexType::U8:
    return "u8";
  case IndexType::U16:
    return "u16";
  case IndexType::U32:
    return "u32";
  case IndexType::U64:
    return "u64";
  }
  __builtin_unreachable();
}

std::string_view tessera::getName(IndexMode mode) {
  return mode == IndexMode::Mask ? "mask" : "image";
}

std::string PoolProblem::toNetworkConfig() const {
  bool deep = hasDepth();
  auto depth = [&](const char *name, int64_t value) {
    return deep ? name + toSizeText(value) : std::string();
  };
  std::string text = "pool-";
  text += getName(direction);
  text += "-";
  text += getName(mode);
  text += "-";
  text += getName(dataType);
  text += "-" + toText(xLayout, xStrides, deep);
  text += "," + toText(yLayout, yStrides, deep);
  text += "-n" + toSizeText(batch) + "c" + std::to_string(channels);
  text += depth("d", in.d);
  text += "h" + toSizeText(in.h) + "w" + toSizeText(in.w);
  text += "-" + depth("z", window.d);
  text += "y" + std::to_string(window.h) + "x" + std::to_string(window.w);
  text += "-p" + toPadText(pad, extraPad, deep) + "-s" + toText(stride, deep);
  text += "-i";
  text += getName(indexType);
  if (indexType != IndexType::None)
    text += getName(indexMode);
  return text;
}

static void scanIndices(TextScanner &scanner, PoolProblem &p) {
  if (scanner.consume("none"))
    return;
  for (IndexType type :
       {IndexType::U8, IndexType::U16, IndexType::U32, IndexType::U64})
    if (scanner.consume(getName(type))) {
      p.indexType = type;
      break;
    }
  static constexpr IndexMode kIndexModes[] = {IndexMode::Mask,
                                              IndexMode::Image};
  scanName(scanner, kIndexModes, p.indexMode);
}

PoolProblem tessera::scanPoolProblem(TextScanner &scanner, bool hasDepth) {
  PoolProblem p;
  scanName(scanner, kDirections, p.direction);
  scanName(scanner.expect("-"), kModes, p.mode);
  scanName(scanner.expect("-"), kDataTypes, p.dataType);
  scanLayout(scanner.expect("-"), hasDepth, p.xLayout, p.xStrides);
  scanLayout(scanner.expect(","), hasDepth, p.yLayout, p.yStrides);
  scanSize(scanner.expect("-n"), p.batch);
  scanner.expect("c").number(p.channels);
  if (hasDepth)
    scanSize(scanner.expect("d"), p.in.d);
  scanSize(scanner.expect("h"), p.in.h);
  scanSize(scanner.expect("w"), p.in.w);
  scanner.expect("-");
  if (hasDepth)
    scanner.expect("z").number(p.window.d);
  scanner.expect("y").number(p.window.h).expect("x").number(p.window.w);
  scanPads(scanner.expect("-p"), hasDepth, p.pad, p.extraPad);
  scanLengths(scanner.expect("-s"), hasDepth, p.stride);
  scanIndices(scanner.expect("-i"), p);
  return p;
}
