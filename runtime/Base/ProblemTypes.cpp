//===- ProblemTypes.cpp - Layouts and types -------------------------------===//

#include "runtime/Base/ProblemTypes.h"

using namespace tessera;

Strides tessera::getPackedStrides(Layout layout, const TensorLengths &t) {
  if (layout == Layout::NHWC)
    return {t.d * t.h * t.w * t.c, 1, t.h * t.w * t.c, t.w * t.c, t.c};
  return {t.c * t.d * t.h * t.w, t.d * t.h * t.w, t.h * t.w, t.w, 1};
}

int64_t tessera::getSpan(const Strides &strides, const TensorLengths &t) {
  return 1 + (t.n - 1) * strides.n + (t.c - 1) * strides.c +
         (t.d - 1) * strides.d + (t.h - 1) * strides.h + (t.w - 1) * strides.w;
}

Layout tessera::canonicalizeLayout(Strides &strides, const TensorLengths &t) {
  // A tensor with one element uses no stride.
  auto mask = [&](Strides s) {
    return Strides{t.n == 1 ? 1 : s.n, t.c == 1 ? 1 : s.c, t.d == 1 ? 1 : s.d,
                   t.h == 1 ? 1 : s.h, t.w == 1 ? 1 : s.w};
  };
  strides = mask(strides);
  for (Layout layout : {Layout::NCHW, Layout::NHWC})
    if (strides == mask(getPackedStrides(layout, t))) {
      strides = {};
      return layout;
    }
  return Layout::Strided;
}

std::string_view tessera::getName(DataType type) {
  switch (type) {
#define DATA_TYPE(NAME, TEXT, ...)                                             \
  case DataType::NAME:                                                         \
    return TEXT;
#include "runtime/Base/DataTypes.def"
  }
  __builtin_unreachable();
}

std::string_view tessera::getDriverWord(DataType type) {
  switch (type) {
#define DATA_TYPE(NAME, TEXT, BYTES, DRIVER, ...)                              \
  case DataType::NAME:                                                         \
    return DRIVER;
#include "runtime/Base/DataTypes.def"
  }
  __builtin_unreachable();
}

std::string_view tessera::getName(Layout layout) {
  switch (layout) {
  case Layout::NCHW:
    return "nchw";
  case Layout::NHWC:
    return "nhwc";
  case Layout::Strided:
    return "strided";
  }
  __builtin_unreachable();
}

std::string_view tessera::getName(Direction direction) {
  switch (direction) {
  case Direction::Forward:
    return "fwd";
  case Direction::BackwardData:
    return "bwd";
  case Direction::BackwardWeights:
    return "wrw";
  }
  __builtin_unreachable();
}
