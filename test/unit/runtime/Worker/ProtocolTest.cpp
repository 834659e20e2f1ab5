//===- ProtocolTest.cpp - What client and compile worker say --------------===//

#include "runtime/Worker/Protocol.h"

#include <gtest/gtest.h>

#include <random>

using namespace tessera;

/// A reply with something in every field.
static WorkerReply makeReply() {
  WorkerReply reply;
  reply.status = unavailable("a sentence, with \"quotes\" and a \0 zero");
  reply.tiles = {{{"igemm", "m64n32k32-w2x1-b2-mfma32"}, 1234.5},
                 {{"general", ""}, 0}};
  TensorMap map;
  map.tensor = KernelArg::W;
  map.offset = 4096;
  map.rank = 3;
  map.sizes = {64, 1ull << 40, 3, 1, 1};
  map.strides = {0, 128, 1ull << 47, 0, 0};
  Kernel &kernel = reply.kernel;
  kernel.codeObject = {'\x7f', 'E', 'L', 'F', '\0', '\xff'};
  kernel.launches = {
      {"first", {1, 2, 3}, {64, 1, 1}, 1024, {map, map}, {{KernelArg::X, 16}}},
      {"second", {~0u, 1, 1}, {1, 1, 1}, 0, {}, {KernelArg::ActivGamma}, true}};
  kernel.workspaceBytes = ~0ull;
  kernel.resources = {1, 2, 3, 4, 5, 6, 7};
  kernel.tile = "igemm-m64n32k32-w2x1-b2-mfma32";
  kernel.stageTimes = {{"dnn", 0.25}, {"isa", 57.5}};
  return reply;
}

// Every field of a request arrives.
TEST(WorkerProtocol, CarriesARequest) {
  const WorkerRequest sent = {WorkerRequest::Kind::RankTiles, "conv-fwd",
                              "gfx942", "igemm-m64", 17};
  const ErrorOr<WorkerRequest> got = decodeRequest(encode(sent));
  ASSERT_TRUE(got) << got.getStatus().getMessage();
  EXPECT_EQ(got->kind, sent.kind);
  EXPECT_EQ(got->problem, sent.problem);
  EXPECT_EQ(got->target, sent.target);
  EXPECT_EQ(got->tile, sent.tile);
  EXPECT_EQ(got->limit, sent.limit);
}

// Every field of a reply arrives: status, tiles, launches with their tensor
// maps, resources and times.
TEST(WorkerProtocol, CarriesAReply) {
  const WorkerReply sent = makeReply();
  const ErrorOr<WorkerReply> got = decodeReply(encode(sent));
  ASSERT_TRUE(got) << got.getStatus().getMessage();
  EXPECT_EQ(got->status.getCode(), StatusCode::Unavailable);
  EXPECT_EQ(got->status.getMessage(), sent.status.getMessage());
  ASSERT_EQ(got->tiles.size(), 2u);
  EXPECT_EQ(got->tiles[0].tile, sent.tiles[0].tile);
  EXPECT_EQ(got->tiles[0].cost, 1234.5);
  EXPECT_EQ(got->kernel.codeObject, sent.kernel.codeObject);
  EXPECT_EQ(got->kernel.launches, sent.kernel.launches);
  EXPECT_EQ(got->kernel.workspaceBytes, ~0ull);
  EXPECT_EQ(got->kernel.resources.scratchBytes, 7u);
  EXPECT_EQ(got->kernel.tile, sent.kernel.tile);
  ASSERT_EQ(got->kernel.stageTimes.size(), 2u);
  EXPECT_EQ(got->kernel.stageTimes[1].timeMs, 57.5);
  // The second encoding compares all fields.
  EXPECT_EQ(encode(*got), encode(sent));
}

// A message that ends too early, or goes on, is refused.
TEST(WorkerProtocol, RefusesOtherLengths) {
  const std::string bytes = encode(makeReply());
  for (size_t size = 0; size != bytes.size(); ++size)
    EXPECT_FALSE(decodeReply(bytes.substr(0, size))) << size;
  EXPECT_FALSE(decodeReply(bytes + '\0'));
  const std::string request = encode(WorkerRequest());
  for (size_t size = 0; size != request.size(); ++size)
    EXPECT_FALSE(decodeRequest(request.substr(0, size))) << size;
  EXPECT_FALSE(decodeRequest(request + '\0'));
}

// Numbers that are no code, no argument, no kind, or too large for their field
// are refused: eight bytes of ones anywhere are never read as the value that
// was there.
TEST(WorkerProtocol, RefusesOtherNumbers) {
  const std::string bytes = encode(makeReply());
  for (size_t at = 0; at + 8 <= bytes.size(); ++at) {
    std::string spoilt = bytes;
    spoilt.replace(at, 8, 8, '\xff');
    const ErrorOr<WorkerReply> got = decodeReply(spoilt);
    EXPECT_TRUE(!got || encode(*got) == spoilt) << at;
  }
  std::string code = bytes;
  code[0] = static_cast<char>(StatusCode::Internal) + 1;
  EXPECT_FALSE(decodeReply(code));
  std::string kind = encode(WorkerRequest());
  kind[0] = 4;
  EXPECT_FALSE(decodeRequest(kind));
}

// A wrong count of elements allocates nothing.
TEST(WorkerProtocol, RefusesLargeCounts) {
  std::string bytes = encode(WorkerReply());
  for (uint64_t count : {1ull << 20, 1ull << 40, ~0ull})
    for (size_t at = 0; at + 8 <= bytes.size(); at += 8) {
      std::string spoilt = bytes;
      for (int byte = 0; byte != 8; ++byte)
        spoilt[at + byte] = static_cast<char>(count >> (8 * byte));
      const ErrorOr<WorkerReply> got = decodeReply(spoilt);
      EXPECT_TRUE(!got || encode(*got) == spoilt) << at << " " << count;
    }
}

// Any bytes give either the reply that they encode, or a refusal.
TEST(WorkerProtocol, SurvivesAnything) {
  std::mt19937 random(7);
  const std::string bytes = encode(makeReply());
  for (int i = 0; i != 20000; ++i) {
    std::string spoilt = bytes;
    for (int flips = random() % 4; flips >= 0; --flips)
      spoilt[random() % spoilt.size()] ^= 1 << random() % 8;
    const ErrorOr<WorkerReply> got = decodeReply(spoilt);
    ASSERT_TRUE(!got || encode(*got) == spoilt);
    std::string noise(random() % 300, '\0');
    for (char &byte : noise)
      byte = static_cast<char>(random());
    EXPECT_FALSE(decodeReply(noise));
    EXPECT_FALSE(decodeRequest(noise));
  }
}
