// Envelope: the form of a value in a second level. It lets a reader recognise bytes that are no
// value of this cache.
//
//   "KC2" kind until key tags value
//     kind   'v': the bytes of a value follow; 'n': there is known to be none
//     until  8 bytes, the lowest first: milliseconds since 1970 when its time is over
//     key    4 bytes: its size, the lowest first; then the key
//     tags   1 byte: how many; then of each 1 byte, its size, and the tag
//
// Owns       nothing.
// Thread     any.
// Allocates  seal() the bytes, open() the tags.
// Fails      open() with nothing: cut off, another version, another key, or a time that is over.
// Invariant  open() returns the arguments of seal(), of the same key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/instant.hpp"
#include "katana/base/values/timestamp.hpp"

namespace katana::cache::detail {

// The largest number of tags in an envelope, and the largest size of one.
inline constexpr std::size_t tags_max = 64;
inline constexpr std::size_t tag_bytes_max = 200;

struct Opened {
  bool absent = false;
  Duration left = {};  // more than 0
  std::vector<std::string> tags = {};
  Bytes value = {};  // part of the bytes
};

// `value`: null: there is known to be none. REQUIRES at most tags_max of at most tag_bytes_max.
std::string seal(Bytes key, const std::vector<std::string>& tags, const std::string* value,
                 Timestamp until);
std::optional<Opened> open(Bytes octets, Bytes key, Timestamp now);

}  // namespace katana::cache::detail

// SPDX-License-Identifier: Apache-2.0
