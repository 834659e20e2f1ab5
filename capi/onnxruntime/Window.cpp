//===- Window.cpp - The window of a convolution or a pooling --------------===//
//
// ONNX's attributes, with the meaning of Conv 11 and MaxPool 12.
//
//===----------------------------------------------------------------------===//

#include "capi/onnxruntime/Window.h"

#include <algorithm>

using namespace tessera;
using namespace tessera::onnx;

ErrorOr<Shape> tessera::onnx::readList(const Node &node, const char *key,
                                       size_t count, int64_t otherwise) {
  const auto found = node.lists.find(key);
  if (found == node.lists.end())
    return Shape(count, otherwise);
  if (found->second.size() != count)
    return invalidArgument(std::string("its attribute ") + key + " has " +
                           std::to_string(found->second.size()) +
                           " numbers, but needs " + std::to_string(count));
  for (int64_t number : found->second)
    if (number < 0 || number > INT32_MAX)
      return notSupported(std::string("a number of its attribute ") + key +
                          " is " + std::to_string(number));
  return found->second;
}

/// The least padding by which every element in steps of the stride is the
/// middle of a window; an odd one goes to the end that the rule names.
static void padByRule(Window &window, const Shape &in, bool isUpper) {
  for (size_t dim = 0; dim < in.size(); ++dim) {
    const int64_t stride = window.stride[dim];
    const int64_t last = (in[dim] - 1) / stride * stride;
    const int64_t total =
        std::max<int64_t>(last + window.getExtent(dim) - in[dim], 0);
    window.before[dim] = isUpper ? total / 2 : total - total / 2;
    window.after[dim] = total - window.before[dim];
  }
}

ErrorOr<Window> tessera::onnx::readWindow(const Node &node, const Shape &filter,
                                          const Shape &in, bool isTransposed) {
  const size_t rank = in.size();
  ErrorOr<Shape> stride = readList(node, "strides", rank, 1);
  ErrorOr<Shape> dilation = readList(node, "dilations", rank, 1);
  ErrorOr<Shape> pads = readList(node, "pads", 2 * rank, 0);
  ErrorOr<Shape> kernel = readList(node, "kernel_shape", rank, 0);
  for (const ErrorOr<Shape> *list : {&stride, &dilation, &pads, &kernel})
    if (!*list)
      return list->getStatus();
  if (node.lists.contains("kernel_shape") && !filter.empty() &&
      *kernel != filter)
    return invalidArgument("its kernel_shape is not that of its filter");
  Window window = {filter.empty() ? *kernel : filter, *stride, *dilation,
                   Shape(pads->begin(), pads->begin() + rank),
                   Shape(pads->begin() + rank, pads->end())};
  for (const Shape *list : {&window.filter, &window.stride, &window.dilation})
    if (std::ranges::find(*list, 0) != list->end())
      return invalidArgument("its window has the number 0");
  const auto rule = node.texts.find("auto_pad");
  if (rule == node.texts.end() || rule->second == "NOTSET")
    return window;
  window.before = window.after = Shape(rank, 0);
  if (rule->second == "VALID")
    return window;
  if (isTransposed ||
      (rule->second != "SAME_UPPER" && rule->second != "SAME_LOWER"))
    return notSupported("its padding is by the rule " + rule->second);
  padByRule(window, in, rule->second == "SAME_UPPER");
  return window;
}

ErrorOr<Shape> Window::getResult(const Shape &in, bool roundsUp) {
  Shape out;
  for (size_t dim = 0; dim < in.size(); ++dim) {
    const int64_t range = in[dim] + before[dim] + after[dim] - getExtent(dim);
    if (range < 0)
      return invalidArgument("its window is larger than its padded input");
    int64_t length = range / stride[dim] + 1;
    // No window may begin behind the image.
    if (roundsUp && range % stride[dim] != 0 &&
        length * stride[dim] < in[dim] + before[dim]) {
      ++length;
      after[dim] =
          (length - 1) * stride[dim] + getExtent(dim) - in[dim] - before[dim];
    }
    out.push_back(length);
  }
  return out;
}

ErrorOr<Shape> Window::getTransposedResult(const Shape &in,
                                           const Shape &extra) const {
  Shape out;
  for (size_t dim = 0; dim < in.size(); ++dim) {
    out.push_back((in[dim] - 1) * stride[dim] + extra[dim] + getExtent(dim) -
                  before[dim] - after[dim]);
    if (out.back() < 1)
      return invalidArgument("its padding is larger than its result");
  }
  return out;
}
