//===- Window.cpp - The window of a convolution or a pooling --------------===//

#include "tools/dnn-onnx/Window.h"

#include <algorithm>

using namespace tessera;
using namespace tessera::model;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static const onnx::AttributeProto *findAttribute(const onnx::NodeProto &node,
                                                 const std::string &name) {
  for (const onnx::AttributeProto &attribute : node.attribute())
    if (attribute.name() == name)
      return &attribute;
  return nullptr;
}

int64_t tessera::model::getInt(const onnx::NodeProto &node,
                               const std::string &name, int64_t otherwise) {
  const onnx::AttributeProto *attribute = findAttribute(node, name);
  return attribute ? attribute->i() : otherwise;
}

float tessera::model::getFloat(const onnx::NodeProto &node,
                               const std::string &name, float otherwise) {
  const onnx::AttributeProto *attribute = findAttribute(node, name);
  return attribute ? attribute->f() : otherwise;
}

std::string tessera::model::getString(const onnx::NodeProto &node,
                                      const std::string &name,
                                      const std::string &otherwise) {
  const onnx::AttributeProto *attribute = findAttribute(node, name);
  return attribute ? attribute->s() : otherwise;
}

/// Reads `count` numbers of at least `least`; `numbers` stays as it is if the
/// node has no such attribute.
static Status readNumbers(const onnx::NodeProto &node, const std::string &name,
                          size_t count, int64_t least,
                          std::vector<int64_t> &numbers) {
  if (const onnx::AttributeProto *attribute = findAttribute(node, name))
    numbers.assign(attribute->ints().begin(), attribute->ints().end());
  if (numbers.size() != count)
    return invalidArgument("its attribute " + name + " has " +
                           std::to_string(numbers.size()) +
                           " numbers, but needs " + std::to_string(count));
  for (int64_t number : numbers)
    if (number < least || number > INT32_MAX)
      return invalidArgument("a number of its attribute " + name + " is " +
                             std::to_string(number) + ", but must be between " +
                             std::to_string(least) + " and 2147483647");
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

/// Computes the padding by rule that gives `out` windows on `in` elements: the
/// least that suffices, with the odd element at the end that the rule names.
static void padByRule(bool isUpper, int64_t in, int64_t out, Axis &axis) {
  const int64_t total =
      std::max<int64_t>((out - 1) * axis.stride + axis.getExtent() - in, 0);
  axis.padBegin = isUpper ? total / 2 : total - total / 2;
  axis.padEnd = total - axis.padBegin;
}

ErrorOr<std::vector<Axis>> tessera::model::readWindow(
    const onnx::NodeProto &node, std::vector<int64_t> filter,
    const std::vector<int64_t> &in, const std::vector<int64_t> &out) {
  const size_t rank = in.size();
  std::vector<int64_t> strides(rank, 1), dilations(rank, 1), pads(2 * rank, 0);
  Status status = readNumbers(node, "kernel_shape", rank, 1, filter);
  if (status.isOk())
    status = readNumbers(node, "strides", rank, 1, strides);
  if (status.isOk())
    status = readNumbers(node, "dilations", rank, 1, dilations);
  const std::string rule = getString(node, "auto_pad", "NOTSET");
  if (rule != "NOTSET" && rule != "VALID" && rule != "SAME_UPPER" &&
      rule != "SAME_LOWER")
    return invalidArgument("its attribute auto_pad is unknown");
  if (status.isOk() && rule == "NOTSET")
    status = readNumbers(node, "pads", 2 * rank, 0, pads);
  if (!status.isOk())
    return status;
  std::vector<Axis> axes(rank);
  for (size_t i = 0; i < rank; ++i) {
    axes[i] = {filter[i], strides[i], dilations[i], pads[i], pads[rank + i]};
    if (rule.starts_with("SAME"))
      padByRule(rule == "SAME_UPPER", in[i], out[i], axes[i]);
  }
  return axes;
}

/// Whether our own rule gives `out` with `pads` at both ends together.
static bool gives(const Axis &axis, int64_t in, int64_t pads, int64_t out) {
  const int64_t range = in + pads - axis.getExtent();
  return range >= 0 && range / axis.stride + 1 == out;
}

FittedAxis FittedAxis::growInput() const {
  return {in + std::abs(extraPad), std::min(pad, pad + extraPad)};
}

ErrorOr<FittedAxis> tessera::model::fit(const Axis &axis, int64_t in,
                                        int64_t out, bool roundsUp) {
  if (gives(axis, in, 2 * axis.padBegin, out))
    return FittedAxis{in, axis.padBegin};
  // With rounding up, the last window may reach beyond the padding of the end.
  const int64_t needed =
      (out - 1) * axis.stride + axis.getExtent() - in - axis.padBegin;
  const int64_t end = roundsUp ? std::max(axis.padEnd, needed) : axis.padEnd;
  if (gives(axis, in, axis.padBegin + end, out))
    return FittedAxis{in, axis.padBegin, end - axis.padBegin};
  return notSupported("its padding does not give the lengths of its output");
}
