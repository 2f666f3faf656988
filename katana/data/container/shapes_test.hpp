// Shapes: the structs that tests of the formats share.
//
// Thread     values.
#pragma once

#include <gtest/gtest.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/values/described.hpp"
#include "katana/data/container/json_write.hpp"

namespace katana::container {

struct User {
  std::uint64_t id = 0;
  std::string name;
  std::string email;
  std::optional<int> age;
  bool active = false;
  bool operator==(const User&) const = default;
};
KATANA_DESCRIBE(User, id, (name, length(1, 80)), (email, format::email), (age, range(0, 150)),
                active)

inline User some_user() {
  return {.id = 7, .name = "Ada", .email = "ada@example.org", .age = 36, .active = true};
}

enum class State : std::uint8_t { open, sent };
KATANA_DESCRIBE_ENUM(State, open, (sent, "sent off"))

struct Line {
  std::string item;
  double price = 0;
  bool operator==(const Line&) const = default;
};
KATANA_DESCRIBE(Line, (item, length(1, 20)), price)

struct Order {
  std::uint64_t number = 0;
  State state = State::open;
  std::vector<Line> lines;
  std::map<std::string, std::int64_t> tags;
  std::vector<std::optional<std::string>> notes;
  std::vector<std::byte> key;
  std::vector<bool> flags;
  std::string mail;
  bool operator==(const Order&) const = default;
};
KATANA_DESCRIBE(Order, number, state, (lines, length(0, 3)), (tags, each(at_least(-5))), notes, key,
                flags, (mail, named("e~mail"), defaulted))

inline Order some_order() {
  return {.number = UINT64_MAX,
          .state = State::sent,
          .lines = {{.item = "tea", .price = 2.5}, {.item = "\"jam\"", .price = -0.0}},
          .tags = {{"a/b", 1}, {"z", -2}},
          .notes = {"x", std::nullopt},
          .key = {std::byte{0}, std::byte{255}},
          .flags = {true, false},
          .mail = "a\\b"};
}

// The pending bytes of an outbox, as one text.
inline std::string text_of(const Outbox& outbox) {
  std::string text;
  std::array<iovec, 4096> entries;
  const std::size_t count = outbox.gather(entries);
  for (std::size_t index = 0; index < count; ++index) {
    text.append(static_cast<const char*>(entries[index].iov_base), entries[index].iov_len);
  }
  return text;
}

template <class T>
std::string through_outbox(const T& value, std::size_t block_bytes) {
  BlockPool pool(block_bytes, 4096);
  Outbox outbox(pool);
  EXPECT_TRUE(write_json(value, outbox));
  return text_of(outbox);
}

}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
