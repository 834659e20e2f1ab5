/*===- miopen.h - Everything that MIOpen's clients include -----------------===*\
|*
|* Tessera answers to MIOpen's names: same functions, same types, same values.
|* Clients include this one file; it is split by noun so that a reader finds a
|* function where its first argument lives.
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

#include <miopen/config.h>
#include <miopen/convolution.h>
#include <miopen/convolution_backward_data.h>
#include <miopen/convolution_backward_weights.h>
#include <miopen/convolution_forward.h>
#include <miopen/export.h>
#include <miopen/handle.h>
#include <miopen/pooling.h>
#include <miopen/tensor.h>
#include <miopen/version.h>

#endif /* MIOPEN_MIOPEN_H */
