//===- RuntimeCompiler.cpp - hiprtc, NVRTC --------------------------------===//

#include "runtime/Gpu/RuntimeCompiler.h"

#include <dlfcn.h>

using namespace tessera;

//===----------------------------------------------------------------------===//
// hiprtc and NVRTC, which have the same functions
//===----------------------------------------------------------------------===//

namespace {
/// The handle of both: hiprtcProgram, nvrtcProgram.
using Program = struct OpaqueProgram *;

/// The functions that both have, under names with different prefixes. They
/// return an enum in which 0 is success.
struct RtcFunctions {
  int (*createProgram)(Program *, const char *source, const char *name,
                       int headerCount, const char *const *headers,
                       const char *const *headerNames) = nullptr;
  int (*destroyProgram)(Program *) = nullptr;
  int (*compileProgram)(Program, int optionCount,
                        const char *const *options) = nullptr;
  int (*getLogSize)(Program, size_t *) = nullptr;
  int (*getLog)(Program, char *) = nullptr;
  int (*getCodeSize)(Program, size_t *) = nullptr;
  int (*getCode)(Program, char *) = nullptr;
  const char *(*getErrorString)(int) = nullptr;
};

/// The differences between the two.
struct RtcFlavor {
  std::string prefix;     ///< Begins every function's name.
  std::string code;       ///< The result's name in the functions.
  std::string archOption; ///< Precedes the architecture.
};

class RtcCompiler final : public RuntimeCompiler {
public:
  RtcCompiler(std::string name, const RtcFunctions &rtc, std::string archOption)
      : RuntimeCompiler(std::move(name)), rtc(rtc),
        archOption(std::move(archOption)) {}

  ErrorOr<std::vector<char>>
  compile(const std::string &source, const std::string &architecture,
          const std::vector<std::string> &options) const override;

private:
  Status check(int error, const char *what) const;
  std::string getLog(Program program) const;

  RtcFunctions rtc;
  std::string archOption;
};

/// Destroys a program at the end of its scope.
struct ProgramGuard {
  const RtcFunctions &rtc;
  Program program = nullptr;
  explicit ProgramGuard(const RtcFunctions &rtc) : rtc(rtc) {}
  ProgramGuard(const ProgramGuard &) = delete;
  ProgramGuard &operator=(const ProgramGuard &) = delete;
  ~ProgramGuard() {
    if (program)
      rtc.destroyProgram(&program);
  }
};
} // namespace

Status RtcCompiler::check(int error, const char *what) const {
  if (error == 0)
    return Status::ok();
  return unavailable(std::string(what) + ": " + rtc.getErrorString(error));
}

std::string RtcCompiler::getLog(Program program) const {
  size_t size = 0;
  if (rtc.getLogSize(program, &size) != 0 || size < 2)
    return "";
  // HIP 5.2 writes the zero at the end, but does not count it in the size.
  std::vector<char> log(size + 1);
  if (rtc.getLog(program, log.data()) != 0)
    return "";
  return log.data();
}

ErrorOr<std::vector<char>>
RtcCompiler::compile(const std::string &source, const std::string &architecture,
                     const std::vector<std::string> &options) const {
  const std::string arch = archOption + architecture;
  std::vector<const char *> words = {arch.c_str(), "-std=c++17"};
  for (const std::string &option : options)
    words.push_back(option.c_str());
  ProgramGuard guard(rtc);
  if (Status status =
          check(rtc.createProgram(&guard.program, source.c_str(), "source.hip",
                                  0, nullptr, nullptr),
                "creating a program");
      !status.isOk())
    return status.withContext(getName());
  if (Status status = check(rtc.compileProgram(guard.program,
                                               static_cast<int>(words.size()),
                                               words.data()),
                            "compiling");
      !status.isOk())
    return invalidArgument(getName() + " for " + architecture + ": " +
                           status.getMessage() + "\n" + getLog(guard.program));
  size_t size = 0;
  Status status = check(rtc.getCodeSize(guard.program, &size), "asking for the "
                                                               "size");
  std::vector<char> code(size);
  if (status.isOk())
    status = check(rtc.getCode(guard.program, code.data()), "taking the code");
  if (!status.isOk())
    return status.withContext(getName());
  return code;
}

//===----------------------------------------------------------------------===//
// Finding hiprtc and NVRTC
//===----------------------------------------------------------------------===//

/// The functions of `library`; null if one is missing.
static bool resolve(void *library, const RtcFlavor &flavor, RtcFunctions &rtc) {
  bool complete = true;
  auto get = [&](auto &function, const std::string &name) {
    void *symbol = dlsym(library, (flavor.prefix + name).c_str());
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(symbol);
    complete &= symbol != nullptr;
  };
  get(rtc.createProgram, "CreateProgram");
  get(rtc.destroyProgram, "DestroyProgram");
  get(rtc.compileProgram, "CompileProgram");
  get(rtc.getLogSize, "GetProgramLogSize");
  get(rtc.getLog, "GetProgramLog");
  get(rtc.getCodeSize, "Get" + flavor.code + "Size");
  get(rtc.getCode, "Get" + flavor.code);
  get(rtc.getErrorString, "GetErrorString");
  return complete;
}

/// The first of `files` that can be opened and has all functions.
static ErrorOr<RuntimeCompilerPtr>
openFirst(std::initializer_list<const char *> files, const RtcFlavor &flavor) {
  std::string reasons;
  for (const char *file : files) {
    // The library is never closed: code that it made may outlive us.
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    RtcFunctions rtc;
    if (library && resolve(library, flavor, rtc))
      return RuntimeCompilerPtr(
          std::make_unique<RtcCompiler>(file, rtc, flavor.archOption));
    reasons += (reasons.empty() ? "" : "; ") +
               (library ? std::string(file) + " is no compiler" : dlerror());
  }
  return notFound("no run-time compiler was found (" + reasons + ")");
}

ErrorOr<RuntimeCompilerPtr> tessera::openHipRtc() {
  // Early releases of HIP 5 have hiprtc in the runtime library.
  return openFirst({"libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5",
                    "libhiprtc.so", "libamdhip64.so.5"},
                   {"hiprtc", "Code", "--offload-arch="});
}

ErrorOr<RuntimeCompilerPtr> tessera::openNvRtc() {
  return openFirst({"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"},
                   {"nvrtc", "CUBIN", "--gpu-architecture="});
}

ErrorOr<RuntimeCompilerPtr> tessera::findRuntimeCompiler(DeviceKind kind) {
  if (kind == DeviceKind::Nvidia)
    return openNvRtc();
  if (kind == DeviceKind::Emulated)
    return findClang();
  ErrorOr<RuntimeCompilerPtr> rtc = openHipRtc();
  if (rtc)
    return rtc;
  ErrorOr<RuntimeCompilerPtr> clang = findClang();
  if (clang)
    return clang;
  return notFound(rtc.getStatus().getMessage() + "; " +
                  clang.getStatus().getMessage());
}
