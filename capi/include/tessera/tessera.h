/*===- tessera.h - What Tessera adds to MIOpen's API ---------------------===*\
|*
|* Three questions that MIOpen cannot answer: why did the last call fail, what
|* has the library compiled so far, and what is the kernel for a problem like.
|* Structs begin with their size, so that a later release can add fields
|* without breaking clients.
|*
\*===----------------------------------------------------------------------===*/

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
#define TESSERA_VERSION_MINOR 1
#define TESSERA_VERSION_PATCH 0

/**
 * One sentence about the last failure on the calling thread.
 *
 * A successful call leaves the text as it is. Costs a thread-local load.
 *
 * @return  Empty if nothing has failed yet. Valid until the next failure on
 *          this thread.
 *
 * @par Threads
 *   Any; each has its own text.
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
} tesseraCounters;
#define TESSERA_COUNTERS_INIT {sizeof(tesseraCounters), 0, 0, 0, 0, 0}

/**
 * Reads the counters of the process. All are 0 before the first handle.
 *
 * Costs four loads.
 *
 * @param[in,out] counters  Start from #TESSERA_COUNTERS_INIT.
 *
 * @retval miopenStatusSuccess  `*counters` is set.
 * @retval miopenStatusBadParm  `counters` is NULL, or its `structSize` is not
 *                              one that we know.
 *
 * @par Threads
 *   Any; the four numbers are not read in one instant.
 * @since 0.1
 */
MIOPEN_EXPORT miopenStatus_t tesseraGetCounters(tesseraCounters *counters);

/** Where a kernel came from when this process first needed it. */
typedef enum {
  tesseraKernelCompiled = 0,
  tesseraKernelFromDatabase = 1
} tesseraKernelOrigin_t;

/** Room in tesseraKernelInfo for names and stages. */
#define TESSERA_MAX_STAGES 16
#define TESSERA_NAME_BYTES 32
#define TESSERA_TILE_BYTES 128

/** Wall time of one stage of a compilation. */
typedef struct tesseraStageTime {
  char name[TESSERA_NAME_BYTES]; /**< "dnn", "tiled", ... "object". */
  double timeMs;
} tesseraStageTime;

/** The kernel for a problem. Texts end with a zero byte. */
typedef struct tesseraKernelInfo {
  uint32_t structSize; /**< sizeof(tesseraKernelInfo), set by the caller. */
  tesseraKernelOrigin_t origin;
  uint64_t codeObjectBytes;
  uint64_t workspaceBytes;
  uint32_t vgprs; /**< Vector registers of a lane, accumulators included. */
  uint32_t agprs; /**< Accumulation registers among them. */
  uint32_t sgprs; /**< Scalar registers of a wave. */
  uint32_t vgprSpills;
  uint32_t sgprSpills;
  uint32_t ldsBytes;     /**< Of one workgroup. */
  uint32_t scratchBytes; /**< Of one lane. */
  uint32_t stageCount;   /**< Entries of `stages`; 0 if it was not compiled by
                              this process. */
  char tile[TESSERA_TILE_BYTES]; /**< Canonical text of the tile. */
  tesseraStageTime stages[TESSERA_MAX_STAGES];
} tesseraKernelInfo;

/**
 * Tells what the kernel for a forward convolution is like.
 *
 * Compiles the kernel if it is in no cache, as miopenConvolutionForward()
 * would; launches nothing.
 *
 * @param         handle    Supplies the device.
 * @param         xDesc     Input.
 * @param         wDesc     Filter.
 * @param         convDesc  The convolution.
 * @param         yDesc     Output.
 * @param[in,out] info      Set `structSize` to sizeof(tesseraKernelInfo) first.
 *
 * @retval miopenStatusSuccess         `*info` is set.
 * @retval miopenStatusBadParm         A pointer is NULL, `structSize` is not
 * one that we know, or the problem is inconsistent (convolution_forward.h).
 * @retval miopenStatusNotImplemented  No kernel covers the problem.
 * @retval miopenStatusInternalError   Compiler or driver failed.
 *
 * @par Threads
 *   Calls on one handle must not overlap.
 * @since 0.1
 */
MIOPEN_EXPORT miopenStatus_t tesseraGetConvolutionForwardKernelInfo(
    miopenHandle_t handle, const miopenTensorDescriptor_t xDesc,
    const miopenTensorDescriptor_t wDesc,
    const miopenConvolutionDescriptor_t convDesc,
    const miopenTensorDescriptor_t yDesc, tesseraKernelInfo *info);

/**
 * Destroys what miopenCreateSoftmaxDescriptor() made; MIOpen has no function
 * that does.
 *
 * @param softmaxDesc  Not usable afterwards.
 *
 * @retval miopenStatusSuccess  The descriptor is gone.
 * @retval miopenStatusBadParm  `softmaxDesc` is NULL.
 *
 * @par Threads
 *   Nobody else may use the descriptor meanwhile.
 * @since 0.1
 */
MIOPEN_EXPORT miopenStatus_t
tesseraDestroySoftmaxDescriptor(miopenSoftmaxDescriptor_t softmaxDesc);

/**
 * Destroys what miopenCreateMhaDescriptor() made. As
 * tesseraDestroySoftmaxDescriptor() otherwise.
 *
 * @param mhaDesc  Not usable afterwards.
 *
 * @retval miopenStatusSuccess  The descriptor is gone.
 * @retval miopenStatusBadParm  `mhaDesc` is NULL.
 *
 * @par Threads
 *   Nobody else may use the descriptor meanwhile.
 * @since 0.1
 */
MIOPEN_EXPORT miopenStatus_t
tesseraDestroyMhaDescriptor(miopenMhaDescriptor_t mhaDesc);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_TESSERA_H */
