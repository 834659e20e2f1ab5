//===- CheckSet.cpp - Which checks a launch runs under --------------------===//

#include "runtime/Emulator/Check/CheckSet.h"

using namespace tessera::emulator;

CheckSet CheckSet::all() {
  CheckSet set;
  for (unsigned i = 0; i < kCheckNames.size(); ++i)
    set = set.with(static_cast<Check>(i));
  return set;
}

CheckSet CheckSet::with(Check check) const {
  CheckSet set = *this;
  set.bits |= 1u << unsigned(check);
  return set;
}

CheckSet CheckSet::without(Check check) const {
  CheckSet set = *this;
  set.bits &= ~(1u << unsigned(check));
  return set;
}

static std::optional<Check> findCheck(std::string_view name) {
  for (unsigned i = 0; i < kCheckNames.size(); ++i)
    if (kCheckNames[i] == name)
      return static_cast<Check>(i);
  return std::nullopt;
}

std::optional<CheckSet> CheckSet::parse(std::string_view text,
                                        std::string *unknown) {
  CheckSet set;
  while (!text.empty()) {
    size_t comma = text.find(',');
    std::string_view word = text.substr(0, comma);
    text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
    bool isOff = word.starts_with('-');
    std::string_view name = isOff ? word.substr(1) : word;
    if (word == "all")
      set = all();
    else if (word == "default")
      set = defaults();
    else if (word == "none")
      set = none();
    else if (std::optional<Check> check = findCheck(name))
      set = isOff ? set.without(*check) : set.with(*check);
    else {
      if (unknown)
        *unknown = word;
      return std::nullopt;
    }
  }
  return set;
}
