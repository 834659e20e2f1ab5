//===- ChannelTest.cpp - Messages over a socket ---------------------------===//

#include "runtime/Worker/Channel.h"

#include <gtest/gtest.h>

#include <cstring>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace tessera;

namespace {
struct Channel : testing::Test {
  int ends[2] = {-1, -1};

  void SetUp() override {
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  }
  void TearDown() override {
    closeEnd(0);
    closeEnd(1);
  }
  void closeEnd(int end) {
    if (ends[end] >= 0)
      close(ends[end]);
    ends[end] = -1;
  }
  ErrorOr<std::string> receive(int ms = 10000) {
    return receiveMessage(ends[1], std::chrono::steady_clock::now() +
                                       std::chrono::milliseconds(ms));
  }
  void sendRaw(std::string_view bytes) {
    ASSERT_EQ(send(ends[0], bytes.data(), bytes.size(), 0),
              static_cast<ssize_t>(bytes.size()));
  }
};
} // namespace

// Messages of any length arrive, one by one; a long one arrives while it is
// sent.
TEST_F(Channel, CarriesMessages) {
  const std::string large(5 << 20, 'x');
  std::thread sender([&] {
    for (const std::string &message :
         {std::string("one"), std::string(), large})
      EXPECT_TRUE(sendMessage(ends[0], message));
  });
  for (const std::string &message :
       {std::string("one"), std::string(), large}) {
    const ErrorOr<std::string> got = receive();
    EXPECT_TRUE(got && *got == message);
  }
  sender.join();
}

// A closed end is recognised, also within a message, and writing to it raises
// no signal.
TEST_F(Channel, NoticesTheOtherEnd) {
  sendRaw(std::string("\x10\0\0\0\0\0\0\0half", 12));
  closeEnd(0);
  EXPECT_EQ(receive().getStatus().getCode(), StatusCode::NotFound);
  EXPECT_EQ(receive().getStatus().getCode(), StatusCode::NotFound);
  std::swap(ends[0], ends[1]);
  EXPECT_FALSE(sendMessage(ends[0], "nobody hears this"));
}

// A wait for an answer ends at the deadline.
TEST_F(Channel, KeepsADeadline) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(receive(50).getStatus().getCode(), StatusCode::Unavailable);
  EXPECT_GE(std::chrono::steady_clock::now() - start,
            std::chrono::milliseconds(50));
  sendRaw("half");
  EXPECT_EQ(receive(50).getStatus().getCode(), StatusCode::Unavailable);
}

// An impossible length is refused before anything is allocated.
TEST_F(Channel, RefusesLengths) {
  sendRaw(std::string(8, '\xff'));
  EXPECT_EQ(receive().getStatus().getCode(), StatusCode::Internal);
}
