//===- RnnLauncher.h - The launches of a network ---------------*- C++ -*--===//
//
// A network is a list of launches that the engine knows anyway: a product of
// matrices is a convolution with a filter of one pixel, and all else is
// row-wise. The first failure is kept, and nothing is launched after it.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CAPI_LIB_RNN_RNNLAUNCHER_H
#define TESSERA_CAPI_LIB_RNN_RNNLAUNCHER_H

#include "capi/lib/RowWise/RowWiseCall.h"

namespace tessera::capi {

/// Rows of elements in device memory. Borrows it.
struct RnnMatrix {
  char *data = nullptr;
  DataType type = DataType::F32;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t stride = 0; ///< Elements from a row to the next one.

  RnnMatrix getRows(int64_t first, int64_t count) const {
    return {getElement(first * stride), type, count, columns, stride};
  }
  RnnMatrix getColumns(int64_t first, int64_t count) const {
    return {getElement(first), type, rows, count, stride};
  }

private:
  char *getElement(int64_t offset) const {
    return data + offset * getByteSize(type);
  }
};

/// Borrows the handle.
class RnnLauncher {
public:
  explicit RnnLauncher(miopenHandle &handle) : handle(handle), sum(handle) {}

  /// Computes one of y = x w^T, x = y w and w = y^T x, as a convolution does in
  /// the three directions: w has a row for each column of y. Adds to the old
  /// result if `adds`. A forward product also adds `bias` to each row.
  void multiply(Direction direction, const RnnMatrix &x, const RnnMatrix &w,
                const RnnMatrix &y, bool adds, const void *bias = nullptr);
  void copy(const RnnMatrix &from, const RnnMatrix &to);
  /// Copies blocks of rows: `steps` times the rows of both matrices, which are
  /// so many elements apart.
  void copySteps(const RnnMatrix &from, int64_t fromStep, const RnnMatrix &to,
                 int64_t toStep, int64_t steps);
  void clear(const RnnMatrix &matrix);
  /// Adds the sum of each column to `sums`.
  void addColumnSums(const RnnMatrix &matrix, void *sums);
  void run(const RowWiseCall &call);
  /// Keeps the failure of a launch that was made elsewhere.
  void keep(ApiResult launched);

  miopenHandle &getHandle() const { return handle; }
  /// Whether more launches make sense. They do where all are only compiled.
  bool isOk() const {
    return result.getStatus() == miopenStatusSuccess ||
           result.getStatus() == miopenStatusGpuOperationsSkipped;
  }
  const ApiResult &getResult() const { return result; }

private:
  ApiResult launch(const ConvProblem &problem, LaunchArgs args);

  miopenHandle &handle;
  KernelTimeSum sum;
  ApiResult result = Status::ok();
};

} // namespace tessera::capi

#endif // TESSERA_CAPI_LIB_RNN_RNNLAUNCHER_H
