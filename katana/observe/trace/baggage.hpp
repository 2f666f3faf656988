// Baggage: facts about a request that services pass on beside its trace (W3C Baggage): those whose
// keys are listed, and no other.
//
//   Baggage baggage(keys);                            // {"tenant"}
//   for (Bytes value : values of the field "baggage") baggage.add(value);
//   baggage.text()                                    // "tenant=a%20b;meta=1", or empty
//   find_in_baggage(baggage.text(), "tenant")         // "a b"
//
// A member that breaks the grammar is left out, and so is one that finds no room. The others stay.
//
// Owns       its text, at most baggage_bytes_max bytes.
// Borrows    the keys.
// Thread     a value.
// Allocates  from the recycler, when a listed member is there.
// Fails      has_ignored() reports members that were left out.
// Invariant  text() is empty, or a list of members with listed keys that keeps the grammar.
// Source     W3C Baggage (Candidate Recommendation), §3.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "katana/base/text/bytes.hpp"
#include "katana/base/text/text.hpp"

namespace katana::trace {

// Listed members that are kept; the specification lets a service drop others.
inline constexpr std::size_t baggage_bytes_max = 1024;

class Baggage {
 public:
  explicit Baggage(std::span<const std::string> keys) noexcept : keys_(keys) {}

  // Adds one value of the field; several fields form one list, in their order.
  void add(Bytes value);
  Bytes text() const noexcept { return text_.bytes(); }
  // A member was malformed, or found no room.
  bool has_ignored() const noexcept { return has_ignored_; }

 private:
  void add_member(Bytes member);

  std::span<const std::string> keys_;
  Text text_;
  bool has_ignored_ = false;
};

// Whether `key` may be one of Baggage: a token (RFC 9110 §5.6.2).
bool is_baggage_key(Bytes key) noexcept;

// The decoded value of `key` in the text of a Baggage, as UTF-8; none: it has no such key. The last
// one of several members with the key counts.
std::optional<std::string> find_in_baggage(Bytes baggage, Bytes key);

}  // namespace katana::trace

// SPDX-License-Identifier: Apache-2.0
