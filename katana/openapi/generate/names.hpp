// Names of a description as names of C++.
//
// Thread     any.
// Allocates  the result.
// Fails      never: a name without letters becomes "value".
// Invariant  the result is an identifier of ASCII, no keyword, without "__", and none that the
//            language or this framework reserves.
#pragma once

#include <set>
#include <string>

#include "katana/base/text/bytes.hpp"

namespace katana::openapi::generate {

// "PetStoreUser" of "pet-store.user".
std::string type_name(Bytes name);
// "pet_id" of "petId", "class_" of "class".
std::string value_name(Bytes name);
// Text as a literal of C++, with its quotes.
std::string literal(Bytes text);

// Names of one scope, none twice.
class Scope {
 public:
  // `wanted`, or `wanted` with the first number that is free.
  std::string take(const std::string& wanted);

 private:
  std::set<std::string> taken_;
};

}  // namespace katana::openapi::generate

// SPDX-License-Identifier: Apache-2.0
