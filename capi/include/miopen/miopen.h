/*===- miopen.h - Everything that clients of MIOpen include ---------------===*/
/**
 * @file
 * Tessera exports the functions of MIOpen with the same names, types and
 * values. Clients include this one file; it is split by noun, so that a
 * function is found in the header of its first descriptor.
 *
 * Every name of MIOpen can be linked. A function without an implementation
 * returns miopenStatusNotImplemented and does nothing else; its description
 * says so. Names of MIOpen's beta API are declared if MIOPEN_BETA_API is
 * defined. The headers are usable from C11 and from C++.
 *
 * @par Pointers
 * - A pointer must not be NULL unless its description says that it may be;
 *   otherwise the function returns miopenStatusBadParm.
 * - "Device memory" is memory that kernels of the current device can access,
 *   such as that of hipMalloc(). Every other pointer is to host memory. Scaling
 *   factors (alpha, beta) are read before the function returns.
 * - Handles and descriptors are host objects. Data that is handed to a launch
 *   must stay valid until the stream has executed it; descriptors may be
 *   changed or destroyed as soon as a function has returned.
 *
 * @par Statuses
 * - Each description lists the statuses that the function returns, and when.
 *   The text of the last failure on the calling thread is in
 *   tesseraGetLastErrorMessage() (tessera/tessera.h).
 * - miopenStatusAllocFailed is listed where a function allocates. Any function
 *   can return it besides, if host memory runs out while the message of a
 *   failure is built or a call is logged (MIOPEN_ENABLE_LOGGING).
 *
 * @par Cost
 * The paragraph *Cost* of a function begins with one of these phrases:
 * - "Host only": reads and writes host memory. Nothing is compiled or launched,
 *   and nothing waits for the device.
 * - "Opens the device": finds a HIP runtime and a device, which takes
 *   milliseconds.
 * - "Compiles on first use": the first call of a process for a problem takes
 *   its kernel from the kernel database, or compiles it, which blocks the
 *   caller, usually for tens to hundreds of milliseconds. Later calls cost a
 *   lookup in memory. Other threads and processes that want the same kernel
 *   wait for the one that compiles it.
 * - "Loads on first use": the first call on a device loads a kernel that the
 *   caller has brought along.
 * - "then launches": puts kernels on the stream of the handle and returns. With
 *   profiling enabled (miopenEnableProfiling()) the function waits for them.
 *   Some kernels need scratch memory, which the handle allocates and keeps; the
 *   call that first needs more of it waits for the device.
 * - "launches nothing": the device executes nothing, and no tensor is read or
 *   written.
 *
 * @par Threads
 * The paragraph *Threads* begins with one of these words:
 * - "Any thread": there is nothing to synchronise.
 * - "One thread for each handle": calls on one handle must not overlap;
 *   different handles may be used at the same time. All handles of a process
 *   share one kernel cache. Descriptors are only read, as under "Shared".
 * - "Shared": any number of threads may make such calls on one object at the
 *   same time, while no thread sets or destroys it.
 * - "Exclusive": no other call may use the object at the same time.
 */

#ifndef MIOPEN_MIOPEN_H
#define MIOPEN_MIOPEN_H

#include <miopen/activation.h>
#include <miopen/batchnorm.h>
#include <miopen/config.h>
#include <miopen/convolution.h>
#include <miopen/convolution_backward_data.h>
#include <miopen/convolution_backward_weights.h>
#include <miopen/convolution_bias.h>
#include <miopen/convolution_forward.h>
#include <miopen/dropout.h>
#include <miopen/export.h>
#include <miopen/find2.h>
#include <miopen/fusion.h>
#include <miopen/graph.h>
#include <miopen/handle.h>
#include <miopen/loss.h>
#include <miopen/lrn.h>
#include <miopen/normalization.h>
#include <miopen/optimizer.h>
#include <miopen/pooling.h>
#include <miopen/reduce.h>
#include <miopen/rnn.h>
#include <miopen/softmax.h>
#include <miopen/tensor.h>
#include <miopen/tensor_operations.h>
#include <miopen/version.h>

#endif /* MIOPEN_MIOPEN_H */
