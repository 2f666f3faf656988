// Options: what a schema is compiled with.
//
// Owns       its documents.
// Thread     a value.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "katana/data/container/value.hpp"

namespace katana::schema {

// Which way the data goes. OpenAPI: a `required` property that is `readOnly` is so in replies only,
// one that is `writeOnly` in requests only.
enum class Direction : std::uint8_t { any, request, reply };

struct Options {
  // Where the document comes from, for relative references and for messages. It may have an `$id`.
  std::string uri = {};
  // Other documents, by URI.
  std::map<std::string, container::Value> documents = {};
  // date-time, date, time, email, hostname, ipv4, ipv6, uri, uri-reference, uuid, json-pointer and
  // regex.
  bool assert_formats = false;
  Direction direction = Direction::any;
};

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
