//===- ActivationDescriptor.h - An activation descriptor -------*- C++ -*--===//

#ifndef TESSERA_CAPI_LIB_ACTIVATION_ACTIVATIONDESCRIPTOR_H
#define TESSERA_CAPI_LIB_ACTIVATION_ACTIVATIONDESCRIPTOR_H

#include "capi/lib/Common/ObjectTag.h"

#include <miopen/activation.h>

/// A function of one number. Owned by the client; any number of threads may
/// read it at once.
struct miopenActivationDescriptor {
  tessera::capi::ObjectTag tag = {};
  miopenActivationMode_t mode = miopenActivationPASTHRU;
  double alpha = 0;
  double beta = 0;
  double gamma = 0;
};

#endif // TESSERA_CAPI_LIB_ACTIVATION_ACTIVATIONDESCRIPTOR_H
