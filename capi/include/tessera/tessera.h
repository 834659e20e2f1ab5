/*===- tessera.h - What Tessera adds to MIOpen's API ----------------------===*/
/**
 * @file
 * The extensions answer three questions that MIOpen cannot answer: why the last
 * call failed, what the library has compiled so far, and what the kernel for a
 * problem is like. Structs begin with their size, so that a later release can
 * add fields without breaking clients. The paragraphs *Cost* and *Threads* use
 * the words that miopen/miopen.h defines.
 */

#ifndef TESSERA_TESSERA_H
#define TESSERA_TESSERA_H

#include <miopen/miopen.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Release of this library; MIOpen's own numbers are in miopen/version.h. */
#define TESSERA_VERSION_MAJOR 0
/** Minor number of the release. */
#define TESSERA_VERSION_MINOR 1
/** Patch number of the release. */
#define TESSERA_VERSION_PATCH 0

/**
 * Gives the text of the last failure on the calling thread, in one sentence. A
 * successful call leaves the text as it is.
 *
 * @return Empty if nothing has failed yet. Valid until the next failure on this
 *         thread.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Any thread, at any time. Each thread has its own text.
 *
 * @since 0.1
 */
MIOPEN_EXPORT const char *tesseraGetLastErrorMessage(void);

/** What the library has done since the process started. */
typedef struct tesseraCounters {
  uint32_t structSize;   /**< sizeof(tesseraCounters), set by the caller. */
  uint32_t reserved;     /**< 0. */
  uint64_t compiled;     /**< Kernels compiled. */
  uint64_t fromDatabase; /**< Kernels loaded from the kernel database. */
  uint64_t fromMemory;   /**< Calls that found their kernel loaded. */
  uint64_t launched;     /**< Kernels put on a stream. */
  uint64_t generic;      /**< Problems served by a kernel for unknown sizes. */
  uint64_t promoted;     /**< Of these, those with a kernel of their own now. */
} tesseraCounters;
/** Counters of 0. */
#define TESSERA_COUNTERS_INIT {sizeof(tesseraCounters), 0, 0, 0, 0, 0, 0, 0}

/**
 * Reads the counters of the process. All are 0 before the first handle.
 *
 * @param[in,out] counters  Start from #TESSERA_COUNTERS_INIT.
 *
 * @retval miopenStatusSuccess  `*counters` is set.
 * @retval miopenStatusBadParm  `counters` is NULL, or its `structSize` is not
 *                              that of this release.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Any thread, at any time. The numbers are not read at one instant.
 *
 * @since 0.1
 */
MIOPEN_EXPORT miopenStatus_t tesseraGetCounters(tesseraCounters *counters);

/** Where a kernel came from when this process first needed it. */
typedef enum {
  /** This process compiled it. */
  tesseraKernelCompiled = 0,
  /** It was loaded from a database: the kernel database of the user or a
   *  package. */
  tesseraKernelFromDatabase = 1
} tesseraKernelOrigin_t;

/** Capacities of the arrays in tesseraKernelInfo. */
#define TESSERA_MAX_STAGES 16
/** Bytes of the name of a stage. */
#define TESSERA_NAME_BYTES 32
/** Bytes of the text of a tile. */
#define TESSERA_TILE_BYTES 128

/** Wall time of one stage of a compilation. */
typedef struct tesseraStageTime {
  char name[TESSERA_NAME_BYTES]; /**< "dnn", "tiled", ... "object". */
  double timeMs;                 /**< Milliseconds. */
} tesseraStageTime;

/** The kernel for a problem. Texts end with a zero byte. */
typedef struct tesseraKernelInfo {
  uint32_t structSize; /**< sizeof(tesseraKernelInfo), set by the caller. */
  tesseraKernelOrigin_t origin; /**< Where it came from. */
  uint64_t codeObjectBytes;     /**< Size of its machine code. */
  uint64_t workspaceBytes;      /**< Workspace that a launch needs. */
  uint32_t vgprs; /**< Vector registers of a lane, accumulators included. */
  uint32_t agprs; /**< Accumulation registers among them. */
  uint32_t sgprs; /**< Scalar registers of a wave. */
  uint32_t vgprSpills;   /**< Vector registers kept in scratch memory. */
  uint32_t sgprSpills;   /**< Scalar registers kept in vector registers or
                              scratch memory. */
  uint32_t ldsBytes;     /**< LDS of one workgroup. */
  uint32_t scratchBytes; /**< Scratch memory of one lane. */
  uint32_t stageCount;   /**< Entries of `stages`; 0 if it was not compiled by
                              this process. */
  char tile[TESSERA_TILE_BYTES]; /**< Canonical text of the tile. */
  tesseraStageTime stages[TESSERA_MAX_STAGES]; /**< In the order they ran. */
} tesseraKernelInfo;

/**
 * Describes the kernel for a forward convolution, the one that
 * miopenConvolutionForward() runs.
 *
 * @param[in]     handle    Supplies the device.
 * @param[in]     xDesc     Input: N, C, [[D,] H,] W; any strides.
 * @param[in]     wDesc     Filter: K, C / groups, [[Z,] Y,] X; any strides.
 * @param[in]     convDesc  The convolution.
 * @param[in]     yDesc     Output: N, K, [[D,] H,] W; any strides.
 * @param[in,out] info      Set `structSize` to sizeof(tesseraKernelInfo) first.
 *
 * @retval miopenStatusSuccess         `*info` is set.
 * @retval miopenStatusBadParm         A pointer is NULL, `structSize` is not
 *                                     that of this release, or the problem is
 *                                     inconsistent (convolution_forward.h).
 * @retval miopenStatusNotImplemented  No kernel covers the problem.
 * @retval miopenStatusAllocFailed     Host or device memory ran out.
 * @retval miopenStatusInternalError   The compiler, the driver or the device
 *                                     failed.
 *
 * @par Cost
 *   Compiles on first use; launches nothing.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 *
 * @since 0.1
 */
MIOPEN_EXPORT miopenStatus_t tesseraGetConvolutionForwardKernelInfo(
    miopenHandle_t handle, const miopenTensorDescriptor_t xDesc,
    const miopenTensorDescriptor_t wDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t yDesc, tesseraKernelInfo *info);

/**
 * Destroys a descriptor that miopenCreateSoftmaxDescriptor() created; MIOpen
 * has no function for that.
 *
 * @param[in] softmaxDesc  Not usable afterwards.
 *
 * @retval miopenStatusSuccess  The descriptor is destroyed.
 * @retval miopenStatusBadParm  `softmaxDesc` is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `softmaxDesc` meanwhile.
 *
 * @since 0.1
 */
MIOPEN_EXPORT miopenStatus_t
tesseraDestroySoftmaxDescriptor(miopenSoftmaxDescriptor_t softmaxDesc);

/**
 * Destroys a descriptor that miopenCreateMhaDescriptor() created; MIOpen has no
 * function for that.
 *
 * @param[in] mhaDesc  Not usable afterwards.
 *
 * @retval miopenStatusSuccess  The descriptor is destroyed.
 * @retval miopenStatusBadParm  `mhaDesc` is NULL.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Exclusive: no other call may use `mhaDesc` meanwhile.
 *
 * @since 0.1
 */
MIOPEN_EXPORT miopenStatus_t
tesseraDestroyMhaDescriptor(miopenMhaDescriptor_t mhaDesc);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_TESSERA_H */
