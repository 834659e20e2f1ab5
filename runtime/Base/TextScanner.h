//===- TextScanner.h - Read canonical texts strictly -----------*- C++ -*--===//
//
// Network configs and tile texts are database keys, so their parsers accept
// exactly what the printers write: no blanks, no leading zeros, no defaults.
// Both parsers share this reader.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_BASE_TEXTSCANNER_H
#define TESSERA_RUNTIME_BASE_TEXTSCANNER_H

#include <algorithm>
#include <charconv>
#include <string_view>

namespace tessera {

/// Reads a text from left to right. The first mismatch makes it fail for good,
/// so that a caller may read a whole format and ask once. Borrows the text.
class TextScanner {
public:
  explicit TextScanner(std::string_view text) : rest(text) {}

  /// Reads exactly `literal`.
  TextScanner &expect(std::string_view literal) {
    if (rest.starts_with(literal))
      rest.remove_prefix(literal.size());
    else
      failed = true;
    return *this;
  }

  /// Reads `literal` if it comes next; says whether it did.
  bool consume(std::string_view literal) {
    if (failed || !rest.starts_with(literal))
      return false;
    rest.remove_prefix(literal.size());
    return true;
  }

  /// Reads a non-negative decimal number in the form that a printer writes.
  template <typename Int>
  TextScanner &number(Int &value) {
    const char *end = rest.data() + rest.size();
    Int parsed{};
    auto [stop, error] = std::from_chars(rest.data(), end, parsed);
    size_t length = stop - rest.data();
    bool isCanonical =
        rest.starts_with('0') ? length == 1 : !rest.starts_with('-');
    if (error != std::errc() || !isCanonical)
      failed = true;
    if (failed)
      return *this;
    value = parsed;
    rest.remove_prefix(length);
    return *this;
  }

  /// Reads up to the first of `stops` or the end; the word may not be empty.
  TextScanner &word(std::string_view &value, std::string_view stops) {
    value = rest.substr(0, std::min(rest.find_first_of(stops), rest.size()));
    failed |= value.empty();
    rest.remove_prefix(value.size());
    return *this;
  }

  void fail() { failed = true; }

  /// True if everything matched and nothing is left.
  bool isDone() const { return !failed && rest.empty(); }

private:
  std::string_view rest;
  bool failed = false;
};

} // namespace tessera

#endif // TESSERA_RUNTIME_BASE_TEXTSCANNER_H
