// AsJson<T>: a value with JSON as its text: a described struct or a container::Value. It serves
// database columns (json, jsonb, text), parameters and header fields.
//
//   struct Order {
//     std::int64_t id = 0;
//     container::AsJson<Address> address;
//   };
//
// Owns       its value.
// Thread     a value.
// Allocates  as JSON does.
// Fails      TextForm's parse() returns nothing for malformed text, or JSON of another type.
// Invariant  within JSON it is a string that contains JSON, as every type with a TextForm is one.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "katana/base/values/text_form.hpp"
#include "katana/data/container/json_read.hpp"
#include "katana/data/container/json_write.hpp"

namespace katana::container {

template <class T>
struct AsJson {
  T value{};  // the value that was read, or is to be written

  const T& operator*() const noexcept { return value; }
  T& operator*() noexcept { return value; }
  const T* operator->() const noexcept { return &value; }
  T* operator->() noexcept { return &value; }
  friend bool operator==(const AsJson& left, const AsJson& right)
    requires requires { left.value == right.value; }
  {
    return left.value == right.value;
  }
};

}  // namespace katana::container

template <class T>
struct katana::TextForm<katana::container::AsJson<T>> {
  static constexpr Bytes expected = "JSON";
  static constexpr bool is_json = true;  // a cookie then percent-encodes it

  static std::optional<container::AsJson<T>> parse(Bytes text) {
    auto read = container::read_json<T>(text);
    if (!read) return std::nullopt;
    return container::AsJson<T>{*std::move(read)};
  }
  static std::string write(const container::AsJson<T>& json) {
    return container::to_json(json.value);
  }
  // The mistake of a text: "/limit: expected integer, got string".
  static std::string misfit(Bytes text) {
    const auto read = container::read_json<T>(text);
    return read ? std::string() : std::string(read.error().message());
  }
};

// SPDX-License-Identifier: Apache-2.0
