//===- Fault.h - Faults on demand ------------------------------*- C++ -*-===//
//
// A compiler that crashes is what the worker is there for, so tests must be
// able to have one. TESSERA_WORKER_FAULT is read by the worker's program alone.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_WORKER_FAULT_H
#define TESSERA_RUNTIME_WORKER_FAULT_H

#include "runtime/Worker/Protocol.h"

namespace tessera {

/// "FAULT", "FAULT:ALGORITHM" or "FAULT:TILE": does what is named instead of
/// compiling, with any tile, those of an algorithm, or one; "FAULT:choice":
/// instead of choosing a tile or ranking them. FAULT is one of
///   abort     what LLVM does on a fatal error
///   segfault  reads where nothing is
///   kill      dies as if somebody else had killed it
///   loop      never ends
///   memory    allocates for ever
///   garbage   sends something that is no reply
///   exit      leaves without an answer
void injectFault(const WorkerRequest &request);

/// "endless", and the rest as above: the kernel never ends.
void injectFault(const WorkerRequest &request, WorkerReply &reply);

/// "start": leaves before the greeting.
void injectFaultAtStart();

} // namespace tessera

#endif // TESSERA_RUNTIME_WORKER_FAULT_H
