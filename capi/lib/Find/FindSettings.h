//===- FindSettings.h - What the environment asks of Find ------*- C++ -*--===//
//
// The variables are MIOpen's and take its numbers or names. Every find mode
// does the same here: Find takes the model's choice and measures it.
// docs/guides/environment.md describes them for users.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_LIB_FIND_FINDSETTINGS_H
#define TESSERA_CAPI_LIB_FIND_FINDSETTINGS_H

#include <cstddef>

namespace tessera::capi {

/// MIOPEN_FIND_ENFORCE.
enum class FindEnforce {
  None = 1,
  DbUpdate = 2, ///< Does nothing by itself, as in MIOpen.
  Search = 3,
  SearchDbUpdate = 4, ///< Search even if the database has a result.
  DbClean = 5,
};

struct FindSettings {
  FindEnforce enforce = FindEnforce::None;
  /// MIOPEN_TUNING_TIME_MS_MAX, the limit of one search; in seconds here.
  double searchSeconds = 30;
  /// MIOPEN_DEBUG_TUNING_ITERATIONS_MAX, the number of candidates of one
  /// search.
  size_t searchCandidates = 8;
  /// TESSERA_BACKGROUND_TUNING.
  bool tunesInBackground = false;

  bool mustSearch() const {
    return enforce == FindEnforce::Search ||
           enforce == FindEnforce::SearchDbUpdate;
  }
};

/// Reads the environment. A value that is not known causes a warning and counts
/// as not set.
FindSettings readFindSettings();
/// The result of the first readFindSettings() of the process.
const FindSettings &readFindSettingsOnce();

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_FIND_FINDSETTINGS_H
