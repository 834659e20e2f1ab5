//===- FindSettings.h - What the environment asks of Find ------*- C++ -*-===//
//
// MIOpen's variables, by its numbers or its names. Every find mode means the
// same here: the model's choice, at once and timed. docs/guides/environment.md
// tells users.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_LIB_FINDSETTINGS_H
#define TESSERA_CAPI_LIB_FINDSETTINGS_H

#include <cstddef>

namespace tessera::capi {

/// MIOPEN_FIND_ENFORCE.
enum class FindEnforce {
  None = 1,
  DbUpdate = 2, ///< Alone it does nothing, as in MIOpen.
  Search = 3,
  SearchDbUpdate = 4, ///< Search, whatever the database knows.
  DbClean = 5,
};

struct FindSettings {
  FindEnforce enforce = FindEnforce::None;
  /// MIOPEN_TUNING_TIME_MS_MAX: of one search.
  double searchSeconds = 30;
  /// MIOPEN_DEBUG_TUNING_ITERATIONS_MAX: candidates of one search.
  size_t searchCandidates = 8;
  /// TESSERA_BACKGROUND_TUNING.
  bool tunesInBackground = false;

  bool mustSearch() const {
    return enforce == FindEnforce::Search ||
           enforce == FindEnforce::SearchDbUpdate;
  }
};

/// Reads the environment; a value that means nothing costs a warning and counts
/// as not set.
FindSettings readFindSettings();
/// What readFindSettings() gave the first time.
const FindSettings &readFindSettingsOnce();

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_FINDSETTINGS_H
