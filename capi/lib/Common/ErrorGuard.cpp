//===- ErrorGuard.cpp - The boundary between Status and C -----------------===//

#include "capi/lib/Common/ErrorGuard.h"

#include "capi/lib/Tensor/TensorDescriptor.h"

#include "capi/lib/Handle/CompileOnlyEngine.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <sstream>
#include <stdexcept>

using namespace tessera;
using namespace tessera::capi;

/// The message of the last failure for which there was memory.
static thread_local std::string lastMessage;
/// Points to lastMessage or to a literal.
static thread_local const char *lastErrorMessage = "";

static miopenStatus_t toMiopenStatus(StatusCode code) {
  switch (code) {
  case StatusCode::Ok:
    return miopenStatusSuccess;
  case StatusCode::InvalidArgument:
    return miopenStatusBadParm;
  case StatusCode::NotSupported:
    return miopenStatusNotImplemented;
  case StatusCode::ResourceExhausted:
    return miopenStatusAllocFailed;
  case StatusCode::NotFound:
  case StatusCode::Unavailable:
  case StatusCode::Internal:
    return miopenStatusInternalError;
  }
  return miopenStatusInternalError;
}

ApiResult::ApiResult(Status status)
    : status(toMiopenStatus(status.getCode())), message(status.getMessage()) {
  if (!status.isOk() && takeSkippedLaunch() &&
      status.getCode() == StatusCode::Unavailable)
    this->status = miopenStatusGpuOperationsSkipped;
}

const char *capi::getStatusName(miopenStatus_t status) {
  switch (status) {
  case miopenStatusSuccess:
    return "miopenStatusSuccess";
  case miopenStatusNotInitialized:
    return "miopenStatusNotInitialized";
  case miopenStatusInvalidValue:
    return "miopenStatusInvalidValue";
  case miopenStatusBadParm:
    return "miopenStatusBadParm";
  case miopenStatusAllocFailed:
    return "miopenStatusAllocFailed";
  case miopenStatusInternalError:
    return "miopenStatusInternalError";
  case miopenStatusNotImplemented:
    return "miopenStatusNotImplemented";
  case miopenStatusUnknownError:
    return "miopenStatusUnknownError";
  case miopenStatusUnsupportedOp:
    return "miopenStatusUnsupportedOp";
  case miopenStatusGpuOperationsSkipped:
    return "miopenStatusGpuOperationsSkipped";
  case miopenStatusVersionMismatch:
    return "miopenStatusVersionMismatch";
  }
  return "Unknown error status";
}

const char *capi::getLastErrorMessage() { return lastErrorMessage; }

/// Removes the first name from a list that is separated by commas and returns
/// it; "orNull(desc)" and "anyLayout(desc)" are the name "desc".
static std::string_view takeName(std::string_view &names) {
  const size_t end = std::min(names.find(','), names.size());
  std::string_view name = names.substr(0, end);
  names.remove_prefix(end);
  names.remove_prefix(std::min(names.find_first_not_of(", "), names.size()));
  for (std::string_view mark : {"orNull(", "anyLayout("})
    if (name.starts_with(mark))
      return name.substr(mark.size(), name.size() - mark.size() - 1);
  return name;
}

/// The words for an object with this tag in messages; empty if it is no tag.
static std::string_view getTypeWords(uint64_t tag) {
  static constexpr std::string_view kWords[] = {
#define TESSERA_OBJECT(type, words) words,
#include "capi/lib/Common/Objects.def"
  };
  const uint64_t type = tag & kTypeMask, magic = tag & ~kTypeMask;
  const bool isTag = magic == kLiveTag || magic == kGoneTag;
  return isTag && type < std::size(kWords) ? kWords[type] : "";
}

/// Says what is wrong with an argument that is not valid.
static std::string describe(const Argument &argument) {
  if (!argument.get())
    return " is NULL";
  const uint64_t tag = readTag(argument.get());
  const std::string_view wanted = getTypeWords(argument.getTag());
  const std::string_view found = getTypeWords(tag);
  if (found.empty())
    return " does not point at " + std::string(wanted);
  if ((tag & ~kTypeMask) == kGoneTag)
    return " is " + std::string(found) + " that has been destroyed";
  return " is " + std::string(found) + ", not " + std::string(wanted);
}

/// Whether a valid argument is a tensor with blocks of channels for a function
/// that knows none.
static bool hasUnknownLayout(const Argument &argument) {
  if (argument.takesAnyLayout() || !argument.get() ||
      argument.getTag() != kTagOf<miopenTensorDescriptor>)
    return false;
  return static_cast<const miopenTensorDescriptor *>(argument.get())
      ->hasVectors();
}

/// The name of `argument` in the list of names.
static std::string findName(std::string_view names, Pointers pointers,
                            const Argument &argument) {
  for (const Argument *other = pointers.begin(); other != &argument; ++other)
    takeName(names);
  return std::string(takeName(names));
}

Status capi::checkPointers(std::string_view names, Pointers pointers) {
  for (const Argument &argument : pointers)
    if (!argument.isValid()) [[unlikely]]
      return invalidArgument(findName(names, pointers, argument) +
                             describe(argument));
  for (const Argument &argument : pointers)
    if (hasUnknownLayout(argument)) [[unlikely]]
      return notSupported(findName(names, pointers, argument) +
                          " has a layout with blocks of channels, which is "
                          "not implemented here");
  return Status::ok();
}

void capi::detail::logApiCall(const char *function, std::string_view names,
                              Pointers pointers) {
  std::ostringstream text;
  text << function << '(';
  const char *separator = "";
  for (const Argument &argument : pointers) {
    text << separator << takeName(names) << " = " << argument.get();
    separator = ", ";
  }
  text << ')';
  logCall(text.str());
}

miopenStatus_t capi::detail::reportFailure(const char *function,
                                           const ApiResult &result) {
  lastMessage = std::string(function) + ": " + result.getMessage();
  lastErrorMessage = lastMessage.c_str();
  if (isLogged(LogLevel::Error))
    logMessage(LogLevel::Error,
               lastMessage + " (" + getStatusName(result.getStatus()) + ")");
  return result.getStatus();
}

/// Reports the exception that is being handled. Throws std::bad_alloc if the
/// exception is one, or if there is no memory for the message of another one.
static miopenStatus_t reportWithMessage(const char *function) {
  try {
    throw;
  } catch (const std::bad_alloc &) {
    throw;
  } catch (const std::exception &exception) {
    return capi::detail::reportFailure(
        function, internalError(std::string("exception: ") + exception.what()));
  } catch (...) {
    return capi::detail::reportFailure(function,
                                       internalError("unknown exception"));
  }
}

miopenStatus_t capi::detail::reportException(const char *function) noexcept {
  // The code of this project throws nothing. An exception comes from the
  // standard library, nearly always because memory ran out.
  try {
    return reportWithMessage(function);
  } catch (...) {
    lastErrorMessage = "memory ran out";
    return miopenStatusAllocFailed;
  }
}
