//===- Rnn.cpp - The descriptors of miopen/rnn.h --------------------------===//

#include <miopen/rnn.h>

#include "capi/lib/Common/Objects.h"
#include "capi/lib/Rnn/RnnDescriptor.h"
#include "capi/lib/Tensor/TensorDescriptor.h"

#include <algorithm>
#include <cstring>
#include <vector>

using namespace tessera;
using namespace tessera::capi;

static Status setNetwork(miopenRNNDescriptor &desc,
                         const miopenRNNDescriptor &values) {
  if (values.hiddenSize < 1 || values.layers < 1)
    return invalidArgument("hidden size or number of layers is below 1");
  Status status = checkEnum(values.inputMode, miopenRNNskip, "input mode");
  if (status.isOk())
    status = checkEnum(values.direction, miopenRNNbidirection, "direction");
  if (status.isOk())
    status = checkEnum(values.mode, miopenGRU, "network mode");
  if (status.isOk())
    status = checkEnum(values.biasMode, miopenRNNwithBias, "bias mode");
  if (status.isOk())
    status = checkEnum(values.algorithm, miopenRNNfundamental, "algorithm");
  if (status.isOk())
    status = checkDataType(values.dataType);
  if (status.isOk())
    desc = values;
  return status;
}

static Status checkSequences(miopenRNNBaseLayout_t layout, int maxLength,
                             int batch, int vectorSize, const int *lengths) {
  if (maxLength < 1 || batch < 1 || vectorSize < 1)
    return invalidArgument("a size is below 1");
  if (std::any_of(lengths, lengths + batch,
                  [&](int length) { return length < 0 || length > maxLength; }))
    return invalidArgument("a sequence is shorter than 0 or longer than " +
                           std::to_string(maxLength));
  return checkEnum(layout, miopenRNNDataBatchMajorPadded, "layout");
}

static Status setSequences(miopenSeqTensorDescriptor &desc,
                           miopenDataType_t dataType,
                           miopenRNNBaseLayout_t layout, int maxLength,
                           int batch, int vectorSize, const int *lengths,
                           const void *paddingMarker) {
  Status status = checkDataType(dataType);
  if (status.isOk())
    status = checkSequences(layout, maxLength, batch, vectorSize, lengths);
  if (!status.isOk())
    return status;
  desc = {{},        dataType,   layout,
          maxLength, vectorSize, std::vector<int>(lengths, lengths + batch),
          {}};
  if (paddingMarker)
    std::memcpy(desc.paddingMarker, paddingMarker, getElementBytes(dataType));
  return Status::ok();
}

extern "C" {

miopenStatus_t
miopenCreateSeqTensorDescriptor(miopenSeqTensorDescriptor_t *tensorDesc) {
  return createObject(__func__, REQUIRED(tensorDesc), tensorDesc);
}

miopenStatus_t
miopenDestroySeqTensorDescriptor(miopenSeqTensorDescriptor_t tensorDesc) {
  return destroyObject(__func__, REQUIRED(tensorDesc), tensorDesc);
}

miopenStatus_t miopenCreateRNNDescriptor(miopenRNNDescriptor_t *rnnDesc) {
  return createObject(__func__, REQUIRED(rnnDesc), rnnDesc);
}

miopenStatus_t miopenGetRNNDescriptor(miopenRNNDescriptor_t rnnDesc,
                                      miopenRNNMode_t *rnnMode,
                                      miopenRNNAlgo_t *algoMode,
                                      miopenRNNInputMode_t *inputMode,
                                      miopenRNNDirectionMode_t *dirMode,
                                      miopenRNNBiasMode_t *biasMode,
                                      int *hiddenSize, int *layer) {
  return miopenGetRNNDescriptor_V2(rnnDesc, hiddenSize, layer, nullptr,
                                   inputMode, dirMode, rnnMode, biasMode,
                                   algoMode, nullptr);
}

miopenStatus_t miopenGetRNNDescriptor_V2(
    miopenRNNDescriptor_t rnnDesc, int *hiddenSize, int *layer,
    miopenDropoutDescriptor_t *dropoutDesc, miopenRNNInputMode_t *inputMode,
    miopenRNNDirectionMode_t *dirMode, miopenRNNMode_t *rnnMode,
    miopenRNNBiasMode_t *biasMode, miopenRNNAlgo_t *algoMode,
    miopenDataType_t *dataType) {
  return guard(__func__, REQUIRED(rnnDesc), [&]() -> ApiResult {
    setIfWanted(hiddenSize, rnnDesc->hiddenSize);
    setIfWanted(layer, rnnDesc->layers);
    setIfWanted(dropoutDesc, rnnDesc->dropout);
    setIfWanted(inputMode, rnnDesc->inputMode);
    setIfWanted(dirMode, rnnDesc->direction);
    setIfWanted(rnnMode, rnnDesc->mode);
    setIfWanted(biasMode, rnnDesc->biasMode);
    setIfWanted(algoMode, rnnDesc->algorithm);
    setIfWanted(dataType, rnnDesc->dataType);
    return Status::ok();
  });
}

miopenStatus_t miopenDestroyRNNDescriptor(miopenRNNDescriptor_t rnnDesc) {
  return destroyObject(__func__, REQUIRED(rnnDesc), rnnDesc);
}

miopenStatus_t
miopenSetRNNDescriptor(miopenRNNDescriptor_t rnnDesc, const int hsize,
                       const int nlayers, miopenRNNInputMode_t inMode,
                       miopenRNNDirectionMode_t direction,
                       miopenRNNMode_t rnnMode, miopenRNNBiasMode_t biasMode,
                       miopenRNNAlgo_t algo, miopenDataType_t dataType) {
  return miopenSetRNNDescriptor_V2(rnnDesc, hsize, nlayers, nullptr, inMode,
                                   direction, rnnMode, biasMode, algo,
                                   dataType);
}

miopenStatus_t miopenSetRNNDescriptor_V2(
    miopenRNNDescriptor_t rnnDesc, const int hsize, const int nlayers,
    miopenDropoutDescriptor_t dropoutDesc, miopenRNNInputMode_t inMode,
    miopenRNNDirectionMode_t direction, miopenRNNMode_t rnnMode,
    miopenRNNBiasMode_t biasMode, miopenRNNAlgo_t algo,
    miopenDataType_t dataType) {
  return guard(__func__, REQUIRED(rnnDesc, orNull(dropoutDesc)),
               [&]() -> ApiResult {
                 return setNetwork(*rnnDesc, {{},
                                              hsize,
                                              nlayers,
                                              dropoutDesc,
                                              inMode,
                                              direction,
                                              rnnMode,
                                              biasMode,
                                              algo,
                                              dataType,
                                              rnnDesc->paddingMode});
               });
}

miopenStatus_t miopenSetRNNDataSeqTensorDescriptor(
    miopenSeqTensorDescriptor_t seqTensorDesc, miopenDataType_t dataType,
    miopenRNNBaseLayout_t layout, int maxSequenceLen, int batchSize,
    int vectorSize, const int *sequenceLenArray, void *paddingMarker) {
  return guard(__func__, REQUIRED(seqTensorDesc, sequenceLenArray),
               [&]() -> ApiResult {
                 return setSequences(*seqTensorDesc, dataType, layout,
                                     maxSequenceLen, batchSize, vectorSize,
                                     sequenceLenArray, paddingMarker);
               });
}

miopenStatus_t miopenGetRNNDataSeqTensorDescriptor(
    miopenSeqTensorDescriptor_t seqTensorDesc, miopenDataType_t *dataType,
    miopenRNNBaseLayout_t *layout, int *maxSequenceLen, int *batchSize,
    int *vectorSize, int sequenceLenArrayLimit, int *sequenceLenArray,
    void *paddingMarker) {
  return guard(__func__, REQUIRED(seqTensorDesc), [&]() -> ApiResult {
    const miopenSeqTensorDescriptor &desc = *seqTensorDesc;
    setIfWanted(dataType, desc.dataType);
    setIfWanted(layout, desc.layout);
    setIfWanted(maxSequenceLen, desc.maxLength);
    setIfWanted(batchSize, static_cast<int>(desc.lengths.size()));
    setIfWanted(vectorSize, desc.vectorSize);
    if (sequenceLenArray && sequenceLenArrayLimit > 0)
      std::copy_n(desc.lengths.begin(),
                  std::min<size_t>(sequenceLenArrayLimit, desc.lengths.size()),
                  sequenceLenArray);
    if (paddingMarker)
      std::memcpy(paddingMarker, desc.paddingMarker,
                  getElementBytes(desc.dataType));
    return Status::ok();
  });
}

miopenStatus_t miopenSetRNNPaddingMode(miopenRNNDescriptor_t rnnDesc,
                                       miopenRNNPaddingMode_t paddingMode) {
  return guard(__func__, REQUIRED(rnnDesc), [&]() -> ApiResult {
    if (Status status =
            checkEnum(paddingMode, miopenRNNIOWithPadding, "padding mode");
        !status.isOk())
      return status;
    rnnDesc->paddingMode = paddingMode;
    return Status::ok();
  });
}

miopenStatus_t miopenGetRNNPaddingMode(miopenRNNDescriptor_t rnnDesc,
                                       miopenRNNPaddingMode_t *paddingMode) {
  return guard(__func__, REQUIRED(rnnDesc, paddingMode), [&]() -> ApiResult {
    *paddingMode = rnnDesc->paddingMode;
    return Status::ok();
  });
}

} // extern "C"
