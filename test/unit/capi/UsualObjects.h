//===- UsualObjects.h - Objects of a well-behaved client -------*- C++ -*--===//
//
// Objects of every type of the API that fit each other, so that random calls
// with them often get through: a small image, its filter, its channels'
// parameters, plans with their arguments, a solution.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_UNIT_CAPI_USUALOBJECTS_H
#define TESSERA_TEST_UNIT_CAPI_USUALOBJECTS_H

#define MIOPEN_BETA_API 1
#include <miopen/miopen.h>

#include <functional>
#include <map>
#include <string>
#include <typeindex>
#include <vector>

namespace tessera::test {

/// Owns the objects. Needs an engine that makes kernels.
class UsualObjects {
public:
  UsualObjects();
  ~UsualObjects();
  UsualObjects(const UsualObjects &) = delete;
  UsualObjects &operator=(const UsualObjects &) = delete;

  /// Objects by the type of their handle.
  using Map = std::map<std::type_index, std::vector<void *>>;
  const Map &getAll() const { return objects; }

  /// The objects of a type of handle. Objects that shall be used more often are
  /// listed more than once.
  const std::vector<void *> &get(std::type_index type) const;

  /// A time step of the network, which is one of its states as well.
  miopenTensorDescriptor_t getStep() const { return step; }

  /// The bytes of a solution.
  const std::string &getSavedSolution() const { return savedSolution; }

private:
  template <typename T>
  T make(miopenStatus_t (*create)(T *), miopenStatus_t (*destroy)(T));
  template <typename T>
  void add(T object);
  miopenTensorDescriptor_t addTensor(miopenDataType_t type,
                                     const std::vector<int> &lengths,
                                     int weight = 1);
  void addTensors();
  void addOperators();
  void addDescriptors();
  void addSolution();
  miopenFusionPlanDescriptor_t addPlan();
  void addConvolutionPlan();
  void addNormPlans();

  Map objects;
  std::vector<std::function<void()>> cleanups; ///< Run in reverse order.
  miopenHandle_t handle;
  miopenOperatorArgs_t args;
  miopenTensorDescriptor_t image, filter, parameters, step;
  miopenConvolutionDescriptor_t conv;
  std::string savedSolution;
};

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_CAPI_USUALOBJECTS_H
