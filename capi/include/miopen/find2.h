/*===- find2.h - Find 2.0: problems, solutions and how to keep them -------===*/
/**
 * @file
 * A problem is an operation, a direction and its tensors. miopenFindSolutions()
 * returns solutions, which are run with tensors by id and can be saved: the
 * bytes carry the machine code, so that another process on the same chip runs
 * them without a compiler. They are read only by releases that know their
 * version.
 *
 * Problems of convolutions and of softmax have solutions. Others can be created
 * and described, and miopenFindSolutions() returns miopenStatusNotImplemented
 * for them.
 */

#ifndef MIOPEN_FIND2_H
#define MIOPEN_FIND2_H

#include <miopen/activation.h>
#include <miopen/batchnorm.h>
#include <miopen/convolution.h>
#include <miopen/export.h>
#include <miopen/handle.h>
#include <miopen/softmax.h>
#include <miopen/tensor.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A multi-head attention. */
MIOPEN_DECLARE_OBJECT(miopenMhaDescriptor);
/** An operation, a direction and tensors. */
MIOPEN_DECLARE_OBJECT(miopenProblem);
/** How miopenFindSolutions() searches and measures. */
MIOPEN_DECLARE_OBJECT(miopenFindOptions);
/** A kernel for a problem, with its time and workspace. */
MIOPEN_DECLARE_OBJECT(miopenSolution);

/** The id of a scalar, which has the highest bit. In C an enumerator must be an
 *  int, in C++ it has the type that fits; the bits are the same. */
#ifdef __cplusplus
#define MIOPEN_SCALAR_ARGUMENT(number) ((1U << 31) | number)
#else
#define MIOPEN_SCALAR_ARGUMENT(number) (-2147483647 - 1 + number)
#endif

/** Direction of an operation. */
typedef enum {
  /** The operation itself. */
  miopenProblemDirectionForward = 0,
  /** The gradient of its input. */
  miopenProblemDirectionBackward = 1,
  /** The gradient of its weights. */
  miopenProblemDirectionBackwardWeights = 2,
#ifdef MIOPEN_BETA_API
  /** Forward without training; unknown to convolutions. */
  miopenProblemDirectionInference = 4
#endif
} miopenProblemDirection_t;

/** The tensors and scalars of problems. Only convolutions and softmax have
 *  solutions. The ids of attention (Mha), activation, bias and batch
 *  normalisation can be described, and are otherwise here for source
 *  compatibility. */
typedef enum {
  /** Names no tensor. */
  miopenTensorArgumentIdInvalid = 0,
  /** Input of a convolution, or its gradient. */
  miopenTensorConvolutionX = 1,
  /** Filter of a convolution, or its gradient. */
  miopenTensorConvolutionW = 2,
  /** Output of a convolution, or its gradient. */
  miopenTensorConvolutionY = 3,
  miopenTensorMhaK = 4,
  miopenTensorMhaQ = 5,
  miopenTensorMhaV = 6,
  miopenTensorMhaDescaleK = 7,
  miopenTensorMhaDescaleQ = 8,
  miopenTensorMhaDescaleV = 9,
  miopenTensorMhaDescaleS = 10,
  miopenTensorMhaScaleS = 11,
  miopenTensorMhaScaleO = 12,
  miopenTensorMhaDropoutProbability = 13,
  miopenTensorMhaDropoutSeed = 14,
  miopenTensorMhaDropoutOffset = 15,
  miopenTensorMhaO = 16,
  miopenTensorMhaAmaxO = 17,
  miopenTensorMhaAmaxS = 18,
  miopenTensorMhaM = 19,
  miopenTensorMhaZInv = 20,
  miopenTensorMhaDO = 21,
  miopenTensorMhaDescaleO = 22,
  miopenTensorMhaDescaleDO = 23,
  miopenTensorMhaDescaleDS = 24,
  miopenTensorMhaScaleDS = 25,
  miopenTensorMhaScaleDQ = 26,
  miopenTensorMhaScaleDK = 27,
  miopenTensorMhaScaleDV = 28,
  miopenTensorMhaDQ = 29,
  miopenTensorMhaDK = 30,
  miopenTensorMhaDV = 31,
  miopenTensorMhaAmaxDQ = 32,
  miopenTensorMhaAmaxDK = 33,
  miopenTensorMhaAmaxDV = 34,
  miopenTensorMhaAmaxDS = 35,
  miopenTensorMhaBias = 36,
#ifdef MIOPEN_BETA_API
  miopenTensorActivationX = 37,
  miopenTensorActivationY = 38,
  miopenTensorActivationDX = 39,
  miopenTensorActivationDY = 40,
  miopenTensorBiasX = 41,
  miopenTensorBiasY = 42,
  miopenTensorBias = 43,
  /** Input of a softmax. */
  miopenTensorSoftmaxX = 44,
  /** Output of a softmax. */
  miopenTensorSoftmaxY = 45,
  /** Gradient of the input of a softmax. */
  miopenTensorSoftmaxDX = 46,
  /** Gradient of the output of a softmax. */
  miopenTensorSoftmaxDY = 47,
  miopenTensorBatchnormX = 48,
  miopenTensorBatchnormY = 49,
  miopenTensorBatchnormRunningMean = 50,
  miopenTensorBatchnormRunningVariance = 51,
  miopenTensorBatchnormSavedMean = 52,
  miopenTensorBatchnormSavedVariance = 53,
  miopenTensorBatchnormScale = 54,
  miopenTensorBatchnormScaleDiff = 55,
  miopenTensorBatchnormEstimatedMean = 56,
  miopenTensorBatchnormEstimatedVariance = 57,
  miopenTensorBatchnormBias = 58,
  miopenTensorBatchnormBiasDiff = 59,
  miopenTensorBatchnormDX = 60,
  miopenTensorBatchnormDY = 61,
#endif
  /** The bit that the ids of scalars have. */
  miopenTensorArgumentIsScalar = MIOPEN_SCALAR_ARGUMENT(0),
  miopenTensorMhaMask = MIOPEN_SCALAR_ARGUMENT(1),
#ifdef MIOPEN_BETA_API
  miopenScalarBatchnormExpAvgFactor = MIOPEN_SCALAR_ARGUMENT(2),
  miopenScalarBatchnormEpsilon = MIOPEN_SCALAR_ARGUMENT(3)
#endif
} miopenTensorArgumentId_t;

/** Order of solutions. */
typedef enum {
  /** The fastest first. */
  miopenFindResultsOrderByTime = 0,
  /** The smallest workspace first. */
  miopenFindResultsOrderByWorkspaceSize = 1
} miopenFindResultsOrder_t;

/** Mask of an attention, which has no solution. */
typedef enum {
  miopenMhaMaskNone = 0,  /**< Every score counts. */
  miopenMhaMaskCausal = 1 /**< Scores of later positions do not count. */
} miopenMhaMask_t;

/**
 * Creates the problem of a convolution.
 *
 * @param[out] problem       Owned by the caller: release it with
 *                           miopenDestroyProblem().
 * @param[in]  operatorDesc  The convolution; it is copied.
 * @param[in]  direction     Forward, backward or backward weights.
 *
 * @retval miopenStatusSuccess      `*problem` is usable.
 * @retval miopenStatusBadParm      A pointer is NULL, or the direction is
 *                                  unknown or miopenProblemDirectionInference.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `operatorDesc`.
 */
MIOPEN_EXPORT miopenStatus_t miopenCreateConvProblem(
    miopenProblem_t *problem, miopenConvolutionDescriptor_t operatorDesc,
    miopenProblemDirection_t direction);

/**
 * Creates the problem of an attention, which has no solution.
 *
 * @param[out] problem       Owned by the caller: release it with
 *                           miopenDestroyProblem().
 * @param[in]  operatorDesc  The attention.
 * @param[in]  direction     Direction of the operation.
 *
 * @retval miopenStatusSuccess      `*problem` is usable.
 * @retval miopenStatusBadParm      A pointer is NULL, or the direction is
 *                                  unknown.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `operatorDesc`.
 */
MIOPEN_EXPORT miopenStatus_t miopenCreateMhaProblem(
    miopenProblem_t *problem, miopenMhaDescriptor_t operatorDesc,
    miopenProblemDirection_t direction);

/**
 * Creates the descriptor of an attention, with a scale of 1.
 *
 * @param[out] mhaDesc  Owned by the caller: release it with
 *                      tesseraDestroyMhaDescriptor() (tessera/tessera.h),
 *                      because MIOpen has no function for that.
 *
 * @retval miopenStatusSuccess      `*mhaDesc` is usable.
 * @retval miopenStatusBadParm      `mhaDesc` is NULL.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Any thread, at any time.
 */
MIOPEN_EXPORT miopenStatus_t
miopenCreateMhaDescriptor(miopenMhaDescriptor_t *mhaDesc);

/**
 * Sets the scale of the scores of an attention.
 *
 * @param[in,out] mhaDesc  The descriptor to set.
 * @param[in]     scale    Multiplies the scores.
 *
 * @retval miopenStatusSuccess  The scale is set.
 * @retval miopenStatusBadParm  `mhaDesc` is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `mhaDesc` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t
miopenSetMhaDescriptor(miopenMhaDescriptor_t mhaDesc, float scale);

/**
 * Reads the scale of the scores of an attention.
 *
 * @param[in]  mhaDesc  The descriptor to read.
 * @param[out] scale    The scale.
 *
 * @retval miopenStatusSuccess  `*scale` is set.
 * @retval miopenStatusBadParm  A pointer is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `mhaDesc`.
 */
MIOPEN_EXPORT miopenStatus_t
miopenGetMhaDescriptor(miopenMhaDescriptor_t mhaDesc, float *scale);

/**
 * Destroys a problem. Its solutions stay usable.
 *
 * @param[in] problem  Not usable afterwards.
 *
 * @retval miopenStatusSuccess  The problem is destroyed.
 * @retval miopenStatusBadParm  `problem` is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `problem` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenDestroyProblem(miopenProblem_t problem);

/**
 * Describes one tensor of a problem. A description that was set before is
 * replaced.
 *
 * @param[in,out] problem     The problem to change.
 * @param[in]     id          The tensor.
 * @param[in]     descriptor  Data type, lengths and strides of the tensor;
 *                            copied.
 *
 * @retval miopenStatusSuccess      The tensor is described.
 * @retval miopenStatusBadParm      A pointer is NULL, the problem has no such
 *                                  tensor or is a fused one, or the descriptor
 *                                  was never set.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `problem` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetProblemTensorDescriptor(
    miopenProblem_t problem, miopenTensorArgumentId_t id,
    const miopenTensorDescriptor_t descriptor);

/**
 * Creates options with their defaults: no search, ordered by time, any
 * workspace.
 *
 * @param[out] options  Owned by the caller: release them with
 *                      miopenDestroyFindOptions().
 *
 * @retval miopenStatusSuccess      `*options` is usable.
 * @retval miopenStatusBadParm      `options` is NULL.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Any thread, at any time.
 */
MIOPEN_EXPORT miopenStatus_t
miopenCreateFindOptions(miopenFindOptions_t *options);

/**
 * Destroys options. Device memory that they name stays.
 *
 * @param[in] options  Not usable afterwards.
 *
 * @retval miopenStatusSuccess  The options are destroyed.
 * @retval miopenStatusBadParm  `options` is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `options` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t
miopenDestroyFindOptions(miopenFindOptions_t options);

/**
 * Chooses whether miopenFindSolutions() tunes a convolution before it measures,
 * as `exhaustiveSearch` does in Find 1.0.
 *
 * @param[in,out] options  The options to change.
 * @param[in]     value    0 for no, any other number for yes.
 *
 * @retval miopenStatusSuccess  The option is set.
 * @retval miopenStatusBadParm  `options` is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `options` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t
miopenSetFindOptionTuning(miopenFindOptions_t options, int value);

/**
 * Orders solutions by time or by workspace. There is one solution for each
 * problem, so that both orders give the same list.
 *
 * @param[in,out] options  The options to change.
 * @param[in]     value    The order.
 *
 * @retval miopenStatusSuccess  The order is accepted.
 * @retval miopenStatusBadParm  `options` is NULL, or the order is unknown.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `options` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetFindOptionResultsOrder(
    miopenFindOptions_t options, miopenFindResultsOrder_t value);

/**
 * Leaves out solutions that need more workspace.
 *
 * @param[in,out] options  The options to change.
 * @param[in]     value    Bytes.
 *
 * @retval miopenStatusSuccess  The limit is set.
 * @retval miopenStatusBadParm  `options` is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `options` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t
miopenSetFindOptionWorkspaceLimit(miopenFindOptions_t options, size_t value);

/**
 * Gives workspace for the measurement, and limits the workspace of solutions to
 * its size.
 *
 * @param[in,out] options  The options to change.
 * @param[in]     buffer   Device memory, which must stay valid as long as the
 *                         options are used; NULL: miopenFindSolutions()
 *                         allocates.
 * @param[in]     size     Size of `buffer` in bytes.
 *
 * @retval miopenStatusSuccess  The workspace is recorded.
 * @retval miopenStatusBadParm  `options` is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `options` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetFindOptionPreallocatedWorkspace(
    miopenFindOptions_t options, void *buffer, size_t size);

/**
 * Gives the memory of a tensor for the measurement, which may overwrite it.
 *
 * @param[in,out] options  The options to change.
 * @param[in]     id       The tensor.
 * @param[in]     buffer   Device memory, which must stay valid as long as the
 *                         options are used; NULL: miopenFindSolutions()
 *                         allocates.
 *
 * @retval miopenStatusSuccess      The memory is recorded.
 * @retval miopenStatusBadParm      `options` is NULL.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `options` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetFindOptionPreallocatedTensor(
    miopenFindOptions_t options, miopenTensorArgumentId_t id, void *buffer);

/**
 * Chooses whether saved solutions carry machine code. They always do: the
 * choice has no effect.
 *
 * @param[in,out] options  The options to change.
 * @param[in]     attach   0 or 1.
 *
 * @retval miopenStatusSuccess  The choice is accepted.
 * @retval miopenStatusBadParm  `options` is NULL, or `attach` is above 1.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `options` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t
miopenSetFindOptionAttachBinaries(miopenFindOptions_t options, unsigned attach);

/**
 * Finds the solution of a problem and measures its time.
 *
 * The time is measured at the first call of the process for the problem, or
 * when tuning is asked for; memory that the options do not give is allocated
 * for the time of the call. Later calls return the same time and launch
 * nothing.
 *
 * @param[in]  handle        Supplies the device and the stream.
 * @param[in]  problem       All of its tensors must be described.
 * @param[in]  options       NULL means the defaults.
 * @param[out] solutions     At least one element; the solution is released with
 *                           miopenDestroySolution().
 * @param[out] numSolutions  Number of solutions that were written: 1; may be
 *                           NULL.
 * @param[in]  maxSolutions  Capacity of `solutions`, at least 1.
 *
 * @retval miopenStatusSuccess         One solution was written.
 * @retval miopenStatusInvalidValue    A tensor of the problem is not described.
 * @retval miopenStatusBadParm         A pointer is NULL, `maxSolutions` is 0,
 *                                     or the tensors do not fit each other or
 *                                     the operation.
 * @retval miopenStatusUnknownError    The kernel needs more workspace than the
 *                                     options allow.
 * @retval miopenStatusNotImplemented  The problem is fused, or neither a
 *                                     convolution nor a softmax, or no kernel
 *                                     covers it.
 * @retval miopenStatusAllocFailed     Host or device memory ran out.
 * @retval miopenStatusInternalError   The compiler, the driver or the device
 *                                     failed.
 * @retval miopenStatusGpuOperationsSkipped  MIOPEN_DEBUG_COMPILE_ONLY is set:
 *                                     nothing was launched.
 *
 * @par Cost
 *   Compiles on first use, then launches several times and waits for the
 *   results.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 */
MIOPEN_EXPORT miopenStatus_t miopenFindSolutions(
    miopenHandle_t handle, miopenProblem_t problem, miopenFindOptions_t options,
    miopenSolution_t *solutions, size_t *numSolutions, size_t maxSolutions);

/** Memory of one tensor of a problem. */
typedef struct miopenTensorArgument_t {
  miopenTensorArgumentId_t id;          /**< The tensor or scalar. */
  miopenTensorDescriptor_t *descriptor; /**< NULL means that of the problem. */
  void *buffer; /**< Device memory; for a scalar, host memory. */
} miopenTensorArgument_t;

/**
 * Runs a solution.
 *
 * @param[in]     handle         Supplies the device, of the chip that the
 *                               solution is for, and the stream.
 * @param[in]     solution       A solution, found or loaded.
 * @param[in]     nInputs        Length of `tensors`.
 * @param[in]     tensors        Device memory of each tensor of the problem, in
 *                               any order. A descriptor must be NULL or equal
 *                               to that of the problem.
 * @param[in,out] workspace      Device memory; may be NULL if the solution
 *                               needs none.
 * @param[in]     workspaceSize  Size of `workspace` in bytes; more than needed
 *                               is fine.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusInvalidValue    A tensor is missing, or its memory is
 *                                     NULL.
 * @retval miopenStatusBadParm         A pointer is NULL, the problem has no
 *                                     such tensor, a descriptor differs, the
 *                                     workspace is too small, or the solution
 *                                     is for another chip.
 * @retval miopenStatusNotImplemented  A tensor is not aligned as the kernel
 *                                     needs it, and there is no other kernel
 *                                     for it.
 * @retval miopenStatusAllocFailed     Host or device memory ran out.
 * @retval miopenStatusInternalError   The driver, the device or, for unaligned
 *                                     tensors, the compiler failed.
 * @retval miopenStatusGpuOperationsSkipped  MIOPEN_DEBUG_COMPILE_ONLY is set:
 *                                     nothing was launched.
 *
 * @par Cost
 *   Loads on first use, then launches; does not wait for the device.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap. A
 *   solution may be run on several handles at the same time.
 */
MIOPEN_EXPORT miopenStatus_t
miopenRunSolution(miopenHandle_t handle, miopenSolution_t solution,
                  size_t nInputs, const miopenTensorArgument_t *tensors,
                  void *workspace, size_t workspaceSize);

/**
 * Destroys a solution and unloads its kernel.
 *
 * @param[in] solution  Not usable afterwards. Its kernel must have finished
 *                      wherever it was run.
 *
 * @retval miopenStatusSuccess  The solution is destroyed.
 * @retval miopenStatusBadParm  `solution` is NULL.
 *
 * @par Cost
 *   Host only, except that the driver unloads the kernel of a solution that was
 *   run.
 *
 * @par Threads
 *   Exclusive: no other call may use `solution` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenDestroySolution(miopenSolution_t solution);

/**
 * Reads a solution that was saved. Needs no device.
 *
 * @param[out] solution  Owned by the caller: release it with
 *                       miopenDestroySolution().
 * @param[in]  data      `size` bytes that miopenSaveSolution() wrote.
 * @param[in]  size      Bytes.
 *
 * @retval miopenStatusSuccess         `*solution` is usable.
 * @retval miopenStatusBadParm         A pointer is NULL.
 * @retval miopenStatusInvalidValue    The bytes are no solution, or they are
 *                                     damaged.
 * @retval miopenStatusVersionMismatch  They were written by a release with
 *                                     another format.
 * @retval miopenStatusAllocFailed     Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Any thread, at any time.
 */
MIOPEN_EXPORT miopenStatus_t miopenLoadSolution(miopenSolution_t *solution,
                                                const char *data, size_t size);

/**
 * Writes a solution.
 *
 * @param[in]  solution  The solution to read.
 * @param[out] data      As many bytes as miopenGetSolutionSize() gives.
 *
 * @retval miopenStatusSuccess      The bytes are written.
 * @retval miopenStatusBadParm      A pointer is NULL.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `solution`.
 */
MIOPEN_EXPORT miopenStatus_t miopenSaveSolution(miopenSolution_t solution,
                                                char *data);

/**
 * Gets the size of a saved solution.
 *
 * @param[in]  solution  The solution to read.
 * @param[out] size      Bytes.
 *
 * @retval miopenStatusSuccess      `*size` is set.
 * @retval miopenStatusBadParm      A pointer is NULL.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `solution`.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetSolutionSize(miopenSolution_t solution,
                                                   size_t *size);

/**
 * Gets the size of the workspace that a solution needs.
 *
 * @param[in]  solution       The solution to read.
 * @param[out] workspaceSize  Bytes; 0 means that `workspace` may be NULL.
 *
 * @retval miopenStatusSuccess  `*workspaceSize` is set.
 * @retval miopenStatusBadParm  A pointer is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `solution`.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetSolutionWorkspaceSize(
    miopenSolution_t solution, size_t *workspaceSize);

/**
 * Gets the time of a solution.
 *
 * @param[in]  solution  The solution to read.
 * @param[out] time      Milliseconds of one run, as measured by
 *                       miopenFindSolutions().
 *
 * @retval miopenStatusSuccess  `*time` is set.
 * @retval miopenStatusBadParm  A pointer is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `solution`.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetSolutionTime(miopenSolution_t solution,
                                                   float *time);

/**
 * Gets the id of a solution, which for a convolution is its id in immediate
 * mode.
 *
 * @param[in]  solution  The solution to read.
 * @param[out] solverId  The id; stable across releases.
 *
 * @retval miopenStatusSuccess  `*solverId` is set.
 * @retval miopenStatusBadParm  A pointer is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `solution`.
 */
MIOPEN_EXPORT miopenStatus_t
miopenGetSolutionSolverId(miopenSolution_t solution, uint64_t *solverId);

/**
 * Gets the algorithm of a solution of a convolution.
 *
 * @param[in]  solverId  The id of the solution.
 * @param[out] result    miopenConvolutionAlgoDirect.
 *
 * @retval miopenStatusSuccess  `*result` is set.
 * @retval miopenStatusBadParm  `result` is NULL, or no convolution has a
 *                              solution with this id.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Any thread, at any time.
 */
MIOPEN_EXPORT miopenStatus_t miopenGetSolverIdConvAlgorithm(
    uint64_t solverId, miopenConvAlgorithm_t *result);

#ifdef MIOPEN_BETA_API

/**
 * Creates the problem of an activation, which has no solution.
 *
 * @param[out] problem       Owned by the caller: release it with
 *                           miopenDestroyProblem().
 * @param[in]  operatorDesc  The activation.
 * @param[in]  direction     Direction of the operation.
 *
 * @retval miopenStatusSuccess      `*problem` is usable.
 * @retval miopenStatusBadParm      A pointer is NULL, or the direction is
 *                                  unknown.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `operatorDesc`.
 */
MIOPEN_EXPORT miopenStatus_t miopenCreateActivationProblem(
    miopenProblem_t *problem, miopenActivationDescriptor_t operatorDesc,
    miopenProblemDirection_t direction);

/**
 * Creates the problem of a batch normalisation, which has no solution.
 *
 * @param[out] problem              Owned by the caller: release it with
 *                                  miopenDestroyProblem().
 * @param[in]  mode                 Which elements share a mean.
 * @param[in]  runningMeanVariance  Not used.
 * @param[in]  direction            Direction of the operation.
 *
 * @retval miopenStatusSuccess      `*problem` is usable.
 * @retval miopenStatusBadParm      `problem` is NULL, or the mode or the
 *                                  direction is unknown.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Any thread, at any time.
 */
MIOPEN_EXPORT miopenStatus_t miopenCreateBatchnormProblem(
    miopenProblem_t *problem, miopenBatchNormMode_t mode,
    bool runningMeanVariance, miopenProblemDirection_t direction);

/**
 * Appends the second problem to the first. The result has no solution.
 *
 * @param[in,out] problem1  The first problem, which becomes the fused one.
 * @param[in]     problem2  The second problem, which stays as it is.
 *
 * @retval miopenStatusSuccess  The problems are fused.
 * @retval miopenStatusBadParm  A pointer is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `problem1` meanwhile.
 */
MIOPEN_EXPORT miopenStatus_t miopenFuseProblems(miopenProblem_t problem1,
                                                miopenProblem_t problem2);

/**
 * Creates the problem of a bias, which has no solution.
 *
 * @param[out] problem    Owned by the caller: release it with
 *                        miopenDestroyProblem().
 * @param[in]  direction  Direction of the operation.
 *
 * @retval miopenStatusSuccess      `*problem` is usable.
 * @retval miopenStatusBadParm      `problem` is NULL, or the direction is
 *                                  unknown.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Any thread, at any time.
 */
MIOPEN_EXPORT miopenStatus_t miopenCreateBiasProblem(
    miopenProblem_t *problem, miopenProblemDirection_t direction);

/**
 * Creates the problem of a softmax: forward with the tensors X and Y, backward
 * with Y, DY and DX.
 *
 * @param[out] problem       Owned by the caller: release it with
 *                           miopenDestroyProblem().
 * @param[in]  operatorDesc  The softmax; it is copied.
 * @param[in]  direction     Direction of the operation.
 *
 * @retval miopenStatusSuccess      `*problem` is usable.
 * @retval miopenStatusBadParm      A pointer is NULL, or the direction is
 *                                  unknown.
 * @retval miopenStatusAllocFailed  Host memory ran out.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Shared: any number of threads, while no other call sets or destroys
 *   `operatorDesc`.
 */
MIOPEN_EXPORT miopenStatus_t miopenCreateSoftmaxProblem(
    miopenProblem_t *problem, miopenSoftmaxDescriptor_t operatorDesc,
    miopenProblemDirection_t direction);

#endif /* MIOPEN_BETA_API */

#ifdef __cplusplus
}
#endif

#endif /* MIOPEN_FIND2_H */
