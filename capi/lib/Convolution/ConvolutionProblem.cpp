//===- ConvolutionProblem.cpp - From descriptors to a problem -------------===//
//
// Mistakes in the request are checked first, and requests without a kernel
// last, so that a client which made a mistake is told of the mistake.
//
//===----------------------------------------------------------------------===//

#include "capi/lib/Convolution/ConvolutionProblem.h"

#include "runtime/Base/Env.h"

#include <array>
#include <optional>
#include <string>
#include <utility>

using namespace tessera;
using namespace tessera::capi;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// The name of a type in messages. Types without a name are given by number.
static std::string getTypeName(int type) {
  switch (type) {
  case miopenHalf:
    return "half";
  case miopenFloat:
    return "float";
  case miopenInt32:
    return "int32";
  case miopenInt8:
    return "int8";
  case miopenBFloat16:
    return "bfloat16";
  case miopenDouble:
    return "double";
  case miopenInt64:
    return "int64";
  case miopenFloat8_fnuz:
    return "float8_fnuz";
  case miopenBFloat8_fnuz:
    return "bfloat8_fnuz";
  case tesseraFloat8:
    return "float8";
  case tesseraBFloat8:
    return "bfloat8";
  default:
    return "type " + std::to_string(type);
  }
}

/// Whether a convolution of `read` may write `written`: one of bytes may have a
/// wider result.
static bool canWrite(miopenDataType_t read, miopenDataType_t written) {
  if (read == miopenInt8)
    return written == read || written == miopenInt32 || written == miopenFloat;
  const std::optional<DataType> known = findDataType(read);
  const bool isWidened = known && isFloat8(*known) &&
                         (written == miopenHalf || written == miopenBFloat16 ||
                          written == miopenFloat);
  return read == written || isWidened;
}

namespace {
/// The types of the tensors that are read, and that of the result.
struct OperandTypes {
  miopenDataType_t first, second, result;
};
} // namespace

static OperandTypes getOperandTypes(Direction direction,
                                    const ConvolutionOperands &operands) {
  const miopenDataType_t x = operands.x.dataType, w = operands.w.dataType,
                         y = operands.y.dataType;
  // Of int8 there is no other direction, which is told later.
  switch (x == miopenInt8 ? Direction::Forward : direction) {
  case Direction::Forward:
    return {x, w, y};
  case Direction::BackwardData:
    return {y, w, x};
  case Direction::BackwardWeights:
    return {x, y, w};
  }
  __builtin_unreachable();
}

static Status checkTypes(Direction direction,
                         const ConvolutionOperands &operands) {
  const auto [first, second, result] = getOperandTypes(direction, operands);
  if (first == second && canWrite(first, result))
    return Status::ok();
  return invalidArgument("x is of " + getTypeName(operands.x.dataType) +
                         ", w of " + getTypeName(operands.w.dataType) +
                         ", and y of " + getTypeName(operands.y.dataType));
}

static ErrorOr<DataType> getKernelType(miopenDataType_t type) {
  const std::optional<DataType> known = findDataType(type);
  if (known && *known != DataType::I32 && *known != DataType::I64)
    return *known;
  return notSupported("convolutions of " + getTypeName(type) +
                      " are not implemented; those of floats and int8 are");
}

static Status setInt8Result(Direction direction,
                            const ConvolutionOperands &operands,
                            ConvProblem &problem) {
  if (direction != Direction::Forward)
    return invalidArgument("int8 is a type of forward convolutions only");
  if (operands.areSwapped())
    return notSupported("transposed convolutions of int8 are not implemented");
  problem.byteResult = *findDataType(operands.y.dataType);
  return Status::ok();
}

/// Whether the environment allows tf32, if it says so. NVIDIA_TF32_OVERRIDE can
/// only forbid it, as in NVIDIA's libraries.
static std::optional<bool> readTf32Override() {
  if (getEnvBool("NVIDIA_TF32_OVERRIDE") == false)
    return false;
  return getEnvBool("MIOPEN_TF32_OVERRIDE");
}

/// The environment takes precedence over the attribute of the descriptor.
static MathType getMathType(const miopenConvolutionDescriptor &conv) {
  static const std::optional<bool> kOverride = readTf32Override();
  const bool isAllowed = kOverride.value_or(conv.mathType == miopenMathDefault);
  return isAllowed ? MathType::Tf32 : MathType::Exact;
}

/// Whether the environment or the descriptor forbids Winograd's transforms.
static bool forbidsWinograd(const miopenConvolutionDescriptor &conv) {
  static const bool kIsOff = getEnvBool("MIOPEN_DEBUG_CONV_WINOGRAD") == false;
  return kIsOff || conv.winograd == 0;
}

static Status checkCasts(const ConvolutionOperands &operands) {
  for (const miopenTensorDescriptor *tensor :
       {&operands.x, &operands.w, &operands.y})
    if (tensor->castType.value_or(tensor->dataType) != tensor->dataType)
      return notSupported("casts to " + getTypeName(*tensor->castType) +
                          " are not implemented");
  return Status::ok();
}

static Status setTypes(Direction direction, const ConvolutionOperands &operands,
                       ConvProblem &problem) {
  const OperandTypes types = getOperandTypes(direction, operands);
  const ErrorOr<DataType> type = getKernelType(types.first);
  if (!type)
    return type.getStatus();
  if (Status status = checkCasts(operands); !status.isOk())
    return status;
  problem.dataType = *type;
  if (*type == DataType::F32)
    problem.mathType = getMathType(operands.conv);
  if (isFloat8(*type))
    problem.byteResult = *findDataType(types.result);
  problem.forbidsWinograd = forbidsWinograd(operands.conv);
  return *type == DataType::I8 ? setInt8Result(direction, operands, problem)
                               : Status::ok();
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static Status checkOutput(Direction direction,
                          const ConvolutionOperands &operands) {
  const miopenTensorDescriptor &y = operands.y;
  const ErrorOr<OutputLengths> expected =
      getForwardOutputLengths(operands.conv, operands.x, operands.w);
  if (!expected)
    return expected.getStatus();
  if (Status status = checkTypes(direction, operands); !status.isOk())
    return status;
  if (y.getRank() != expected->rank)
    return invalidArgument("y has " + std::to_string(y.getRank()) +
                           " dimensions, but x has " +
                           std::to_string(expected->rank));
  for (int i = 0; i < expected->rank; ++i)
    if (y.lengths[i] != expected->lengths[i])
      return invalidArgument("length " + std::to_string(i) + " of y is " +
                             std::to_string(y.lengths[i]) +
                             ", but the convolution gives " +
                             std::to_string(expected->lengths[i]));
  return Status::ok();
}

/// Converts numbers in the order [[d,] h,] w; missing dimensions keep the
/// neutral default of `Result`.
template <typename Result, typename Number>
static Result toLengths(const Number *numbers, int spatialRank) {
  Result result;
  result.w = numbers[spatialRank - 1];
  if (spatialRank > 1)
    result.h = numbers[spatialRank - 2];
  if (spatialRank > 2)
    result.d = numbers[spatialRank - 3];
  return result;
}

/// The tensors x, w and y of the problem: those of the client, with x and y
/// swapped if the convolution is transposed.
static std::array<const miopenTensorDescriptor *, 3>
getTensors(const ConvolutionOperands &operands) {
  if (operands.areSwapped())
    return {&operands.y, &operands.w, &operands.x};
  return {&operands.x, &operands.w, &operands.y};
}

static void setLengths(const ConvolutionOperands &operands,
                       ConvProblem &problem) {
  const auto [x, w, y] = getTensors(operands);
  const miopenConvolutionDescriptor &conv = operands.conv;
  const int rank = conv.spatialRank;
  problem.batch = x->lengths[0];
  problem.inChannels = x->lengths[1];
  problem.outChannels = y->lengths[1];
  problem.groups = conv.groups;
  problem.in = toLengths<Spatial>(&x->lengths[2], rank);
  problem.filter = toLengths<Spatial>(&w->lengths[2], rank);
  problem.pad = toLengths<Pads>(conv.pads.data(), rank);
  problem.stride = toLengths<Spatial>(conv.strides.data(), rank);
  problem.dilation = toLengths<Spatial>(conv.dilations.data(), rank);
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

static Strides getStrides(const miopenTensorDescriptor &tensor) {
  const auto spatial =
      toLengths<Spatial>(&tensor.strides[2], tensor.getRank() - 2);
  return {tensor.strides[0], tensor.strides[1], spatial.d, spatial.h,
          spatial.w};
}

namespace {
/// The layouts that a tensor's strides fit. The stride of a length of 1 is
/// never used and may have any value, so that both layouts may fit.
struct LayoutCandidates {
  Strides strides;
  bool nchw;
  bool nhwc;

  LayoutCandidates(const miopenTensorDescriptor &tensor,
                   const TensorLengths &lengths)
      : strides(getStrides(tensor)), nchw(fits(Layout::NCHW, lengths)),
        nhwc(fits(Layout::NHWC, lengths)) {}

  bool fits(Layout layout, const TensorLengths &lengths) const {
    const Strides packed = getPackedStrides(layout, lengths);
    return (lengths.n == 1 || strides.n == packed.n) &&
           (lengths.c == 1 || strides.c == packed.c) &&
           (lengths.d == 1 || strides.d == packed.d) &&
           (lengths.h == 1 || strides.h == packed.h) &&
           (lengths.w == 1 || strides.w == packed.w);
  }
  bool isDecided() const { return nchw != nhwc; }
  Layout getDecided() const { return nchw ? Layout::NCHW : Layout::NHWC; }

  void set(Layout preferred, Layout &layout, Strides &layoutStrides) const {
    if (nchw || nhwc) {
      layout = isDecided() ? getDecided() : preferred;
      return;
    }
    layout = Layout::Strided;
    layoutStrides = strides;
  }
};
} // namespace

/// Sets the three layouts. A tensor that fits both (a 1x1 filter, an image of
/// one channel) takes the layout of the first tensor in the order x, w, y that
/// fits only one. So the same memory is the same problem, whatever a client
/// wrote for the strides that are not used.
static void setLayouts(const ConvolutionOperands &operands,
                       ConvProblem &problem) {
  const auto [x, w, y] = getTensors(operands);
  const LayoutCandidates xCandidates(*x, problem.getInputLengths());
  const LayoutCandidates wCandidates(*w, problem.getFilterLengths());
  const LayoutCandidates yCandidates(*y, problem.getOutputLengths());
  Layout preferred = Layout::NCHW;
  for (const LayoutCandidates *tensor :
       {&yCandidates, &wCandidates, &xCandidates})
    if (tensor->isDecided())
      preferred = tensor->getDecided();
  xCandidates.set(preferred, problem.xLayout, problem.xStrides);
  wCandidates.set(preferred, problem.wLayout, problem.wStrides);
  yCandidates.set(preferred, problem.yLayout, problem.yStrides);
}

//===----------------------------------------------------------------------===//

static Direction getProblemDirection(Direction direction, bool areSwapped) {
  if (!areSwapped || direction == Direction::BackwardWeights)
    return direction;
  return direction == Direction::Forward ? Direction::BackwardData
                                         : Direction::Forward;
}

ErrorOr<ConvProblem>
capi::makeConvProblem(Direction direction,
                      const ConvolutionOperands &operands) {
  if (Status status = checkOutput(direction, operands); !status.isOk())
    return status;
  ConvProblem problem;
  problem.direction = getProblemDirection(direction, operands.areSwapped());
  if (Status status = setTypes(direction, operands, problem); !status.isOk())
    return status;
  setLengths(operands, problem);
  // MIOpen makes a transposed result of less than one pixel one pixel. Such a
  // result is not the gradient of any convolution.
  const auto [x, w, y] = getTensors(operands);
  if (problem.getOutput() !=
      toLengths<Spatial>(&y->lengths[2], operands.conv.spatialRank))
    return invalidArgument("the padding leaves nothing of the transposed "
                           "convolution's result");
  setLayouts(operands, problem);
  if (Status status = problem.verify(); !status.isOk())
    return status;
  if (!problem.gainsByRounding())
    problem.mathType = MathType::Exact;
  return problem.canonicalize();
}

ErrorOr<Scaling> capi::readScaling(const ConvolutionOperands &operands,
                                   const void *alpha, const void *beta) {
  const bool isDouble = operands.x.dataType == miopenDouble;
  auto read = [isDouble](const void *number) {
    return isDouble ? *static_cast<const double *>(number)
                    : *static_cast<const float *>(number);
  };
  Scaling scaling{read(alpha), read(beta), {}};
  if (scaling.alpha == 1 && scaling.beta == 0)
    return scaling;
  if (operands.y.dataType == miopenInt32)
    return notSupported("only alpha = 1 and beta = 0 are implemented of a "
                        "result of int32");
  // There are three cases, as in MIOpen: default, scaled, and scaled plus the
  // old value.
  scaling.epilogue.alpha = true;
  scaling.epilogue.beta = scaling.beta != 0;
  return scaling;
}
