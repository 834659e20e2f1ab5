//===- Nearest.cpp - What a misspelt word may mean ------------------------===//

#include "runtime/Base/Nearest.h"

#include <algorithm>
#include <numeric>
#include <vector>

using namespace tessera;

/// Levenshtein's distance, computed one row of its table at a time.
static size_t getDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

std::string_view tessera::findNearest(std::string_view word,
                                      std::span<const std::string_view> words) {
  std::string_view nearest;
  // With more differences than one in three letters another word may be meant
  // as well.
  size_t least = word.size() / 3 + 1;
  for (std::string_view candidate : words)
    if (size_t distance = getDistance(word, candidate); distance < least) {
      least = distance;
      nearest = candidate;
    }
  return nearest;
}
