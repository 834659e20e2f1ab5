//===- Fault.h - Faults on demand ------------------------------*- C++ -*--===//
//
// The worker exists for compilers that crash, so tests need one. Only the
// worker's program reads TESSERA_WORKER_FAULT.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_WORKER_FAULT_H
#define TESSERA_RUNTIME_WORKER_FAULT_H

#include "runtime/Worker/Protocol.h"

namespace tessera {

/// Reads "FAULT", "FAULT:ALGORITHM" or "FAULT:TILE" and performs the fault
/// instead of compiling, with any tile, those of an algorithm, or one;
/// "FAULT:choice" performs it instead of choosing a tile or ranking them. FAULT
/// is one of
///   abort     what LLVM does on a fatal error
///   segfault  reads an address without memory
///   kill      dies as if another process had killed it
///   loop      never ends
///   memory    allocates for ever
///   garbage   sends something that is no reply
///   exit      exits without an answer
void injectFault(const WorkerRequest &request);

/// Performs "endless", with the same suffixes: the kernel never ends.
void injectFault(const WorkerRequest &request, WorkerReply &reply);

/// Performs "start": exits before the greeting.
void injectFaultAtStart();

} // namespace tessera

#endif // TESSERA_RUNTIME_WORKER_FAULT_H
