//===- Draw.cpp - Random choices that a seed repeats ----------------------===//

#include "test/unit/execute/Draw.h"

#include <algorithm>
#include <array>

using namespace tessera;

Strides tessera::drawStrides(Draw &draw, Layout layout,
                             const TensorLengths &t) {
  Strides strides;
  struct Dim {
    int64_t Strides::*stride;
    int64_t length;
  };
  std::array<Dim, 5> dims{Dim{&Strides::w, t.w}, Dim{&Strides::h, t.h},
                          Dim{&Strides::d, t.d}, Dim{&Strides::c, t.c},
                          Dim{&Strides::n, t.n}};
  if (layout == Layout::NHWC)
    std::rotate(dims.begin(), dims.begin() + 3, dims.begin() + 4);
  if (draw.chance(30))
    for (size_t i = dims.size() - 1; i > 0; --i)
      std::swap(dims[i], dims[draw.between(0, static_cast<int64_t>(i))]);
  int64_t next = draw.oneOf({1, 1, 1, 1, 2, 3});
  for (const Dim &dim : dims) {
    strides.*dim.stride = next;
    next = next * dim.length + draw.oneOf({0, 0, 1, 4, 8, 13});
  }
  return strides;
}
