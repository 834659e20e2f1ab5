//===- Nearest.h - What a misspelt word may mean ---------------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_BASE_NEAREST_H
#define TESSERA_RUNTIME_BASE_NEAREST_H

#include <span>
#include <string_view>

namespace tessera {

/// The one of `words` that is the fewest insertions, deletions and
/// replacements of letters away from `word`; "" if every one of them is too far
/// for a misspelling.
std::string_view findNearest(std::string_view word,
                             std::span<const std::string_view> words);

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_NEAREST_H
