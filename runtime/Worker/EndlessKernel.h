//===- EndlessKernel.h - A kernel that never ends --------------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_WORKER_ENDLESSKERNEL_H
#define TESSERA_RUNTIME_WORKER_ENDLESSKERNEL_H

#include <string_view>
#include <vector>

namespace tessera {

/// Makes every kernel of a code object, or of PTX, begin with a jump to itself.
/// False if no kernel can be found.
bool makeEndless(std::vector<char> &code, std::string_view target);

} // namespace tessera

#endif // TESSERA_RUNTIME_WORKER_ENDLESSKERNEL_H
