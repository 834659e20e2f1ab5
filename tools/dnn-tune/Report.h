//===- Report.h - A tuning to look at --------------------------*- C++ -*--===//
//
// A report is one HTML file with inline SVG, without scripts and without
// anything from a network, so that it can be mailed and is still readable in
// ten years.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_DNN_TUNE_REPORT_H
#define TESSERA_TOOLS_DNN_TUNE_REPORT_H

#include "tools/dnn-tune/Outcome.h"

namespace tessera::tune_tool {

/// The device's limits; 0 if unknown.
struct Roofs {
  double tflops = 0;
  double gbs = 0;
};

/// Contents of a report other than results.
struct ReportOptions {
  Roofs roofs;
  std::string revision; ///< The compiler's.
  std::string date;     ///< When the report was written.
};

std::string formatReport(const std::vector<Outcome> &outcomes,
                         const ReportOptions &options);

} // namespace tessera::tune_tool

#endif // TESSERA_TOOLS_DNN_TUNE_REPORT_H
