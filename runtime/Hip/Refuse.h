//===- Refuse.h - The answer of what does not exist ------------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_HIP_REFUSE_H
#define TESSERA_RUNTIME_HIP_REFUSE_H

namespace tessera::hip {

/// Returns hipErrorNotSupported, with a text that names the function.
int refuseCall(const char *function);

} // namespace tessera::hip

#endif // TESSERA_RUNTIME_HIP_REFUSE_H
