// For tests: reads messages of OTLP by the numbers of their fields.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/base/text/protobuf.hpp"

namespace katana::otlp::test {

// One field of a message: a number, or bytes.
struct ReadField {
  std::uint32_t number;
  std::uint64_t value;
  std::string bytes;
};

inline std::vector<ReadField> fields_of(Bytes message) {
  std::vector<ReadField> fields;
  ProtobufReader in(message);
  while (in.next()) fields.push_back({in.number(), in.value(), std::string(in.bytes())});
  EXPECT_TRUE(in.is_good());
  return fields;
}
// The first field of that number; zero and empty if there is none.
inline ReadField field_in(Bytes message, std::uint32_t number) {
  for (ReadField& each : fields_of(message)) {
    if (each.number == number) return std::move(each);
  }
  return {number, 0, {}};
}
inline std::string bytes_in(Bytes message, std::uint32_t number) {
  return field_in(message, number).bytes;
}
inline std::uint64_t value_in(Bytes message, std::uint32_t number) {
  return field_in(message, number).value;
}
// The numbers of a fixed64, or of a packed field of them.
inline std::vector<std::uint64_t> fixed_in(Bytes message, std::uint32_t number) {
  const std::string bytes = bytes_in(message, number);
  std::vector<std::uint64_t> numbers(bytes.size() / 8);
  if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), numbers.size() * 8);
  return numbers;
}
inline double double_in(Bytes message, std::uint32_t number) {
  const auto all = fixed_in(message, number);
  return all.size() == 1 ? std::bit_cast<double>(all[0]) : NAN;
}
// The number of a sint32.
inline std::int64_t signed_in(Bytes message, std::uint32_t number) {
  const std::uint64_t coded = value_in(message, number);
  return static_cast<std::int64_t>(coded >> 1) ^ -static_cast<std::int64_t>(coded & 1);
}
// The numbers of a packed field.
inline std::vector<std::uint64_t> varints_in(Bytes packed) {
  std::vector<std::uint64_t> values;
  while (!packed.empty()) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; !packed.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(packed.front());
      packed.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) break;
    }
    values.push_back(value);
  }
  return values;
}

}  // namespace katana::otlp::test

// SPDX-License-Identifier: Apache-2.0
