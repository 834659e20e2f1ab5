//===- MessagePack.cpp - The encoding of kernel metadata ------------------===//

#include "runtime/Emulator/Decode/MessagePack.h"

using namespace tessera::emulator;

namespace {
/// Reads one value after another. `failed` becomes true at malformed bytes.
class Reader {
public:
  explicit Reader(std::span<const uint8_t> bytes) : bytes(bytes) {}

  MessagePackValue readValue(unsigned depth);
  bool hasFailed() const { return failed; }

private:
  uint64_t readBigEndian(unsigned count);
  MessagePackValue readText(uint64_t length);
  MessagePackValue readArray(uint64_t length, unsigned depth);
  MessagePackValue readMap(uint64_t length, unsigned depth);
  MessagePackValue fail() {
    failed = true;
    return {};
  }

  std::span<const uint8_t> bytes;
  bool failed = false;
};
} // namespace

/// Deeper than any metadata. Keeps a crafted note from overflowing the stack.
static constexpr unsigned kMaxDepth = 16;

static MessagePackValue makeInteger(int64_t value) {
  MessagePackValue result;
  result.kind = MessagePackValue::Kind::Integer;
  result.integer = value;
  return result;
}

static MessagePackValue makeBoolean(bool value) {
  MessagePackValue result;
  result.kind = MessagePackValue::Kind::Boolean;
  result.integer = value;
  return result;
}

uint64_t Reader::readBigEndian(unsigned count) {
  if (bytes.size() < count) {
    failed = true;
    return 0;
  }
  uint64_t value = 0;
  for (unsigned i = 0; i < count; ++i)
    value = value << 8 | bytes[i];
  bytes = bytes.subspan(count);
  return value;
}

MessagePackValue Reader::readText(uint64_t length) {
  if (failed || bytes.size() < length)
    return fail();
  MessagePackValue result;
  result.kind = MessagePackValue::Kind::Text;
  result.text.assign(reinterpret_cast<const char *>(bytes.data()), length);
  bytes = bytes.subspan(length);
  return result;
}

MessagePackValue Reader::readArray(uint64_t length, unsigned depth) {
  if (failed || bytes.size() < length)
    return fail();
  MessagePackValue result;
  result.kind = MessagePackValue::Kind::Array;
  for (uint64_t i = 0; i < length && !failed; ++i)
    result.items.push_back(readValue(depth + 1));
  return result;
}

MessagePackValue Reader::readMap(uint64_t length, unsigned depth) {
  if (failed || bytes.size() < length)
    return fail();
  MessagePackValue result;
  result.kind = MessagePackValue::Kind::Map;
  for (uint64_t i = 0; i < length && !failed; ++i) {
    result.keys.push_back(readValue(depth + 1).text);
    result.items.push_back(readValue(depth + 1));
  }
  return result;
}

MessagePackValue Reader::readValue(unsigned depth) {
  uint64_t tag = readBigEndian(1);
  if (failed || depth > kMaxDepth)
    return fail();
  if (tag < 0x80)
    return makeInteger(static_cast<int64_t>(tag));
  if (tag < 0x90)
    return readMap(tag & 0xf, depth);
  if (tag < 0xa0)
    return readArray(tag & 0xf, depth);
  if (tag < 0xc0)
    return readText(tag & 0x1f);
  if (tag >= 0xe0)
    return makeInteger(static_cast<int8_t>(tag));
  switch (tag) {
  case 0xc0:
    return {};
  case 0xc2:
  case 0xc3:
    return makeBoolean(tag == 0xc3);
  case 0xcc:
  case 0xcd:
  case 0xce:
  case 0xcf:
    return makeInteger(static_cast<int64_t>(readBigEndian(1u << (tag - 0xcc))));
  case 0xd0:
    return makeInteger(static_cast<int8_t>(readBigEndian(1)));
  case 0xd1:
    return makeInteger(static_cast<int16_t>(readBigEndian(2)));
  case 0xd2:
    return makeInteger(static_cast<int32_t>(readBigEndian(4)));
  case 0xd3:
    return makeInteger(static_cast<int64_t>(readBigEndian(8)));
  case 0xd9:
  case 0xda:
  case 0xdb:
    return readText(readBigEndian(1u << (tag - 0xd9)));
  case 0xdc:
  case 0xdd:
    return readArray(readBigEndian(2u << (tag - 0xdc)), depth);
  case 0xde:
  case 0xdf:
    return readMap(readBigEndian(2u << (tag - 0xde)), depth);
  default:
    return fail();
  }
}

const MessagePackValue *MessagePackValue::find(std::string_view key) const {
  for (size_t i = 0; i < keys.size() && i < items.size(); ++i)
    if (keys[i] == key)
      return &items[i];
  return nullptr;
}

int64_t MessagePackValue::getInteger(std::string_view key,
                                     int64_t otherwise) const {
  const MessagePackValue *value = find(key);
  return value && (value->kind == Kind::Integer || value->kind == Kind::Boolean)
             ? value->integer
             : otherwise;
}

std::string MessagePackValue::getText(std::string_view key) const {
  const MessagePackValue *value = find(key);
  return value ? value->text : std::string();
}

std::optional<MessagePackValue>
tessera::emulator::parseMessagePack(std::span<const uint8_t> bytes) {
  Reader reader(bytes);
  MessagePackValue value = reader.readValue(0);
  if (reader.hasFailed())
    return std::nullopt;
  return value;
}
