//===- Lines.h - What the driver prints ------------------------*- C++ -*--===//
//
// Prints MIOpenDriver's lines, word for word, because scripts parse them; and
// our own, which begin with words that none of its lines begins with.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TOOLS_DNN_DRIVER_LINES_H
#define TESSERA_TOOLS_DNN_DRIVER_LINES_H

#include "tools/dnn-driver/ConvRun.h"
#include "tools/dnn-driver/Verification.h"

namespace tessera::driver {

/// Prints the help of one operation, or of all if `only` is null.
void printHelp(const DriverOperation *only);
void printCommand(int argc, char **argv);

/// `direction` is that of the API.
void printChosen(Direction direction, const ChosenKernel &kernel);
void printTimes(const DriverOptions &options, const ConvProblem &problem,
                const Times &times);
/// `reference` is the one that was used: "CPU" or "GPU".
void printVerification(Direction direction, const Verification &verification,
                       const char *reference);

/// `direction` is that of the problem; `fault` is empty if nothing is wrong.
void printPoolTimes(const DriverOptions &options, Direction direction,
                    const Times &times);
void printPoolVerification(Direction direction, const std::string &fault,
                           const char *reference);

/// `word` is MIOpenDriver's name of the operation.
void printOperationTimes(const DriverOptions &options, const char *word,
                         const Times &times);
void printOperationVerification(const char *word, const std::string &fault);
void printRowTimes(const DriverOptions &options, const RowWiseProblem &problem,
                   const Times &times);
void printRowVerification(const RowWiseProblem &problem,
                          const std::string &fault);

void printDevice(const GpuApi &gpu);
void printKernelInfo(const tesseraKernelInfo &info);
Status printCounters();

} // namespace tessera::driver

#endif // TESSERA_TOOLS_DNN_DRIVER_LINES_H
