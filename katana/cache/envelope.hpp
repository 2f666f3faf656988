// Envelope: what stands around the octets of a value in a second level, so that nothing is taken
// for a value of ours that is none.
//
//   "KC1" kind until key value
//     kind   'v': the octets of a value follow; 'n': there is known to be none
//     until  8 octets, the lowest first: milliseconds since 1970 when its time is over
//     key    4 octets: its size, the lowest first; then the key
//
// Owns       nothing.
// Thread     any.
// Allocates  seal() the octets; open() nothing.
// Fails      open() with nothing: cut off, another version, another key, or a time that is over.
// Invariant  open() gives what seal() was given, of the same key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "katana/base/bytes.hpp"
#include "katana/base/instant.hpp"
#include "katana/base/timestamp.hpp"

namespace katana::cache::detail {

struct Opened {
  bool absent = false;
  Duration left = {};  // more than 0
  Bytes value = {};    // part of the octets
};

// `value`: null: there is known to be none.
std::string seal(Bytes key, const std::string* value, Timestamp until);
std::optional<Opened> open(Bytes octets, Bytes key, Timestamp now) noexcept;

}  // namespace katana::cache::detail

// SPDX-License-Identifier: Apache-2.0
