/*===- miopen.h - Everything that MIOpen's clients include -----------------===*\
|*
|* Tessera answers to MIOpen's names: same functions, same types, same values.
|* Clients include this one file; it is split by noun so that a reader finds a
|* function where its first argument lives.
|*
|* All of MIOpen's names can be linked. What has no kernel yet answers
|* miopenStatusNotImplemented, and its header says so; nothing else happens then.
|* Names of MIOpen's beta API are declared if MIOPEN_BETA_API is defined.
|*
|* Usable from C11 and from C++. Three rules hold for every function here:
|*
|*  - The text of the last failure on the calling thread is in
|*    tesseraGetLastErrorMessage() (tessera/tessera.h).
|*  - A descriptor is plain host data: setting and reading one never touches
|*    the device. One descriptor may be read by many threads at once; nobody
|*    may read it while another thread sets or destroys it.
|*  - A handle may be used by one thread at a time; different handles may be
|*    used at the same time. All handles of a process share one kernel cache.
|*
\*===----------------------------------------------------------------------===*/

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
