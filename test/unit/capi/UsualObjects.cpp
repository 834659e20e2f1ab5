//===- UsualObjects.cpp - Objects of a well-behaved client ----------------===//

#include "test/unit/capi/UsualObjects.h"

#include <gtest/gtest.h>
#include <tessera/tessera.h>

using namespace tessera::test;

#define MIOPEN(call)                                                           \
  EXPECT_EQ(call, miopenStatusSuccess) << tesseraGetLastErrorMessage()

/// Stands for device memory, which nothing reads.
static float memory[16];
static const float one = 1, zero = 0;

template <typename T>
void UsualObjects::add(T object) {
  objects[typeid(T)].push_back(object);
}

template <typename T>
T UsualObjects::make(miopenStatus_t (*create)(T *),
                     miopenStatus_t (*destroy)(T)) {
  T object = nullptr;
  MIOPEN(create(&object));
  add(object);
  cleanups.emplace_back([=] { MIOPEN(destroy(object)); });
  return object;
}

UsualObjects::UsualObjects()
    : handle(make(miopenCreate, miopenDestroy)),
      args(make(miopenCreateOperatorArgs, miopenDestroyOperatorArgs)) {
  addTensors();
  addOperators();
  addDescriptors();
  addSolution();
  addConvolutionPlan();
  addNormPlans();
}

UsualObjects::~UsualObjects() {
  for (size_t i = cleanups.size(); i-- > 0;)
    cleanups[i]();
}

const std::vector<void *> &UsualObjects::get(std::type_index type) const {
  static const std::vector<void *> none;
  const auto found = objects.find(type);
  return found == objects.end() ? none : found->second;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

miopenTensorDescriptor_t
UsualObjects::addTensor(miopenDataType_t type, const std::vector<int> &lengths,
                        int weight) {
  const auto tensor =
      make(miopenCreateTensorDescriptor, miopenDestroyTensorDescriptor);
  MIOPEN(miopenSetTensorDescriptor(
      tensor, type, static_cast<int>(lengths.size()), lengths.data(), nullptr));
  for (int copy = 1; copy < weight; ++copy)
    add(tensor);
  return tensor;
}

void UsualObjects::addTensors() {
  image = addTensor(miopenFloat, {2, 4, 6, 6}, 16);
  parameters = addTensor(miopenFloat, {1, 4, 1, 1}, 6);
  filter = addTensor(miopenFloat, {4, 4, 1, 1}, 6);
  addTensor(miopenFloat, {2, 4, 3, 3}, 2); // The result of a pooling.
  addTensor(miopenFloat, {2, 2, 6, 6}, 4); // The input of a gated linear unit.
  addTensor(miopenFloat, {2, 8, 6, 6});    // A concatenation of two images.
  addTensor(miopenFloat, {2, 6, 6});       // Reduced along the channels.
  addTensor(miopenInt32, {2, 6, 6});
  addTensor(miopenFloat, {2, 4, 6}); // A value for each line.
  addTensor(miopenFloat, {6});       // A value for each position of a line.
  addTensor(miopenFloat, {36});
  addTensor(miopenFloat, {1});
  addTensor(miopenHalf, {2, 4, 6, 6});
  step = addTensor(miopenFloat, {1, 1, 1});
  addTensor(miopenFloat, {1, 1}, 2); // A parameter of the network.
}

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

void UsualObjects::addOperators() {
  conv = make(miopenCreateConvolutionDescriptor,
              miopenDestroyConvolutionDescriptor);
  MIOPEN(miopenInitConvolutionDescriptor(conv, miopenConvolution, 0, 0, 1, 1, 1,
                                         1));
  for (miopenPoolingMode_t mode : {miopenPoolingAverage, miopenPoolingMax}) {
    const auto pool =
        make(miopenCreatePoolingDescriptor, miopenDestroyPoolingDescriptor);
    MIOPEN(miopenSet2dPoolingDescriptor(pool, mode, 2, 2, 0, 0, 2, 2));
  }
  const auto relu =
      make(miopenCreateActivationDescriptor, miopenDestroyActivationDescriptor);
  MIOPEN(miopenSetActivationDescriptor(relu, miopenActivationRELU, 1, 0, 1));
  for (miopenLRNMode_t mode : {miopenLRNWithinChannel, miopenLRNCrossChannel}) {
    const auto lrn =
        make(miopenCreateLRNDescriptor, miopenDestroyLRNDescriptor);
    MIOPEN(miopenSetLRNDescriptor(lrn, mode, 3, 1e-4, 0.75, 2));
  }
  for (miopenReduceTensorOp_t op :
       {MIOPEN_REDUCE_TENSOR_ADD, MIOPEN_REDUCE_TENSOR_MAX}) {
    const auto reduce = make(miopenCreateReduceTensorDescriptor,
                             miopenDestroyReduceTensorDescriptor);
    MIOPEN(miopenSetReduceTensorDescriptor(
        reduce, op, miopenFloat, MIOPEN_PROPAGATE_NAN,
        MIOPEN_REDUCE_TENSOR_FLATTENED_INDICES, MIOPEN_32BIT_INDICES));
  }
}

void UsualObjects::addDescriptors() {
  const auto dropout =
      make(miopenCreateDropoutDescriptor, miopenDestroyDropoutDescriptor);
  MIOPEN(miopenSetDropoutDescriptor(dropout, handle, 0.5f, memory,
                                    sizeof memory, 1, false, true,
                                    MIOPEN_RNG_PSEUDO_XORWOW));
  make(miopenCreateSoftmaxDescriptor, tesseraDestroySoftmaxDescriptor);
  make(miopenCreateMhaDescriptor, tesseraDestroyMhaDescriptor);
  make(miopenCreateCTCLossDescriptor, miopenDestroyCTCLossDescriptor);
  // The input takes no weights, so that the step has as many elements as all
  // weights.
  const auto network =
      make(miopenCreateRNNDescriptor, miopenDestroyRNNDescriptor);
  MIOPEN(miopenSetRNNDescriptor(
      network, 1, 1, miopenRNNskip, miopenRNNunidirection, miopenRNNRELU,
      miopenRNNNoBias, miopenRNNdefault, miopenFloat));
  const auto sequences =
      make(miopenCreateSeqTensorDescriptor, miopenDestroySeqTensorDescriptor);
  const int length = 1;
  MIOPEN(miopenSetRNNDataSeqTensorDescriptor(sequences, miopenFloat,
                                             miopenRNNDataSeqMajorPadded, 1, 1,
                                             1, &length, nullptr));
  make(miopenCreateFindOptions, miopenDestroyFindOptions);
}

void UsualObjects::addSolution() {
  miopenProblem_t problem = nullptr;
  MIOPEN(
      miopenCreateConvProblem(&problem, conv, miopenProblemDirectionForward));
  add(problem);
  cleanups.emplace_back([=] { MIOPEN(miopenDestroyProblem(problem)); });
  const std::pair<miopenTensorArgumentId_t, miopenTensorDescriptor_t>
      tensors[] = {{miopenTensorConvolutionX, image},
                   {miopenTensorConvolutionW, filter},
                   {miopenTensorConvolutionY, image}};
  for (auto [id, tensor] : tensors)
    MIOPEN(miopenSetProblemTensorDescriptor(problem, id, tensor));
  miopenSolution_t solution = nullptr;
  MIOPEN(miopenFindSolutions(handle, problem, nullptr, &solution, nullptr, 1));
  add(solution);
  cleanups.emplace_back([=] { MIOPEN(miopenDestroySolution(solution)); });
  size_t size = 0;
  MIOPEN(miopenGetSolutionSize(solution, &size));
  savedSolution.resize(size);
  MIOPEN(miopenSaveSolution(solution, savedSolution.data()));
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

miopenFusionPlanDescriptor_t UsualObjects::addPlan() {
  miopenFusionPlanDescriptor_t plan = nullptr;
  MIOPEN(miopenCreateFusionPlan(&plan, miopenVerticalFusion, image));
  add(plan);
  cleanups.emplace_back([=] { MIOPEN(miopenDestroyFusionPlan(plan)); });
  return plan;
}

void UsualObjects::addConvolutionPlan() {
  const miopenFusionPlanDescriptor_t plan = addPlan();
  miopenFusionOpDescriptor_t op = nullptr;
  MIOPEN(miopenCreateOpConvForward(plan, &op, conv, filter));
  MIOPEN(miopenSetOpArgsConvForward(args, op, &one, &zero, memory));
  add(op);
  MIOPEN(miopenCreateOpBiasForward(plan, &op, parameters));
  MIOPEN(miopenSetOpArgsBiasForward(args, op, &one, &zero, memory));
  add(op);
  MIOPEN(miopenCreateOpActivationForward(plan, &op, miopenActivationRELU));
  MIOPEN(miopenSetOpArgsActivForward(args, op, &one, &zero, 0, 0, 0));
  add(op);
  MIOPEN(miopenCompileFusionPlan(handle, plan));
}

void UsualObjects::addNormPlans() {
  miopenFusionOpDescriptor_t op = nullptr;
  miopenFusionPlanDescriptor_t plan = addPlan();
  MIOPEN(
      miopenCreateOpBatchNormInference(plan, &op, miopenBNSpatial, parameters));
  MIOPEN(miopenSetOpArgsBatchNormInference(args, op, &one, &zero, memory,
                                           memory, memory, memory, 1e-5));
  add(op);
  MIOPEN(miopenCompileFusionPlan(handle, plan));

  plan = addPlan();
  MIOPEN(miopenCreateOpBatchNormForward(plan, &op, miopenBNSpatial, true));
  MIOPEN(miopenSetOpArgsBatchNormForward(args, op, &one, &zero, memory, memory,
                                         memory + 1, memory + 2, memory + 3,
                                         memory + 4, 0.1, 1e-5));
  add(op);
  MIOPEN(miopenCompileFusionPlan(handle, plan));

  plan = addPlan();
  MIOPEN(miopenCreateOpBatchNormBackward(plan, &op, miopenBNSpatial));
  MIOPEN(miopenSetOpArgsBatchNormBackward(args, op, &one, &zero, memory, memory,
                                          memory, memory + 1, memory + 2,
                                          memory, memory));
  add(op);
  MIOPEN(miopenCreateOpActivationBackward(plan, &op, miopenActivationRELU));
  MIOPEN(miopenSetOpArgsActivBackward(args, op, &one, &zero, memory, memory, 0,
                                      0, 0));
  add(op);
  MIOPEN(miopenCompileFusionPlan(handle, plan));
}
