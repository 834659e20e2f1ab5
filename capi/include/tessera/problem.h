/*===- problem.h - Run any problem by its name ----------------------------===*/
/**
 * @file
 * Everything that the library computes has a canonical text, the network config
 * that is the key of its databases and appears in its messages:
 *
 * @verbatim
 * conv-fwd-f16-nhwc,nhwc,nhwc-n64c256h14w14-k256y3x3-p1x1-s1x1-d1x1-g1
 * conv-bwd-f32-ncdhw,ncdhw,ncdhw-n1c8d4h9w9-k8z3y3x3-p1x1x1-s1x1x1-d1x1x1-g1
 * conv-fwd-f16-nhwc,nhwc,nhwc-n1c8h9w9-k8y3x3-p1:0x2-s1x1-d1x1-g1
 * conv-fwd-i8,f32-nhwc,nhwc,nhwc-n1c8h9w9-k8y1x1-p0x0-s1x1-d1x1-g1-ebias+relu
 * conv-fwd-bf16-nhwc,nhwc,nhwc-n8c64h56w56-k64y3x3-p1x1-s1x1-d1x1-g1-estats
 * conv-bwd-bf16-nhwc,nhwc,nhwc-n8c64h56w56-k64y3x3-p1x1-s1x1-d1x1-g1-enormgradrelu
 * pool-fwd-max-f16-nhwc,nhwc-n64c64h112w112-y3x3-p1x1-s2x2-iu8mask
 * rowwise-activ_fwd-m3-51380224-r-i:f16:1-o:f16:1
 * @endverbatim
 *
 * Padding is "before:after" where it differs between the ends of a dimension,
 * which no descriptor of MIOpen can say: one row above the image and none below
 * it in the third line.
 *
 * The first two functions of this file take that text, so that a problem from a
 * log or a database can be run as it is, even one that no function of MIOpen
 * can ask for.
 */

#ifndef TESSERA_PROBLEM_H
#define TESSERA_PROBLEM_H

#include <tessera/tessera.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a call of tesseraRunProblem() may ask for beside its values. */
typedef enum tesseraProblemFlags {
  /** Convolutions and poolings with tensors that L2 does not hold begin with
   *  the last tile, where their kernel can; others ignore it. A launch that
   *  reads what the one in front of it has written finds the end of it in L2.
   *  Results are the same. */
  TESSERA_PROBLEM_FROM_END = 1
} tesseraProblemFlags;

/** The values of one call of tesseraRunProblem(). Values that the problem does
 *  not use are ignored. Pointers are to device memory. The direction of the
 *  problem says which of x, w and y is written; a row-wise problem writes the
 *  tensors that its text calls outputs. */
typedef struct tesseraProblemArguments {
  uint32_t structSize;  /**< sizeof(tesseraProblemArguments). */
  uint32_t flags;       /**< Or of tesseraProblemFlags; 0 means defaults. */
  const void *x;        /**< Input. */
  const void *w;        /**< Filter. */
  const void *y;        /**< Output. */
  const void *bias;     /**< One value for each channel of the result. */
  const void *residual; /**< A tensor of the result's type and layout. */
  void *indices;        /**< Indices of max pooling; written by forward. */
  void *workSpace;      /**< May be NULL if none is needed. If workSpaceSize is
                             0, too, a row-wise problem takes memory of the
                             handle. */
  size_t workSpaceSize; /**< Size of workSpace in bytes. */
  double alpha;         /**< Scales the accumulators. */
  double beta;          /**< Scales the old value of the result. */
  double activAlpha;    /**< Parameter a of the activation. */
  double activBeta;     /**< Parameter b of the activation. */
  double activGamma;    /**< Parameter c of the activation. */
  /* A structSize that ends here is accepted: the first clients had no more. */
  const void *tensors[12]; /**< Tensors of a row-wise problem ("rows-..."), in
                                the order of the text; with "normgrad" and its
                                kin those of docs/spec/convolution.md, of which
                                3 and 4 are written. */
  double scalars[6]; /**< Scalars of its operation (docs/spec/row-wise.md). */
  /* A structSize that ends here is accepted, too. */
  void *mean;     /**< With "stats": of each channel of y, in f32; written. */
  void *variance; /**< The same of the variance, that of the population. */
} tesseraProblemArguments;
/** No tensors, alpha = 1 and all other numbers 0. */
#define TESSERA_PROBLEM_ARGUMENTS_INIT                                         \
  {sizeof(tesseraProblemArguments),                                            \
   0,                                                                          \
   NULL,                                                                       \
   NULL,                                                                       \
   NULL,                                                                       \
   NULL,                                                                       \
   NULL,                                                                       \
   NULL,                                                                       \
   NULL,                                                                       \
   0,                                                                          \
   1,                                                                          \
   0,                                                                          \
   0,                                                                          \
   0,                                                                          \
   0,                                                                          \
   {NULL},                                                                     \
   {0},                                                                        \
   NULL,                                                                       \
   NULL}

/**
 * Describes the kernel for a problem, with the workspace that it needs.
 *
 * @param[in]     handle   Supplies the device.
 * @param[in]     problem  A network config; ends with a zero byte.
 * @param[in,out] info     Set `structSize` to sizeof(tesseraKernelInfo) first.
 *
 * @retval miopenStatusSuccess         `*info` is set.
 * @retval miopenStatusBadParm         A pointer is NULL, `structSize` is not
 *                                     that of this release, or the text is no
 *                                     problem.
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
MIOPEN_EXPORT miopenStatus_t tesseraGetProblemKernelInfo(
    miopenHandle_t handle, const char *problem, tesseraKernelInfo *info);

/**
 * Runs a problem. A handle reads each text once and keeps what it says.
 *
 * @param[in] handle     Supplies the device and the stream.
 * @param[in] problem    A network config; ends with a zero byte.
 * @param[in] arguments  Start from #TESSERA_PROBLEM_ARGUMENTS_INIT; pointers in
 *                       it are to device memory.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer is NULL that the kernel uses,
 *                                     `structSize` is not one of this release,
 *                                     the text is no problem, or the workspace
 *                                     is too small.
 * @retval miopenStatusNotImplemented  No kernel covers the problem.
 * @retval miopenStatusAllocFailed     Host or device memory ran out.
 * @retval miopenStatusInternalError   The compiler, the driver or the device
 *                                     failed.
 * @retval miopenStatusGpuOperationsSkipped  MIOPEN_DEBUG_COMPILE_ONLY is set:
 *                                     nothing was launched.
 *
 * @par Cost
 *   Compiles on first use, then launches; does not wait for the device.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 *
 * @since 0.1
 */
MIOPEN_EXPORT miopenStatus_t
tesseraRunProblem(miopenHandle_t handle, const char *problem,
                  const tesseraProblemArguments *arguments);

/**
 * Tunes a problem, once in a process: times the kernels that the cost model
 * ranks first, on tensors of its own, and uses the fastest from then on. Their
 * results are verified, and what was measured is kept in the user's database,
 * so that the next process does not measure it again. How many and how long,
 * the variables of Find say (MIOPEN_DEBUG_TUNING_ITERATIONS_MAX,
 * MIOPEN_TUNING_TIME_MS_MAX; 8 kernels and 30 seconds). The fastest needs no
 * more workspace than the kernel that was there before. If tuning fails, the
 * log says why and that kernel stays.
 *
 * @param[in] handle   Supplies the device.
 * @param[in] problem  A network config; ends with a zero byte.
 *
 * @retval miopenStatusSuccess         The problem has a kernel.
 * @retval miopenStatusBadParm         A pointer is NULL, or the text is no
 *                                     problem.
 * @retval miopenStatusNotImplemented  No kernel covers the problem.
 * @retval miopenStatusAllocFailed     Host or device memory ran out.
 * @retval miopenStatusInternalError   The compiler, the driver or the device
 *                                     failed.
 * @retval miopenStatusGpuOperationsSkipped  MIOPEN_DEBUG_COMPILE_ONLY is set:
 *                                     nothing was timed.
 *
 * @par Cost
 *   Compiles on first use, then launches; allocates and waits for the device,
 *   seconds in all. Do not capture a graph meanwhile.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 *
 * @since 0.1
 */
MIOPEN_EXPORT miopenStatus_t tesseraTuneProblem(miopenHandle_t handle,
                                                const char *problem);

/**
 * Saves the kernel of a problem with its machine code, for a process that must
 * not compile. The bytes fit one chip and one format of kernels, and do not
 * depend on the host.
 *
 * @param[in]     handle   Supplies the device.
 * @param[in]     problem  A network config; ends with a zero byte.
 * @param[out]    bytes    Where they go; NULL asks for their number.
 * @param[in,out] size     In: how many fit there; out: how many there are.
 *
 * @retval miopenStatusSuccess         `*size` is set, and so are the bytes.
 * @retval miopenStatusBadParm         A pointer is NULL, the text is no
 *                                     problem, or the bytes do not fit: `*size`
 *                                     says how many there are.
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
MIOPEN_EXPORT miopenStatus_t tesseraSaveKernel(miopenHandle_t handle,
                                               const char *problem, char *bytes,
                                               size_t *size);

/**
 * Loads what tesseraSaveKernel() saved: the kernel of its problem in this
 * process, unless there is one already. It enters no database. The bytes hold
 * machine code, which runs: take them only from where you would take a program.
 *
 * @param[in] handle  Supplies the device.
 * @param[in] bytes   The saved kernel.
 * @param[in] size    Their number.
 *
 * @retval miopenStatusSuccess          The problem has a kernel.
 * @retval miopenStatusBadParm          A pointer is NULL.
 * @retval miopenStatusInvalidValue     The bytes are no saved kernel, or
 *                                      damaged.
 * @retval miopenStatusVersionMismatch  They have another release's format.
 * @retval miopenStatusNotImplemented   They are for another chip, or this
 *                                      release does not have their problem.
 * @retval miopenStatusInternalError    The driver refused the machine code.
 *
 * @par Cost
 *   Loads on first use; launches nothing.
 *
 * @par Threads
 *   One thread for each handle: calls on one handle must not overlap.
 *
 * @since 0.1
 */
MIOPEN_EXPORT miopenStatus_t tesseraLoadKernel(miopenHandle_t handle,
                                               const char *bytes, size_t size);

/**
 * Says that the process will ask for problems whose batch or spatial sizes do
 * not repeat: from now on convolutions, too, get kernels for unknown sizes, of
 * which one serves a family of problems, from a family's first problem on. It
 * is what the environment variables TESSERA_GENERIC_KERNELS=SWITCH and
 * TESSERA_GENERIC_AFTER=0 say; TESSERA_GENERIC_KERNELS=KEEP stays. A problem
 * that comes back often gets a kernel of its own in the background, which may
 * add in another order.
 *
 * @retval miopenStatusSuccess        Such kernels serve from now on.
 * @retval miopenStatusUnsupportedOp  TESSERA_GENERIC_KERNELS=NEVER forbids it.
 *
 * @par Cost
 *   Host only; does not block.
 *
 * @par Threads
 *   Any thread, at any time.
 *
 * @since 0.1
 */
MIOPEN_EXPORT miopenStatus_t tesseraExpectNewSizes(void);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_PROBLEM_H */
