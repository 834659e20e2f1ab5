//===- Reference.hip - Naive kernels of convolution and pooling -----------===//
//
// The formulas of docs/spec, one thread an element, sums in double: results are
// compared with this when the host would take too long. It is written
// independently of the compiler that it checks, and compiled by others (hiprtc,
// NVRTC, clang) when it is needed. It includes no header, so that none has to
// be found.
//
// ELEMENT_F16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F64 or ELEMENT_I8 says what
// the tensors hold; of floats of 8 bits ELEMENT_FLOAT8 is the number of their
// bits of fraction, FLOAT8_BIAS the bias, FLOAT8_LARGEST the code of the largest
// number. Layouts are strides, so one kernel serves all of them.
// Arguments.h is put in front of this text.
//
//===----------------------------------------------------------------------===//

using namespace tessera::ondevice;

#ifdef __CUDACC_RTC__
#define DEVICE static __device__
#define KERNEL extern "C" __global__ void __launch_bounds__(256)
#define GROUP blockIdx.x
#define THREAD threadIdx.x
#else
#define DEVICE static __attribute__((device))
#define KERNEL                                                                 \
  extern "C" __attribute__((global)) __attribute__((launch_bounds(256))) void
#define GROUP __builtin_amdgcn_workgroup_id_x()
#define THREAD __builtin_amdgcn_workitem_id_x()
#endif

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

#if defined(ELEMENT_F16) || defined(ELEMENT_BF16)
DEVICE float makeFloat(unsigned bits) {
  union {
    unsigned from;
    float to;
  } pun;
  pun.from = bits;
  return pun.to;
}
#endif

#if defined(ELEMENT_F16)
typedef unsigned short Element;
#define LOWEST -65504.0
DEVICE double widen(Element element) {
  const unsigned sign = (element & 0x8000u) << 16;
  const unsigned exponent = element >> 10 & 31, mantissa = element & 0x3ffu;
  if (exponent == 0)
    return (sign ? -0x1p-24f : 0x1p-24f) * (float)mantissa;
  const unsigned wide = exponent == 31 ? 255 : exponent + 112;
  return makeFloat(sign | wide << 23 | mantissa << 13);
}
#elif defined(ELEMENT_BF16)
typedef unsigned short Element;
#define LOWEST -0x1.fep127
DEVICE double widen(Element element) {
  return makeFloat((unsigned)element << 16);
}
#elif defined(ELEMENT_F32)
typedef float Element;
#define LOWEST -0x1.fffffep127
DEVICE double widen(Element element) { return element; }
#elif defined(ELEMENT_F64)
typedef double Element;
#define LOWEST -0x1.fffffffffffffp1023
DEVICE double widen(Element element) { return element; }
#elif defined(ELEMENT_I8)
typedef signed char Element;
#define LOWEST -128.0
DEVICE double widen(Element element) { return element; }
#elif defined(ELEMENT_FLOAT8)
typedef unsigned char Element;
#define LOWEST 0.0
/// A power of two is a double without a fraction. Whatever has no number of its
/// own is NaN here.
DEVICE double widen(Element element) {
  union {
    unsigned long long from;
    double to;
  } power;
  const int code = element & 0x7f, one = 1 << ELEMENT_FLOAT8;
  const bool isFnuz = FLOAT8_LARGEST == 0x7f;
  if (isFnuz ? element == 0x80 : code > FLOAT8_LARGEST)
    power.from = 0x7ff8000000000000;
  else {
    const int exponent = code / one > 0 ? code / one : 1;
    power.from = (unsigned long long)(1023 + exponent - FLOAT8_BIAS -
                                      ELEMENT_FLOAT8)
                 << 52;
  }
  const int fraction = code % one + (code >= one ? one : 0);
  return (element & 0x80 ? -fraction : fraction) * power.to;
}
#endif

DEVICE double load(const void *data, long long offset) {
  return widen(((const Element *)data)[offset]);
}

DEVICE unsigned long long loadIndex(const void *data, long long bytes,
                                    long long offset) {
  switch (bytes) {
  case 1:
    return ((const unsigned char *)data)[offset];
  case 2:
    return ((const unsigned short *)data)[offset];
  case 4:
    return ((const unsigned *)data)[offset];
  default:
    return ((const unsigned long long *)data)[offset];
  }
}

//===----------------------------------------------------------------------===//
// Coordinates
//===----------------------------------------------------------------------===//

DEVICE long long getFirst() { return (long long)GROUP * 256 + THREAD; }

DEVICE long long getCount(const Extents &lengths) {
  return lengths.n * lengths.c * lengths.d * lengths.h * lengths.w;
}

/// The coordinates of a thread's element. Neighbouring threads have
/// neighbouring columns, so that most of a wave reads the same element of a
/// filter.
DEVICE Extents getCoords(long long number, const Extents &lengths) {
  Extents at;
  at.w = number % lengths.w;
  number /= lengths.w;
  at.h = number % lengths.h;
  number /= lengths.h;
  at.d = number % lengths.d;
  number /= lengths.d;
  at.c = number % lengths.c;
  at.n = number / lengths.c;
  return at;
}

/// The index at which a result is stored.
DEVICE long long getNumber(const Extents &at, const Extents &lengths) {
  return (((at.n * lengths.d + at.d) * lengths.h + at.h) * lengths.w + at.w) *
             lengths.c +
         at.c;
}

DEVICE long long getOffset(const Extents &at, const Extents &strides) {
  return at.n * strides.n + at.c * strides.c + at.d * strides.d +
         at.h * strides.h + at.w * strides.w;
}

/// Whether the spatial coordinates are inside of the image and not on padding.
DEVICE bool isInside(const Extents &at, const Extents &lengths) {
  return at.d >= 0 && at.d < lengths.d && at.h >= 0 && at.h < lengths.h &&
         at.w >= 0 && at.w < lengths.w;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

struct Sum {
  double value, magnitude;
};

DEVICE void add(Sum &sum, double term) {
  sum.value += term;
  sum.magnitude += term < 0 ? -term : term;
}

/// Adds a * b for `count` elements at the strides `aStep` and `bStep`.
DEVICE void addProducts(Sum &sum, const void *a, long long aOffset,
                        long long aStep, const void *b, long long bOffset,
                        long long bStep, long long count) {
  for (long long i = 0; i < count; ++i)
    add(sum, load(a, aOffset + i * aStep) * load(b, bOffset + i * bStep));
}

DEVICE void store(const Results &results, long long number, const Sum &sum) {
  results.values[number] = sum.value;
  results.magnitudes[number] = sum.magnitude;
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

/// The pixel of x that tap `tap` of the output pixel `out` reads.
DEVICE Extents getPixel(const ConvArguments &a, const Extents &out,
                        const Extents &tap) {
  Extents pixel;
  pixel.n = out.n;
  pixel.c = 0;
  pixel.d = out.d * a.stride.d - a.pad.d + tap.d * a.dilation.d;
  pixel.h = out.h * a.stride.h - a.pad.h + tap.h * a.dilation.h;
  pixel.w = out.w * a.stride.w - a.pad.w + tap.w * a.dilation.w;
  return pixel;
}

DEVICE Sum sumForward(const ConvArguments &a, const Extents &out) {
  Sum sum = {0, 0};
  const long long group = out.c / (a.yLengths.c / a.groups);
  Extents tap = {out.c, 0, 0, 0, 0};
  for (tap.d = 0; tap.d < a.wLengths.d; ++tap.d)
    for (tap.h = 0; tap.h < a.wLengths.h; ++tap.h)
      for (tap.w = 0; tap.w < a.wLengths.w; ++tap.w) {
        Extents pixel = getPixel(a, out, tap);
        if (!isInside(pixel, a.xLengths))
          continue;
        pixel.c = group * a.wLengths.c;
        addProducts(sum, a.x, getOffset(pixel, a.xStrides), a.xStrides.c, a.w,
                    getOffset(tap, a.wStrides), a.wStrides.c, a.wLengths.c);
      }
  return sum;
}

/// Finds the output that reads coordinate `at` with tap `tap`.
DEVICE bool findReader(long long at, long long tap, long long pad,
                       long long stride, long long dilation, long long length,
                       long long &reader) {
  const long long distance = at + pad - tap * dilation;
  reader = distance / stride;
  return distance >= 0 && distance % stride == 0 && reader < length;
}

DEVICE Sum sumBackwardData(const ConvArguments &a, const Extents &pixel) {
  Sum sum = {0, 0};
  const long long groupFilters = a.yLengths.c / a.groups;
  const long long group = pixel.c / a.wLengths.c;
  Extents tap = {group * groupFilters, pixel.c % a.wLengths.c, 0, 0, 0};
  Extents out = {pixel.n, group * groupFilters, 0, 0, 0};
  for (tap.d = 0; tap.d < a.wLengths.d; ++tap.d) {
    if (!findReader(pixel.d, tap.d, a.pad.d, a.stride.d, a.dilation.d,
                    a.yLengths.d, out.d))
      continue;
    for (tap.h = 0; tap.h < a.wLengths.h; ++tap.h) {
      if (!findReader(pixel.h, tap.h, a.pad.h, a.stride.h, a.dilation.h,
                      a.yLengths.h, out.h))
        continue;
      for (tap.w = 0; tap.w < a.wLengths.w; ++tap.w)
        if (findReader(pixel.w, tap.w, a.pad.w, a.stride.w, a.dilation.w,
                       a.yLengths.w, out.w))
          addProducts(sum, a.y, getOffset(out, a.yStrides), a.yStrides.c, a.w,
                      getOffset(tap, a.wStrides), a.wStrides.n, groupFilters);
    }
  }
  return sum;
}

DEVICE Sum sumBackwardWeights(const ConvArguments &a, const Extents &tap) {
  Sum sum = {0, 0};
  const long long group = tap.n / (a.yLengths.c / a.groups);
  Extents out = {0, tap.n, 0, 0, 0};
  for (out.n = 0; out.n < a.yLengths.n; ++out.n)
    for (out.d = 0; out.d < a.yLengths.d; ++out.d)
      for (out.h = 0; out.h < a.yLengths.h; ++out.h)
        for (out.w = 0; out.w < a.yLengths.w; ++out.w) {
          Extents pixel = getPixel(a, out, tap);
          pixel.c = group * a.wLengths.c + tap.c;
          if (isInside(pixel, a.xLengths))
            add(sum, load(a.x, getOffset(pixel, a.xStrides)) *
                         load(a.y, getOffset(out, a.yStrides)));
        }
  return sum;
}

#define CONVOLUTION(NAME, LENGTHS)                                             \
  KERNEL conv##NAME(ConvArguments a) {                                         \
    const long long count = getCount(a.LENGTHS);                               \
    for (long long i = getFirst(); i < count; i += a.results.step) {           \
      const Extents at = getCoords(i, a.LENGTHS);                              \
      store(a.results, getNumber(at, a.LENGTHS), sum##NAME(a, at));            \
    }                                                                          \
  }

CONVOLUTION(Forward, yLengths)
CONVOLUTION(BackwardData, xLengths)
CONVOLUTION(BackwardWeights, wLengths)

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

/// The pixel of x at `position` of the window of the output `out`.
DEVICE Extents getPixel(const PoolArguments &a, const Extents &out,
                        const Spatials &position) {
  Extents pixel;
  pixel.n = out.n;
  pixel.c = out.c;
  pixel.d = out.d * a.stride.d - a.pad.d + position.d;
  pixel.h = out.h * a.stride.h - a.pad.h + position.h;
  pixel.w = out.w * a.stride.w - a.pad.w + position.w;
  return pixel;
}

/// The index of a maximum at `pixel`, which is position `position` of its
/// window.
DEVICE unsigned long long getIndex(const PoolArguments &a, const Extents &pixel,
                                   const Spatials &position) {
  if (a.indexesImage)
    return (pixel.d * a.xLengths.h + pixel.h) * a.xLengths.w + pixel.w;
  return (position.d * a.window.h + position.h) * a.window.w + position.w;
}

/// The number of positions of a window that are inside along one dimension, if
/// the window begins at `first`.
DEVICE long long countInside(long long first, long long window,
                             long long length) {
  const long long begin = first < 0 ? 0 : first;
  const long long end = first + window < length ? first + window : length;
  return end > begin ? end - begin : 0;
}

/// The divisor of the sum over the window of `out`.
DEVICE double getDivisor(const PoolArguments &a, const Extents &out) {
  if (a.countsPadding)
    return (double)(a.window.d * a.window.h * a.window.w);
  const Extents first = getPixel(a, out, Spatials{0, 0, 0});
  const long long inside = countInside(first.d, a.window.d, a.xLengths.d) *
                           countInside(first.h, a.window.h, a.xLengths.h) *
                           countInside(first.w, a.window.w, a.xLengths.w);
  return (double)(inside ? inside : 1);
}

KERNEL poolForward(PoolArguments a) {
  const long long count = getCount(a.yLengths);
  for (long long i = getFirst(); i < count; i += a.results.step) {
    const Extents out = getCoords(i, a.yLengths);
    const long long number = getNumber(out, a.yLengths);
    Sum sum = {0, 0};
    double largest = LOWEST;
    if (a.choosesNan)
      largest *= 0x1p1023; // Minus infinity, in words that all compilers know.
    unsigned long long index = 0;
    Spatials position;
    for (position.d = 0; position.d < a.window.d; ++position.d)
      for (position.h = 0; position.h < a.window.h; ++position.h)
        for (position.w = 0; position.w < a.window.w; ++position.w) {
          const Extents pixel = getPixel(a, out, position);
          if (!isInside(pixel, a.xLengths))
            continue;
          const double element = load(a.x, getOffset(pixel, a.xStrides));
          add(sum, element);
          if (element > largest || (a.choosesNan && element != element)) {
            largest = element;
            index = getIndex(a, pixel, position);
          }
        }
    const double divisor = getDivisor(a, out);
    const Sum average = {sum.value / divisor, sum.magnitude / divisor};
    const Sum maximum = {largest, 0};
    store(a.results, number, a.isMax ? maximum : average);
    if (a.results.indices)
      a.results.indices[number] = index;
  }
}

/// The first output of one dimension whose window reaches coordinate `at`.
DEVICE long long getFirstReader(long long at, long long pad, long long window,
                                long long stride) {
  const long long missed = at + pad - window + 1;
  return missed <= 0 ? 0 : (missed + stride - 1) / stride;
}

DEVICE Sum sumPoolBackward(const PoolArguments &a, const Extents &pixel) {
  Sum sum = {0, 0};
  Extents out = pixel;
  Spatials position;
  for (out.d = getFirstReader(pixel.d, a.pad.d, a.window.d, a.stride.d);
       out.d < a.yLengths.d; ++out.d) {
    position.d = pixel.d + a.pad.d - out.d * a.stride.d;
    if (position.d < 0)
      break;
    for (out.h = getFirstReader(pixel.h, a.pad.h, a.window.h, a.stride.h);
         out.h < a.yLengths.h; ++out.h) {
      position.h = pixel.h + a.pad.h - out.h * a.stride.h;
      if (position.h < 0)
        break;
      for (out.w = getFirstReader(pixel.w, a.pad.w, a.window.w, a.stride.w);
           out.w < a.yLengths.w; ++out.w) {
        position.w = pixel.w + a.pad.w - out.w * a.stride.w;
        if (position.w < 0)
          break;
        if (a.isMax && loadIndex(a.indices, a.indexBytes,
                                 getOffset(out, a.indexStrides)) !=
                           getIndex(a, pixel, position))
          continue;
        const double term = load(a.y, getOffset(out, a.yStrides));
        add(sum, a.isMax ? term : term / getDivisor(a, out));
      }
    }
  }
  return sum;
}

KERNEL poolBackward(PoolArguments a) {
  const long long count = getCount(a.xLengths);
  for (long long i = getFirst(); i < count; i += a.results.step) {
    const Extents at = getCoords(i, a.xLengths);
    store(a.results, getNumber(at, a.xLengths), sumPoolBackward(a, at));
  }
}
