//===- RnnDescriptor.h - Networks and batches of sequences -----*- C++ -*--===//

#ifndef TESSERA_CAPI_LIB_RNN_RNNDESCRIPTOR_H
#define TESSERA_CAPI_LIB_RNN_RNNDESCRIPTOR_H

#include "capi/lib/Common/ObjectTag.h"

#include <miopen/rnn.h>

#include <vector>

/// A network. Owned by the client; the dropout is borrowed.
struct miopenRNNDescriptor {
  tessera::capi::ObjectTag tag = {};
  int hiddenSize = 1;
  int layers = 1;
  miopenDropoutDescriptor_t dropout = nullptr;
  miopenRNNInputMode_t inputMode = miopenRNNlinear;
  miopenRNNDirectionMode_t direction = miopenRNNunidirection;
  miopenRNNMode_t mode = miopenRNNRELU;
  miopenRNNBiasMode_t biasMode = miopenRNNNoBias;
  miopenRNNAlgo_t algorithm = miopenRNNdefault;
  miopenDataType_t dataType = miopenFloat;
  miopenRNNPaddingMode_t paddingMode = miopenRNNIONotPadded;
};

/// A batch of sequences. Owned by the client.
struct miopenSeqTensorDescriptor {
  tessera::capi::ObjectTag tag = {};
  miopenDataType_t dataType = miopenFloat;
  miopenRNNBaseLayout_t layout = miopenRNNDataUnknownLayout;
  int maxLength = 0;
  int vectorSize = 0;
  std::vector<int> lengths;
  /// One element of `dataType`, in as many of these bytes as it needs.
  char paddingMarker[sizeof(double)] = {};
};

#endif // TESSERA_CAPI_LIB_RNN_RNNDESCRIPTOR_H
