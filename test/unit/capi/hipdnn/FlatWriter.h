//===- FlatWriter.h - FlatBuffers for tests --------------------*- C++ -*--===//
//
// Writes tables field by field, in the shape that hipDNN's own library gives
// them: numbers that are the default are left out only where the test says so.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TEST_UNIT_CAPI_HIPDNN_FLATWRITER_H
#define TESSERA_TEST_UNIT_CAPI_HIPDNN_FLATWRITER_H

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace tessera::test {

struct FlatFields;

/// A number as its bytes, inside a table.
struct FlatNumber {
  std::vector<uint8_t> bytes;

  template <typename T>
  static FlatNumber of(T value) {
    FlatNumber number;
    number.bytes.resize(sizeof value);
    std::memcpy(number.bytes.data(), &value, sizeof value);
    return number;
  }
};

/// A struct behind the table, as unions have it.
struct FlatStruct {
  FlatNumber number;
};

using FlatField = std::variant<FlatNumber, FlatStruct, std::string,
                               std::vector<int64_t>, std::vector<FlatFields>>;

/// The fields of a table by their numbers. A table as a field is a list of one
/// whose `isList` is false.
struct FlatFields {
  std::map<int, FlatField> fields;
  bool isList = true;

  template <typename T>
  FlatFields &number(int field, T value) {
    fields[field] = FlatNumber::of(value);
    return *this;
  }
  FlatFields &set(int field, FlatField value) {
    fields[field] = std::move(value);
    return *this;
  }
  FlatFields &table(int field, FlatFields value) {
    value.isList = false;
    fields[field] = std::vector<FlatFields>{std::move(value)};
    return *this;
  }
};

/// The buffer whose root is `root`.
std::vector<uint8_t> writeFlatBuffer(const FlatFields &root);

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_CAPI_HIPDNN_FLATWRITER_H
