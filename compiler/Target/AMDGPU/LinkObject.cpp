//===- LinkObject.cpp - LLD inside this process ---------------------------===//
//
// A code object is a shared ELF object, so a linker has to make it; LLD's
// driver is called as a library. It speaks in file names, so both files are
// anonymous memory under /proc/self/fd. LLD builds its output in place by
// mapping a temporary neighbour of it, which such a name cannot have:
// --no-mmap-output-file makes it write the file in one go instead.
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/AMDGPU/AmdgpuTarget.h"

#include "lld/Common/Driver.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstring>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

using namespace tessera;

/// LLD puts every command-line option of the process back to its default
/// before each link, while other threads may be generating code under them.
/// The linker option --wrap sends that call here.
extern "C" void __wrap__ZN4llvm2cl25ResetAllOptionOccurrencesEv() {}

namespace {
/// An anonymous file in memory. Owns its descriptor.
class MemoryFile {
public:
  explicit MemoryFile(const char *name)
      : descriptor(memfd_create(name, MFD_CLOEXEC)) {}
  ~MemoryFile() {
    if (descriptor >= 0)
      close(descriptor);
  }
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;

  std::string getPath() const {
    return "/proc/self/fd/" + std::to_string(descriptor);
  }

  bool write(std::span<const char> bytes) {
    while (!bytes.empty()) {
      ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
      if (count < 0 && errno != EINTR)
        return false;
      bytes = bytes.subspan(count < 0 ? 0 : count);
    }
    return descriptor >= 0;
  }

  bool read(ObjectBytes &bytes) const {
    off_t size = lseek(descriptor, 0, SEEK_END);
    if (size < 0)
      return false;
    bytes.resize(size);
    for (size_t done = 0; done < bytes.size();) {
      ssize_t count =
          pread(descriptor, bytes.data() + done, bytes.size() - done, done);
      if (count == 0 || (count < 0 && errno != EINTR))
        return false;
      done += count < 0 ? 0 : count;
    }
    return true;
  }

private:
  int descriptor;
};
} // namespace

static Status memoryFileError() {
  return {StatusCode::ResourceExhausted,
          std::string("cannot use a file in memory: ") + std::strerror(errno)};
}

/// Runs LLD. Its state is global: without the lock, concurrent calls crash.
static Status runLinker(const std::string &input, const std::string &output) {
  static std::mutex mutex;
  const char *args[] = {"ld.lld",
                        "-shared",
                        "--no-undefined",
                        "--threads=1",
                        "--no-mmap-output-file",
                        input.c_str(),
                        "-o",
                        output.c_str()};
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  lld::Result result;
  {
    std::lock_guard<std::mutex> lock(mutex);
    result =
        lld::lldMain(args, stream, stream, {{lld::Gnu, &lld::elf::link}});
  }
  if (result.retCode == 0 && result.canRunAgain)
    return Status::ok();
  return internalError("cannot link the code object: " + messages);
}

ErrorOr<ObjectBytes> tessera::linkObject(std::span<const char> object) {
  MemoryFile input("object");
  MemoryFile output("code-object");
  if (!input.write(object))
    return memoryFileError();
  Status status = runLinker(input.getPath(), output.getPath());
  if (!status.isOk())
    return status;
  ObjectBytes bytes;
  if (!output.read(bytes))
    return memoryFileError();
  return bytes;
}
