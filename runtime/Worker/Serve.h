//===- Serve.h - A request, answered by a compiler -------------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_WORKER_SERVE_H
#define TESSERA_RUNTIME_WORKER_SERVE_H

#include "runtime/Worker/Protocol.h"

namespace tessera {

/// Calls the method that `request` names. Internal for a request with an
/// invalid problem, chip or tile.
WorkerReply serve(KernelCompiler &compiler, const WorkerRequest &request);

} // namespace tessera

#endif // TESSERA_RUNTIME_WORKER_SERVE_H
