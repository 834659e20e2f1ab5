//===- LinkObject.cpp - Link a code object with in-process LLD ------------===//
//
// A code object is a shared ELF object, which only a linker can create; LLD's
// driver is called as a library. It takes file names, so both files are
// descriptors under /proc/self/fd: the input is a memory file and the output a
// pipe. (LLD creates a regular output file under a temporary name in the same
// directory, which is impossible under /proc/self/fd; it writes to a pipe
// directly.)
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/AMDGPU/AmdgpuTarget.h"

#include "lld/Common/Driver.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

using namespace tessera;

/// Before each link LLD resets every command-line option of the process, which
/// other threads may be using to generate code. The linker option --wrap
/// replaces that call by this empty function.
extern "C" void __wrap__ZN4llvm2cl25ResetAllOptionOccurrencesEv() {}

namespace {
/// Owns a file descriptor.
class Descriptor {
public:
  explicit Descriptor(int value) : value(value) {}
  ~Descriptor() { reset(); }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;

  void reset() {
    if (value >= 0)
      close(value);
    value = -1;
  }
  int get() const { return value; }
  std::string getPath() const {
    return "/proc/self/fd/" + std::to_string(value);
  }

private:
  int value;
};
} // namespace

static bool writeAll(int descriptor, std::span<const char> bytes) {
  while (!bytes.empty()) {
    ssize_t count = write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno != EINTR)
      return false;
    bytes = bytes.subspan(count < 0 ? 0 : count);
  }
  return descriptor >= 0;
}

/// Reads until the last writer closes the pipe.
static ObjectBytes readAll(int descriptor) {
  ObjectBytes bytes;
  char chunk[16384];
  for (;;) {
    ssize_t count = read(descriptor, chunk, sizeof(chunk));
    if (count > 0)
      bytes.insert(bytes.end(), chunk, chunk + count);
    else if (count == 0 || errno != EINTR)
      return bytes;
  }
}

static Status descriptorError() {
  return {StatusCode::ResourceExhausted,
          std::string("cannot pass the object file to the linker: ") +
              std::strerror(errno)};
}

/// Runs LLD under a lock, because its state is global and concurrent calls
/// crash.
static Status runLinker(const std::string &input, const std::string &output) {
  static std::mutex mutex;
  const char *args[] = {"ld.lld",      "-shared",     "--no-undefined",
                        "--threads=1", input.c_str(), "-o",
                        output.c_str()};
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  lld::Result result;
  {
    std::lock_guard<std::mutex> lock(mutex);
    result = lld::lldMain(args, stream, stream, {{lld::Gnu, &lld::elf::link}});
  }
  if (result.retCode == 0 && result.canRunAgain)
    return Status::ok();
  return internalError("cannot link the code object: " + messages);
}

ErrorOr<ObjectBytes> tessera::linkObject(std::span<const char> object) {
  Descriptor input(memfd_create("object", MFD_CLOEXEC));
  int ends[2] = {-1, -1};
  if (!writeAll(input.get(), object) || pipe2(ends, O_CLOEXEC) != 0)
    return descriptorError();
  Descriptor readEnd(ends[0]);
  Descriptor writeEnd(ends[1]);

  // A code object may be larger than the buffer of a pipe, so a thread reads
  // while the linker writes.
  ObjectBytes bytes;
  std::thread reader([&] { bytes = readAll(readEnd.get()); });
  Status status = runLinker(input.getPath(), writeEnd.getPath());
  writeEnd.reset();
  reader.join();
  if (!status.isOk())
    return status;
  return bytes;
}
