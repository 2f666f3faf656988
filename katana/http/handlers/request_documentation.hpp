// RequestDocumentation: for OpenAPI, the headers that a middleware reads, in addition to those that
// handlers take, and the replies that it may send.
//
// Owns       its texts.
// Thread     a value; shared by all reactors once a service is built.
// Allocates  its texts, while routes are added.
// Fails      never.
#pragma once

#include <string>
#include <vector>

#include "katana/wire/http/method.hpp"

namespace katana {

// A field, of a request or of a reply.
struct FieldWords {
  std::string name = {};         // "Idempotency-Key"
  std::string description = {};  // CommonMark; empty: none
  std::string pattern = {};      // of its value (ECMA 262); empty: any text
  bool required = false;         // of a request: without it there is a problem
};

// The description of a middleware's requests and replies; SecurityDocumentation has its clients.
struct RequestDocumentation {
  std::vector<http::Method> methods = {};     // of these requests; empty: of all
  std::vector<FieldWords> fields = {};        // that it reads
  std::vector<unsigned> problems = {};        // the statuses that it answers itself
  std::vector<FieldWords> reply_fields = {};  // that replies of success may have from it
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
