// Options: what a schema is compiled with.
//
// Owns       its documents.
// Thread     a value.
#pragma once

#include <map>
#include <string>

#include "katana/container/value.hpp"

namespace katana::schema {

struct Options {
  // Where the document comes from, for relative references and for messages. It may have an `$id`.
  std::string uri = {};
  // Other documents, by URI.
  std::map<std::string, container::Value> documents = {};
  // date-time, date, time, email, hostname, ipv4, ipv6, uri, uri-reference, uuid, json-pointer and
  // regex.
  bool assert_formats = false;
};

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
