/*===- find2.h - Find 2.0: problems, solutions and how to keep them ------===*\
|*
|* A problem is an operation, a direction and its tensors.
|* miopenFindSolutions() answers with solutions, which are run by tensor names
|* and can be saved: the bytes carry the machine code, so that another process
|* on the same kind of chip runs them without a compiler. They are read only by
|* releases that know their version.
|*
|* Problems of convolutions have solutions. Others can be made and described,
|* and miopenFindSolutions() answers miopenStatusNotImplemented for them.
|*
\*===----------------------------------------------------------------------===*/

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

MIOPEN_DECLARE_OBJECT(miopenMhaDescriptor);
MIOPEN_DECLARE_OBJECT(miopenProblem);
MIOPEN_DECLARE_OBJECT(miopenFindOptions);
MIOPEN_DECLARE_OBJECT(miopenSolution);

/** The value of a scalar's name. C wants enumerators to be ints, C++ takes the
 *  type that fits; the bits are the same. */
#ifdef __cplusplus
#define MIOPEN_SCALAR_ARGUMENT(number) ((1U << 31) | number)
#else
#define MIOPEN_SCALAR_ARGUMENT(number) (-2147483647 - 1 + number)
#endif

typedef enum {
  miopenProblemDirectionForward = 0,
  miopenProblemDirectionBackward = 1,
  miopenProblemDirectionBackwardWeights = 2,
#ifdef MIOPEN_BETA_API
  miopenProblemDirectionInference = 4
#endif
} miopenProblemDirection_t;

typedef enum {
  miopenTensorArgumentIdInvalid = 0,
  miopenTensorConvolutionX = 1,
  miopenTensorConvolutionW = 2,
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
  miopenTensorSoftmaxX = 44,
  miopenTensorSoftmaxY = 45,
  miopenTensorSoftmaxDX = 46,
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
  miopenTensorArgumentIsScalar = MIOPEN_SCALAR_ARGUMENT(0),
  miopenTensorMhaMask = MIOPEN_SCALAR_ARGUMENT(1),
#ifdef MIOPEN_BETA_API
  miopenScalarBatchnormExpAvgFactor = MIOPEN_SCALAR_ARGUMENT(2),
  miopenScalarBatchnormEpsilon = MIOPEN_SCALAR_ARGUMENT(3)
#endif
} miopenTensorArgumentId_t;

typedef enum {
  miopenFindResultsOrderByTime = 0,
  miopenFindResultsOrderByWorkspaceSize = 1
} miopenFindResultsOrder_t;

typedef enum { miopenMhaMaskNone = 0, miopenMhaMaskCausal = 1 } miopenMhaMask_t;

/**
 * Creates the problem of a convolution, whose descriptor is copied. Release it
 * with miopenDestroyProblem().
 *
 * @retval miopenStatusSuccess  `*problem` is usable.
 * @retval miopenStatusBadParm  A pointer is NULL, or the direction is unknown
 * or miopenProblemDirectionInference.
 */
MIOPEN_EXPORT miopenStatus_t miopenCreateConvProblem(
    miopenProblem_t *problem, miopenConvolutionDescriptor_t operatorDesc,
    miopenProblemDirection_t direction);

/** Creates the problem of an attention, for which there is no solution. */
MIOPEN_EXPORT miopenStatus_t miopenCreateMhaProblem(
    miopenProblem_t *problem, miopenMhaDescriptor_t operatorDesc,
    miopenProblemDirection_t direction);

/**
 * Creates the descriptor of an attention. MIOpen has no function to destroy
 * one; tesseraDestroyMhaDescriptor() (tessera/tessera.h) does.
 */
MIOPEN_EXPORT miopenStatus_t
miopenCreateMhaDescriptor(miopenMhaDescriptor_t *mhaDesc);

/** Sets the factor of the scores. */
MIOPEN_EXPORT miopenStatus_t
miopenSetMhaDescriptor(miopenMhaDescriptor_t mhaDesc, float scale);

/** Reads it. */
MIOPEN_EXPORT miopenStatus_t
miopenGetMhaDescriptor(miopenMhaDescriptor_t mhaDesc, float *scale);

/** Destroys a problem; its solutions stay usable. */
MIOPEN_EXPORT miopenStatus_t miopenDestroyProblem(miopenProblem_t problem);

/**
 * Describes one tensor of a problem. The descriptor is copied; one that was set
 * before is replaced.
 *
 * @retval miopenStatusSuccess  The tensor is described.
 * @retval miopenStatusBadParm  A pointer is NULL, the problem has no such
 * tensor, or the descriptor was never set.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetProblemTensorDescriptor(
    miopenProblem_t problem, miopenTensorArgumentId_t id,
    const miopenTensorDescriptor_t descriptor);

/**
 * Creates options at their defaults: no search, ordered by time, any workspace.
 * Release them with miopenDestroyFindOptions().
 */
MIOPEN_EXPORT miopenStatus_t
miopenCreateFindOptions(miopenFindOptions_t *options);

/** Destroys options; buffers that they name stay. */
MIOPEN_EXPORT miopenStatus_t
miopenDestroyFindOptions(miopenFindOptions_t options);

/**
 * Searches before measuring if `value` is not 0, as `exhaustiveSearch` does
 * in Find 1.0.
 */
MIOPEN_EXPORT miopenStatus_t
miopenSetFindOptionTuning(miopenFindOptions_t options, int value);

/** Orders solutions by time or by workspace; miopenStatusBadParm if unknown. */
MIOPEN_EXPORT miopenStatus_t miopenSetFindOptionResultsOrder(
    miopenFindOptions_t options, miopenFindResultsOrder_t value);

/** Leaves out solutions that need more workspace. */
MIOPEN_EXPORT miopenStatus_t
miopenSetFindOptionWorkspaceLimit(miopenFindOptions_t options, size_t value);

/**
 * Gives memory to work in while solutions are measured; it limits the
 * workspace of solutions to `size`.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetFindOptionPreallocatedWorkspace(
    miopenFindOptions_t options, void *buffer, size_t size);

/** Gives the memory of a tensor for measuring; its elements may be overwritten.
 */
MIOPEN_EXPORT miopenStatus_t miopenSetFindOptionPreallocatedTensor(
    miopenFindOptions_t options, miopenTensorArgumentId_t id, void *buffer);

/**
 * 1 to keep machine code in saved solutions, 0 to leave it out. Kept, without
 * effect: solutions here always carry it.
 */
MIOPEN_EXPORT miopenStatus_t
miopenSetFindOptionAttachBinaries(miopenFindOptions_t options, unsigned attach);

/**
 * Finds solutions and measures them. Compiles what is in no cache; memory that
 * the options do not give is allocated for the time of the call. Waits for the
 * stream.
 *
 * @param      handle        Supplies device and stream.
 * @param      problem       With all of its tensors described.
 * @param      options       May be NULL, meaning the defaults.
 * @param[out] solutions     Room for `maxSolutions`; each is released with
 *                           miopenDestroySolution().
 * @param[out] numSolutions  How many were written; may be NULL.
 * @param      maxSolutions  At least 1.
 *
 * @retval miopenStatusSuccess         At least one was written.
 * @retval miopenStatusInvalidValue    A tensor of the problem is not described.
 * @retval miopenStatusBadParm         A pointer is NULL, `maxSolutions` is 0,
 * or the tensors do not fit each other.
 * @retval miopenStatusNotImplemented  No kernel covers the problem.
 * @retval miopenStatusUnknownError    No kernel fits into the workspace.
 */
MIOPEN_EXPORT miopenStatus_t miopenFindSolutions(
    miopenHandle_t handle, miopenProblem_t problem, miopenFindOptions_t options,
    miopenSolution_t *solutions, size_t *numSolutions, size_t maxSolutions);

/** Memory of one tensor of a problem. */
typedef struct miopenTensorArgument_t {
  miopenTensorArgumentId_t id;
  miopenTensorDescriptor_t *descriptor; /**< NULL: as in the problem. */
  void *buffer; /**< On the device; of a scalar, on the host. */
} miopenTensorArgument_t;

/**
 * Runs a solution on the stream of the handle, and does not wait.
 *
 * @param handle         Of the kind of device that the solution is for.
 * @param solution       A solution, found or loaded.
 * @param nInputs        Length of `tensors`.
 * @param tensors        Memory of each tensor of the problem, in any order.
 *                       Descriptors must be NULL, or equal to those of the
 * problem.
 * @param workspace      May be NULL if the solution needs none.
 * @param workspaceSize  Its bytes.
 *
 * @retval miopenStatusSuccess       The kernel is on the stream.
 * @retval miopenStatusInvalidValue  A tensor is missing.
 * @retval miopenStatusBadParm       A pointer is NULL, a descriptor differs,
 * the workspace is too small, or the solution is for another kind of device.
 */
MIOPEN_EXPORT miopenStatus_t
miopenRunSolution(miopenHandle_t handle, miopenSolution_t solution,
                  size_t nInputs, const miopenTensorArgument_t *tensors,
                  void *workspace, size_t workspaceSize);

/** Destroys a solution; a kernel that runs goes on. */
MIOPEN_EXPORT miopenStatus_t miopenDestroySolution(miopenSolution_t solution);

/**
 * Reads a solution that was saved; needs no device.
 *
 * @retval miopenStatusSuccess          `*solution` is usable.
 * @retval miopenStatusBadParm          A pointer is NULL.
 * @retval miopenStatusInvalidValue     The bytes are no solution, or damaged.
 * @retval miopenStatusVersionMismatch  They are of a release that wrote another
 *                                      form.
 */
MIOPEN_EXPORT miopenStatus_t miopenLoadSolution(miopenSolution_t *solution,
                                                const char *data, size_t size);

/**
 * Writes a solution.
 *
 * @param solution  The solution.
 * @param data      Room for the bytes that miopenGetSolutionSize() names.
 */
MIOPEN_EXPORT miopenStatus_t miopenSaveSolution(miopenSolution_t solution,
                                                char *data);

/** Bytes of a saved solution. */
MIOPEN_EXPORT miopenStatus_t miopenGetSolutionSize(miopenSolution_t solution,
                                                   size_t *size);

/** Bytes of workspace. */
MIOPEN_EXPORT miopenStatus_t miopenGetSolutionWorkspaceSize(
    miopenSolution_t solution, size_t *workspaceSize);

/** Milliseconds of one run, as measured when it was found. */
MIOPEN_EXPORT miopenStatus_t miopenGetSolutionTime(miopenSolution_t solution,
                                                   float *time);

/** The id of the solution in immediate mode. */
MIOPEN_EXPORT miopenStatus_t
miopenGetSolutionSolverId(miopenSolution_t solution, uint64_t *solverId);

/** The family of an id; miopenStatusBadParm if there is no such id. */
MIOPEN_EXPORT miopenStatus_t miopenGetSolverIdConvAlgorithm(
    uint64_t solverId, miopenConvAlgorithm_t *result);

#ifdef MIOPEN_BETA_API

/** Creates the problem of an activation, for which there is no solution. */
MIOPEN_EXPORT miopenStatus_t miopenCreateActivationProblem(
    miopenProblem_t *problem, miopenActivationDescriptor_t operatorDesc,
    miopenProblemDirection_t direction);

/** Creates the problem of a batch normalisation, for which there is no
 * solution. */
MIOPEN_EXPORT miopenStatus_t miopenCreateBatchnormProblem(
    miopenProblem_t *problem, miopenBatchNormMode_t mode,
    bool runningMeanVariance, miopenProblemDirection_t direction);

/**
 * Appends the second problem to the first. There is no solution for the
 * result.
 */
MIOPEN_EXPORT miopenStatus_t miopenFuseProblems(miopenProblem_t problem1,
                                                miopenProblem_t problem2);

/** Creates the problem of a bias, for which there is no solution. */
MIOPEN_EXPORT miopenStatus_t miopenCreateBiasProblem(
    miopenProblem_t *problem, miopenProblemDirection_t direction);

/**
 * Creates the problem of a softmax: forward with the tensors X and Y, backward
 * with Y, DY and DX. The descriptor is copied.
 */
MIOPEN_EXPORT miopenStatus_t miopenCreateSoftmaxProblem(
    miopenProblem_t *problem, miopenSoftmaxDescriptor_t operatorDesc,
    miopenProblemDirection_t direction);

#endif /* MIOPEN_BETA_API */

#ifdef __cplusplus
}
#endif

#endif /* MIOPEN_FIND2_H */
