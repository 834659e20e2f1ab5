//===- Channel.cpp - Messages over a socket -------------------------------===//

#include "runtime/Worker/Channel.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>

using namespace tessera;

/// Far more than any code object: the largest of ours have some hundred KiB.
static constexpr uint64_t kMaxBytes = 256u << 20;
/// The count is sent in the machine's byte order: both ends are on one machine.
static constexpr size_t kCountBytes = sizeof(uint64_t);

static bool sendAll(int socket, const char *bytes, size_t count) {
  while (count != 0) {
    const ssize_t sent = send(socket, bytes, count, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR)
      continue;
    if (sent <= 0)
      return false;
    bytes += sent;
    count -= static_cast<size_t>(sent);
  }
  return true;
}

bool tessera::sendMessage(int socket, std::string_view message) {
  std::string framed(kCountBytes, '\0');
  const uint64_t count = message.size();
  std::memcpy(framed.data(), &count, kCountBytes);
  framed += message;
  return sendAll(socket, framed.data(), framed.size());
}

/// Returns ok when there is something to read, or the other end is closed.
static Status waitUntilReadable(int socket, Deadline deadline) {
  using std::chrono::milliseconds;
  while (true) {
    // The time is rounded up, so that the last wait does not poll with 0 ms.
    const auto left = std::chrono::ceil<milliseconds>(
        deadline - std::chrono::steady_clock::now());
    pollfd entry = {socket, POLLIN, 0};
    const int ready =
        poll(&entry, 1,
             static_cast<int>(std::clamp<int64_t>(left.count(), 0, INT_MAX)));
    if (ready > 0)
      return Status::ok();
    if (ready < 0 && errno != EINTR)
      return internalError(std::string("cannot wait for a compile worker: ") +
                           std::strerror(errno));
    if (left.count() <= 0)
      return unavailable("no answer in time");
  }
}

static Status receiveAll(int socket, char *bytes, size_t count,
                         Deadline deadline) {
  while (count != 0) {
    if (Status status = waitUntilReadable(socket, deadline); !status.isOk())
      return status;
    const ssize_t received = recv(socket, bytes, count, MSG_DONTWAIT);
    if (received < 0 && (errno == EINTR || errno == EAGAIN))
      continue;
    if (received <= 0)
      return notFound("the other end is closed");
    bytes += received;
    count -= static_cast<size_t>(received);
  }
  return Status::ok();
}

ErrorOr<std::string> tessera::receiveMessage(int socket, Deadline deadline) {
  uint64_t count = 0;
  if (Status status = receiveAll(socket, reinterpret_cast<char *>(&count),
                                 kCountBytes, deadline);
      !status.isOk())
    return status;
  if (count > kMaxBytes)
    return internalError("the other end speaks of " + std::to_string(count) +
                         " bytes");
  // The buffer grows as bytes arrive, so that a wrong count costs no memory.
  constexpr uint64_t kStep = 1u << 20;
  std::string message;
  while (message.size() != count) {
    const size_t have = message.size();
    message.resize(have + std::min(count - have, kStep));
    if (Status status = receiveAll(socket, message.data() + have,
                                   message.size() - have, deadline);
        !status.isOk())
      return status;
  }
  return message;
}
