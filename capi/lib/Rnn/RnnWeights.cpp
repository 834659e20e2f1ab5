//===- RnnWeights.cpp - The weights of a network --------------------------===//

#include "capi/lib/Common/Objects.h"
#include "capi/lib/Rnn/RnnLauncher.h"
#include "capi/lib/Rnn/RnnNetwork.h"

using namespace tessera;
using namespace tessera::capi;

namespace {
/// A matrix or a bias, which has one row, in the weights.
struct Piece {
  DataType type;
  int64_t offset, rows, columns;

  size_t getBytes() const {
    return static_cast<size_t>(rows * columns * getByteSize(type));
  }
  RnnMatrix in(const void *weights) const {
    const int64_t bytes = offset * getByteSize(type);
    return {static_cast<char *>(const_cast<void *>(weights)) + bytes, type,
            rows, columns, columns};
  }
  RnnMatrix alone(const void *data) const {
    return {static_cast<char *>(const_cast<void *>(data)), type, rows, columns,
            columns};
  }
};
} // namespace

static ErrorOr<RnnNetwork> readNetwork(const miopenRNNDescriptor &desc,
                                       const miopenTensorDescriptor &x) {
  if (x.getRank() < 2)
    return invalidArgument("xDesc must have a batch and a vector");
  if (x.dataType != desc.dataType)
    return invalidArgument("xDesc has another data type than the network");
  return makeNetwork(desc, x.lengths[1]);
}

static Status checkNumbers(const RnnNetwork &net, int layer, int number) {
  if (layer < 0 || layer >= net.layers * net.directions)
    return invalidArgument("there is no layer " + std::to_string(layer));
  if (number < 0 || number >= 2 * net.getGates())
    return invalidArgument("a layer has no parameter " +
                           std::to_string(number));
  return Status::ok();
}

/// `layer` counts the directions of each layer; `number` counts the gates of
/// the input, then those of the hidden state.
static ErrorOr<Piece> findMatrix(const RnnNetwork &net, int layer, int number) {
  if (Status status = checkNumbers(net, layer, number); !status.isOk())
    return status;
  const int64_t row = layer / net.directions, side = layer % net.directions;
  const int64_t gate = number % net.getGates();
  if (number >= net.getGates())
    return Piece{net.type,
                 net.getHiddenWeights(row, side) +
                     gate * net.hidden * net.hidden,
                 net.hidden, net.hidden};
  const int64_t columns = net.getInputColumns(row);
  return Piece{net.type,
               net.getInputWeights(row) +
                   (side * net.getGates() + gate) * net.hidden * columns,
               net.hidden, columns};
}

static ErrorOr<Piece> findBias(const RnnNetwork &net, int layer, int number) {
  if (Status status = checkNumbers(net, layer, number); !status.isOk())
    return status;
  const int64_t row = layer / net.directions, side = layer % net.directions;
  const int64_t gates = net.getGates(), gate = number % gates;
  const int64_t first =
      number < gates ? net.getInputBias(row) + side * net.getGateColumns()
                     : net.getHiddenBias(row, side);
  return Piece{net.type, first + gate * net.hidden, 1, net.hidden};
}

static ErrorOr<Piece> findMatrix(const miopenRNNDescriptor &desc,
                                 const miopenTensorDescriptor &x, int layer,
                                 int number) {
  const ErrorOr<RnnNetwork> net = readNetwork(desc, x);
  return net ? findMatrix(*net, layer, number) : net.getStatus();
}

static ErrorOr<Piece> findBias(const miopenRNNDescriptor &desc,
                               const miopenTensorDescriptor &x, int layer,
                               int number) {
  const ErrorOr<RnnNetwork> net = readNetwork(desc, x);
  return net ? findBias(*net, layer, number) : net.getStatus();
}

/// The same, for what describes or moves it: with skipped input the first layer
/// has no matrices of the input.
static ErrorOr<Piece> findStored(const miopenRNNDescriptor &desc,
                                 const miopenTensorDescriptor &x, int layer,
                                 int number) {
  ErrorOr<Piece> piece = findMatrix(desc, x, layer, number);
  if (piece && piece->columns == 0)
    return invalidArgument("the first layer takes its input without weights");
  return piece;
}

static std::vector<int64_t> getLengths(const Piece &piece, bool isBias) {
  return isBias ? std::vector{piece.columns}
                : std::vector{piece.rows, piece.columns};
}

/// Sets a descriptor with vectors that the caller allocated: if there is no
/// memory for one of them, the descriptor stays as it was.
static void set(miopenTensorDescriptor &desc, miopenDataType_t type,
                std::vector<int64_t> lengths, std::vector<int64_t> strides) {
  desc.dataType = type;
  desc.lengths = std::move(lengths);
  desc.strides = std::move(strides);
  desc.castType.reset();
}

static void describe(miopenTensorDescriptor &desc, miopenDataType_t type,
                     const Piece &piece, bool isBias) {
  set(desc, type, getLengths(piece, isBias),
      isBias ? std::vector<int64_t>{1}
             : std::vector<int64_t>{piece.columns, 1});
}

static Status checkDescribed(const miopenTensorDescriptor &desc,
                             miopenDataType_t type, const Piece &piece,
                             bool isBias) {
  if (desc.dataType != type || desc.lengths != getLengths(piece, isBias))
    return invalidArgument("the descriptor has another data type or other "
                           "lengths than the parameter");
  return Status::ok();
}

static ApiResult copy(miopenHandle &handle, const RnnMatrix &from,
                      const RnnMatrix &to) {
  RnnLauncher launcher(handle);
  launcher.copy(from, to);
  return launcher.getResult();
}

/// Describes a parameter, and copies it out if `data` is not null.
static ApiResult take(miopenHandle &handle, const miopenRNNDescriptor &desc,
                      const ErrorOr<Piece> &piece, bool isBias, const void *w,
                      miopenTensorDescriptor &paramDesc, void *data) {
  if (!piece)
    return piece.getStatus();
  describe(paramDesc, desc.dataType, *piece, isBias);
  return data ? copy(handle, piece->in(w), piece->alone(data)) : Status::ok();
}

static ApiResult put(miopenHandle &handle, const miopenRNNDescriptor &desc,
                     const ErrorOr<Piece> &piece, bool isBias, void *w,
                     const miopenTensorDescriptor &paramDesc,
                     const void *data) {
  if (!piece)
    return piece.getStatus();
  if (Status status = checkDescribed(paramDesc, desc.dataType, *piece, isBias);
      !status.isOk())
    return status;
  return copy(handle, piece->alone(data), piece->in(w));
}

static Status checkSameType(const miopenRNNDescriptor &desc,
                            miopenDataType_t type) {
  if (type == desc.dataType)
    return Status::ok();
  return invalidArgument("dtype is not the data type of the network");
}

/// Sets the lengths that MIOpen gives to all weights.
static ApiResult describeAll(const miopenRNNDescriptor &desc,
                             const miopenTensorDescriptor &x,
                             miopenTensorDescriptor &w, miopenDataType_t type) {
  if (Status status = checkSameType(desc, type); !status.isOk())
    return status;
  const ErrorOr<RnnNetwork> net = readNetwork(desc, x);
  if (!net)
    return net.getStatus();
  const int64_t columns = net->getAllGateColumns();
  set(w, type, {net->getWeightElements() / columns, columns}, {columns, 1});
  return Status::ok();
}

extern "C" {

miopenStatus_t miopenGetRNNParamsSize(miopenHandle_t handle,
                                      miopenRNNDescriptor_t rnnDesc,
                                      miopenTensorDescriptor_t xDesc,
                                      size_t *numBytes,
                                      miopenDataType_t dtype) {
  return guard(
      __func__, REQUIRED(handle, rnnDesc, xDesc, numBytes), [&]() -> ApiResult {
        if (Status status = checkSameType(*rnnDesc, dtype); !status.isOk())
          return status;
        const ErrorOr<RnnNetwork> net = readNetwork(*rnnDesc, *xDesc);
        if (!net)
          return net.getStatus();
        *numBytes = static_cast<size_t>(net->getWeightElements() *
                                        getByteSize(net->type));
        return Status::ok();
      });
}

miopenStatus_t miopenGetRNNParamsDescriptor(miopenHandle_t handle,
                                            miopenRNNDescriptor_t rnnDesc,
                                            miopenTensorDescriptor_t xDesc,
                                            miopenTensorDescriptor_t wDesc,
                                            miopenDataType_t dtype) {
  return guard(__func__, REQUIRED(handle, rnnDesc, xDesc, wDesc),
               [&]() -> ApiResult {
                 return describeAll(*rnnDesc, *xDesc, *wDesc, dtype);
               });
}

miopenStatus_t miopenGetRNNLayerParamSize(miopenHandle_t handle,
                                          miopenRNNDescriptor_t rnnDesc,
                                          const int layer,
                                          miopenTensorDescriptor_t xDesc,
                                          const int paramID, size_t *numBytes) {
  return guard(__func__, REQUIRED(handle, rnnDesc, xDesc, numBytes),
               [&]() -> ApiResult {
                 const ErrorOr<Piece> piece =
                     findMatrix(*rnnDesc, *xDesc, layer, paramID);
                 if (!piece)
                   return piece.getStatus();
                 *numBytes = piece->getBytes();
                 return Status::ok();
               });
}

miopenStatus_t miopenGetRNNLayerBiasSize(miopenHandle_t handle,
                                         miopenRNNDescriptor_t rnnDesc,
                                         const int layer, const int biasID,
                                         size_t *numBytes) {
  return guard(__func__, REQUIRED(handle, rnnDesc, numBytes),
               [&]() -> ApiResult {
                 // The size of the input does not matter here, except that
                 // skipped input must be as large as the hidden state.
                 const ErrorOr<RnnNetwork> net =
                     makeNetwork(*rnnDesc, rnnDesc->hiddenSize);
                 if (!net)
                   return net.getStatus();
                 const ErrorOr<Piece> piece = findBias(*net, layer, biasID);
                 if (!piece)
                   return piece.getStatus();
                 *numBytes = piece->getBytes();
                 return Status::ok();
               });
}

miopenStatus_t
miopenGetRNNLayerParam(miopenHandle_t handle, miopenRNNDescriptor_t rnnDesc,
                       const int layer, miopenTensorDescriptor_t xDesc,
                       miopenTensorDescriptor_t wDesc, const void *w,
                       const int paramID, miopenTensorDescriptor_t paramDesc,
                       void *layerParam) {
  return guard(__func__, REQUIRED(handle, rnnDesc, xDesc, wDesc, w, paramDesc),
               [&]() -> ApiResult {
                 return take(*handle, *rnnDesc,
                             findStored(*rnnDesc, *xDesc, layer, paramID),
                             /*isBias=*/false, w, *paramDesc, layerParam);
               });
}

miopenStatus_t
miopenGetRNNLayerBias(miopenHandle_t handle, miopenRNNDescriptor_t rnnDesc,
                      const int layer, miopenTensorDescriptor_t xDesc,
                      miopenTensorDescriptor_t wDesc, const void *w,
                      const int biasID, miopenTensorDescriptor_t biasDesc,
                      void *layerBias) {
  return guard(__func__, REQUIRED(handle, rnnDesc, xDesc, wDesc, w, biasDesc),
               [&]() -> ApiResult {
                 if (rnnDesc->biasMode == miopenRNNNoBias)
                   return Status::ok();
                 return take(*handle, *rnnDesc,
                             findBias(*rnnDesc, *xDesc, layer, biasID),
                             /*isBias=*/true, w, *biasDesc, layerBias);
               });
}

miopenStatus_t miopenGetRNNLayerParamOffset(miopenRNNDescriptor_t rnnDesc,
                                            const int layer,
                                            miopenTensorDescriptor_t xDesc,
                                            const int paramID,
                                            miopenTensorDescriptor_t paramDesc,
                                            size_t *layerParamOffset) {
  return guard(
      __func__, REQUIRED(rnnDesc, xDesc, paramDesc), [&]() -> ApiResult {
        const ErrorOr<Piece> piece =
            findStored(*rnnDesc, *xDesc, layer, paramID);
        if (!piece)
          return piece.getStatus();
        describe(*paramDesc, rnnDesc->dataType, *piece,
                 /*isBias=*/false);
        setIfWanted(layerParamOffset, static_cast<size_t>(piece->offset));
        return Status::ok();
      });
}

miopenStatus_t miopenGetRNNLayerBiasOffset(miopenRNNDescriptor_t rnnDesc,
                                           const int layer,
                                           miopenTensorDescriptor_t xDesc,
                                           const int biasID,
                                           miopenTensorDescriptor_t biasDesc,
                                           size_t *layerBiasOffset) {
  return guard(
      __func__, REQUIRED(rnnDesc, xDesc, biasDesc), [&]() -> ApiResult {
        if (rnnDesc->biasMode == miopenRNNNoBias)
          return Status::ok();
        const ErrorOr<Piece> piece = findBias(*rnnDesc, *xDesc, layer, biasID);
        if (!piece)
          return piece.getStatus();
        describe(*biasDesc, rnnDesc->dataType, *piece,
                 /*isBias=*/true);
        setIfWanted(layerBiasOffset, static_cast<size_t>(piece->offset));
        return Status::ok();
      });
}

miopenStatus_t
miopenSetRNNLayerParam(miopenHandle_t handle, miopenRNNDescriptor_t rnnDesc,
                       const int layer, miopenTensorDescriptor_t xDesc,
                       miopenTensorDescriptor_t wDesc, void *w,
                       const int paramID, miopenTensorDescriptor_t paramDesc,
                       const void *layerParam) {
  return guard(
      __func__,
      REQUIRED(handle, rnnDesc, xDesc, wDesc, w, paramDesc, layerParam),
      [&]() -> ApiResult {
        return put(*handle, *rnnDesc,
                   findStored(*rnnDesc, *xDesc, layer, paramID),
                   /*isBias=*/false, w, *paramDesc, layerParam);
      });
}

miopenStatus_t
miopenSetRNNLayerBias(miopenHandle_t handle, miopenRNNDescriptor_t rnnDesc,
                      const int layer, miopenTensorDescriptor_t xDesc,
                      miopenTensorDescriptor_t wDesc, void *w, const int biasID,
                      miopenTensorDescriptor_t biasDesc,
                      const void *layerBias) {
  return guard(
      __func__, REQUIRED(handle, rnnDesc, xDesc, wDesc, w, biasDesc, layerBias),
      [&]() -> ApiResult {
        if (rnnDesc->biasMode == miopenRNNNoBias)
          return Status::ok();
        return put(*handle, *rnnDesc, findBias(*rnnDesc, *xDesc, layer, biasID),
                   /*isBias=*/true, w, *biasDesc, layerBias);
      });
}

} // extern "C"
