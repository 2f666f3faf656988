// Request methods (RFC 9110 §9, PATCH: RFC 5789). Any other token is Method::extension and keeps
// its text in the head.
#pragma once

#include <array>
#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana::http {

// The methods that have a name here; extension: any other token.
enum class Method : std::uint8_t {
  get,       // RFC 9110 §9.3.1
  head,      // §9.3.2; the reply has no body
  post,      // §9.3.3
  put,       // §9.3.4
  delete_,   // §9.3.5; `delete` is a keyword
  connect,   // §9.3.6
  options,   // §9.3.7
  trace,     // §9.3.8
  patch,     // RFC 5789
  extension  // any other token: Head::method_text()
};

// Names by Method; extension has none.
inline constexpr std::array<Bytes, 9> method_names = {
    "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"};

// Method names are case-sensitive (RFC 9110 §9.1).
constexpr Method method_from(Bytes name) noexcept {
  for (std::size_t index = 0; index < method_names.size(); ++index) {
    if (method_names[index] == name) return static_cast<Method>(index);
  }
  return Method::extension;
}

// May be sent again when it is unknown whether it was served (RFC 9110 §9.2.2).
constexpr bool is_idempotent(Method method) noexcept {
  switch (method) {
    case Method::get:
    case Method::head:
    case Method::options:
    case Method::trace:
    case Method::put:
    case Method::delete_: return true;
    default: return false;
  }
}

// The method's name; empty for Method::extension.
constexpr Bytes name_of(Method method) noexcept {
  const auto index = static_cast<std::size_t>(method);
  return index < method_names.size() ? method_names[index] : Bytes{};
}

}  // namespace katana::http

// SPDX-License-Identifier: Apache-2.0
