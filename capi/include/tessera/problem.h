/*===- problem.h - Run any problem by its name -----------------------------===*\
|*
|* Everything that the library computes has a canonical text, the network config
|* that keys its databases and that stands in its messages:
|*
|*   conv-fwd-f16-nhwc,nhwc,nhwc-n64c256h14w14-k256y3x3-p1x1-s1x1-d1x1-g1
|*   conv-bwd-f32-ncdhw,ncdhw,ncdhw-n1c8d4h9w9-k8z3y3x3-p1x1x1-s1x1x1-d1x1x1-g1
|*   conv-fwd-i8,f32-nhwc,nhwc,nhwc-n1c8h9w9-k8y1x1-p0x0-s1x1-d1x1-g1-ebias+relu
|*   pool-fwd-max-f16-nhwc,nhwc-n64c64h112w112-y3x3-p1x1-s2x2-iu8mask
|*   rows-activ_fwd-m3-51380224-r-i:f16:1-o:f16:1
|*
|* These two functions take it. So a problem that a log or a database names can
|* be run as it is, also one that no function of MIOpen's can ask for.
|*
\*===----------------------------------------------------------------------===*/

#ifndef TESSERA_PROBLEM_H
#define TESSERA_PROBLEM_H

#include <tessera/tessera.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The values of one call of tesseraRunProblem(). What the problem does not use
 *  is ignored. Pointers are on the device; one of x, w and y is written, as the
 *  problem's direction says, or the tensors that the text calls outputs. */
typedef struct tesseraProblemArguments {
  uint32_t structSize; /**< sizeof(tesseraProblemArguments). */
  uint32_t reserved;   /**< 0. */
  const void *x;
  const void *w;
  const void *y;
  const void *bias;     /**< One value for each channel of the result. */
  const void *residual; /**< A tensor of the result's type and layout. */
  void *indices;        /**< Of max pooling; written forward. */
  void *workSpace;      /**< May be NULL if none is needed. */
  size_t workSpaceSize; /**< Its bytes; more than needed is fine. */
  double alpha;         /**< Factor of the sum. */
  double beta;          /**< Factor of the old value of the result. */
  double activAlpha;    /**< Parameters of the activation. */
  double activBeta;
  double activGamma;
  /* A structSize that ends here is one that we know. */
  const void *tensors[12]; /**< Of "rows-...", in the order of the text. */
  double scalars[6];       /**< Those of its operation (docs/spec/rows.md). */
} tesseraProblemArguments;
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
   {0}}

/**
 * Tells what the kernel for a problem is like, and what workspace it needs.
 *
 * Compiles the kernel if it is in no cache; launches nothing.
 *
 * @param         handle   Supplies the device.
 * @param         problem  A network config.
 * @param[in,out] info     Set `structSize` to sizeof(tesseraKernelInfo) first.
 *
 * @retval miopenStatusSuccess         `*info` is set.
 * @retval miopenStatusBadParm         A pointer is NULL, `structSize` is not one
 *                                     that we know, or the text is no problem.
 * @retval miopenStatusNotImplemented  No kernel covers the problem.
 * @retval miopenStatusInternalError   Compiler or driver failed.
 *
 * @par Threads
 *   Calls on one handle must not overlap.
 * @since 0.1
 */
MIOPEN_EXPORT miopenStatus_t tesseraGetProblemKernelInfo(
    miopenHandle_t handle, const char *problem, tesseraKernelInfo *info);

/**
 * Runs a problem.
 *
 * Compiles the kernel if it is in no cache; launches it on the handle's stream
 * and does not wait, unless profiling is enabled. Reading the text costs a
 * microsecond, so this is for tools and tests.
 *
 * @param handle     Supplies device and stream.
 * @param problem    A network config.
 * @param arguments  Start from #TESSERA_PROBLEM_ARGUMENTS_INIT.
 *
 * @retval miopenStatusSuccess         The kernel is on the stream.
 * @retval miopenStatusBadParm         A pointer is NULL that the kernel uses,
 *                                     `structSize` is not one that we know, the
 *                                     text is no problem, or the workspace is
 *                                     too small.
 * @retval miopenStatusNotImplemented  No kernel covers the problem.
 * @retval miopenStatusInternalError   Compiler or driver failed.
 *
 * @par Threads
 *   Calls on one handle must not overlap.
 * @since 0.1
 */
MIOPEN_EXPORT miopenStatus_t
tesseraRunProblem(miopenHandle_t handle, const char *problem,
                  const tesseraProblemArguments *arguments);

#ifdef __cplusplus
}
#endif

#endif /* TESSERA_PROBLEM_H */
