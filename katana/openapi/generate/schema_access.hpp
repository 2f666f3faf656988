// Schema access: small queries on a schema of Description::schemas.
//
// Owns       nothing.
// Thread     any.
// Allocates  its results.
// Fails      never: a missing member is empty or null.
#pragma once

#include <string>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/described.hpp"
#include "katana/data/container/value.hpp"

namespace katana::openapi::generate {

// The JSON Pointer (RFC 6901) of a member of the value at `pointer`.
inline std::string below(Bytes pointer, Bytes step) {
  std::string result(pointer);
  append_pointer(result, step);
  return result;
}
// The pointer of an item of that member.
inline std::string below(Bytes pointer, Bytes step, std::size_t index) {
  std::string result = below(pointer, step);
  append_pointer(result, index);
  return result;
}

// Empty: there is no such member, or it is no text. Borrows from `object`.
inline Bytes text_of(const container::Object& object, Bytes key) {
  const container::Value* const value = object.find(key);
  const bool is_text = value != nullptr && value->kind() == container::Kind::text;
  return is_text ? Bytes(value->as_text()) : Bytes();
}
// Null: there is no such member, or it is no list. Borrows from `object`.
inline const container::List* list_of(const container::Object& object, Bytes key) {
  const container::Value* const value = object.find(key);
  return value == nullptr ? nullptr : value->get_list();
}

// The types without null; `nullable` when it was there.
inline std::vector<std::string> types_of(const container::Object& schema, bool& nullable) {
  std::vector<std::string> types;
  const container::Value* const type = schema.find("type");
  if (type == nullptr) return types;
  const auto add = [&](const container::Value& each) {
    if (each.kind() != container::Kind::text) return;
    if (each.as_text() == "null") {
      nullable = true;
    } else {
      types.push_back(each.as_text());
    }
  };
  if (const container::List* const list = type->get_list()) {
    for (const container::Value& each : *list) add(each);
  } else {
    add(*type);
  }
  return types;
}

}  // namespace katana::openapi::generate

// SPDX-License-Identifier: Apache-2.0
