// MethodSet: a set of the nine registered methods, and its text in an Allow field.
//
// Owns       nothing; the text of allow_value() has static storage.
// Thread     a value.
// Allocates  never.
// Invariant  Method::extension is never a member: it has no name to print.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "katana/base/system/check.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/wire/http/method.hpp"

namespace katana {

class MethodSet {
 public:
  constexpr MethodSet() noexcept = default;
  constexpr MethodSet(std::initializer_list<http::Method> methods) noexcept {
    for (const http::Method method : methods) insert(method);
  }

  // REQUIRES: method is not Method::extension.
  constexpr void insert(http::Method method) noexcept {
    KATANA_REQUIRE(method != http::Method::extension);
    bits_ = static_cast<std::uint16_t>(bits_ | bit(method));
  }
  constexpr bool contains(http::Method method) const noexcept { return (bits_ & bit(method)) != 0; }
  constexpr bool empty() const noexcept { return bits_ == 0; }
  constexpr MethodSet& operator|=(MethodSet other) noexcept {
    bits_ = static_cast<std::uint16_t>(bits_ | other.bits_);
    return *this;
  }
  constexpr bool operator==(const MethodSet&) const noexcept = default;
  // One bit for each method, in the order of the enumeration: below 512.
  constexpr std::uint16_t bits() const noexcept { return bits_; }

 private:
  static constexpr unsigned bit(http::Method method) noexcept {
    return 1U << static_cast<unsigned>(method);
  }
  std::uint16_t bits_ = 0;
};

// The set as the value of an Allow field (RFC 9110 §10.2.1): "GET, HEAD, OPTIONS". It has static
// storage: a reply may refer to it for ever.
Bytes allow_value(MethodSet methods) noexcept;

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
