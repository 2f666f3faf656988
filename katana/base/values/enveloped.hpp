// Enveloped<"user", T>: a value as the only member of an object, {"user": …}, for some APIs.
//
//   Task<Result<Json<Enveloped<"user", User>>>> add(Json<Enveloped<"user", NewUser>> given);
//
// Owns       its value.
// Thread     a value.
// Allocates  as the value does.
// Fails      as a described struct does: the member is required, and places of errors begin with
//            its name.
// Invariant  its description has exactly one member.
#pragma once

#include <algorithm>
#include <cstddef>

#include "katana/base/values/described.hpp"

namespace katana {

// The name of the member, as an argument of a template.
template <std::size_t size>
struct EnvelopeName {
  char text[size] = {};  // with the terminating null

  consteval EnvelopeName(const char (&name)[size]) {  // NOLINT: implicit on purpose
    std::copy_n(name, size, text);
  }
};

// A described struct with one member, `name`, which has the value.
template <EnvelopeName name, class T>
struct Enveloped {
  T value;  // also *enveloped, enveloped->

  const T& operator*() const noexcept { return value; }
  T& operator*() noexcept { return value; }
  const T* operator->() const noexcept { return &value; }
  T* operator->() noexcept { return &value; }
};

// The description, as KATANA_DESCRIBE makes it.
template <EnvelopeName name, class T>
constexpr auto katana_describe(const Enveloped<name, T>*) {
  return rules::describe(rules::field(&Enveloped<name, T>::value, name.text));
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
