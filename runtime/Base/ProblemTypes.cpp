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

int64_t tessera::getByteSize(DataType type) {
  switch (type) {
  case DataType::I8:
    return 1;
  case DataType::F16:
  case DataType::BF16:
    return 2;
  case DataType::F32:
  case DataType::I32:
    return 4;
  case DataType::F64:
  case DataType::I64:
    return 8;
  }
  __builtin_unreachable();
}

std::string_view tessera::getName(DataType type) {
  switch (type) {
  case DataType::F16:
    return "f16";
  case DataType::BF16:
    return "bf16";
  case DataType::F32:
    return "f32";
  case DataType::F64:
    return "f64";
  case DataType::I8:
    return "i8";
  case DataType::I32:
    return "i32";
  case DataType::I64:
    return "i64";
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
