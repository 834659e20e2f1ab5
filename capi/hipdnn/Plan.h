//===- Plan.h - The launches that compute a graph --------------*- C++ -*--===//
//
// A plan is a list of problems of the library, in the order in which they run,
// and the memory for what passes between them. It is made without a device:
// whether a graph is served follows from its text.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_HIPDNN_PLAN_H
#define TESSERA_CAPI_HIPDNN_PLAN_H

#include "capi/hipdnn/Graph.h"
#include "runtime/Base/KernelArg.h"
#include "runtime/Base/Problem.h"

#include <tessera/problem.h>

#include <algorithm>
#include <string>
#include <vector>

namespace tessera::hipdnn {

/// Where an address belongs in tesseraProblemArguments; FirstTensor + i is
/// tensor i of a row-wise problem.
enum class Slot : uint8_t { X, W, Y, Bias, Residual, Indices, FirstTensor };

/// One launch.
struct Step {
  struct Address {
    Slot slot;
    int tensor; ///< The number of a tensor in the plan.
  };

  std::string problem; ///< Its network config.
  /// The numbers are set; addresses and the workspace come with a launch.
  tesseraProblemArguments arguments = TESSERA_PROBLEM_ARGUMENTS_INIT;
  std::vector<Address> addresses;
  std::vector<int> written; ///< Which tensors of them are results.

  bool writes(int tensor) const {
    return std::ranges::find(written, tensor) != written.end();
  }
  void add(Slot slot, int tensor) { addresses.push_back({slot, tensor}); }
  void addTensor(int number, int tensor) {
    add(Slot(static_cast<int>(Slot::FirstTensor) + number), tensor);
  }
};

/// The memory of a tensor in a plan.
struct PlanTensor {
  int64_t uid = 0;
  bool isVirtual = false; ///< In our workspace, else the client's.
  size_t bytes = 0;       ///< Of a virtual tensor that a step uses.
};

struct Plan {
  std::vector<PlanTensor> tensors; ///< Those of the graph, then our own.
  std::vector<Step> steps;
};

/// NotSupported, with the node and the reason, for graphs that are not served;
/// InvalidArgument for those that contradict themselves.
ErrorOr<Plan> makePlan(const Graph &graph);

} // namespace tessera::hipdnn

#endif // TESSERA_CAPI_HIPDNN_PLAN_H
