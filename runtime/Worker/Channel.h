//===- Channel.h - Messages over a socket ----------------------*- C++ -*--===//

#ifndef TESSERA_RUNTIME_WORKER_CHANNEL_H
#define TESSERA_RUNTIME_WORKER_CHANNEL_H

#include "runtime/Base/ErrorOr.h"

#include <chrono>
#include <string_view>

namespace tessera {

using Deadline = std::chrono::steady_clock::time_point;

/// Sends a message; false if the other end is closed. No signal is raised.
bool sendMessage(int socket, std::string_view message);

/// Waits for a message. NotFound if the other end is closed before the message
/// is complete; Unavailable if it does not arrive in time; Internal if its
/// length is impossible.
ErrorOr<std::string> receiveMessage(int socket, Deadline deadline);

} // namespace tessera

#endif // TESSERA_RUNTIME_WORKER_CHANNEL_H
