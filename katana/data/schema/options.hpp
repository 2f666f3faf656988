// Options: the options for the compilation of a schema.
//
// Owns       its documents.
// Thread     a value.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "katana/data/container/value.hpp"

namespace katana::schema {

// The direction of the data. In OpenAPI a `required` property that is `readOnly` is required only
// in replies, and one that is `writeOnly` only in requests.
enum class Direction : std::uint8_t { any, request, reply };

struct Options {
  // The URI of the document, for relative references and for messages. The document may have an
  // `$id`.
  std::string uri = {};
  // Other documents, by URI.
  std::map<std::string, container::Value> documents = {};
  // Checks these formats: date-time, date, time, email, hostname, ipv4, ipv6, uri, uri-reference,
  // uuid, json-pointer and regex.
  bool assert_formats = false;
  Direction direction = Direction::any;
};

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
