// ProblemType: a problem with its own type (RFC 9457 §3.1.1). Programs tell it by the type from
// other problems of its status.
//
//   inline constexpr ProblemType email_taken{
//       .uri = "/problems/email-taken",
//       .status = 409,
//       .title = "The e-mail address is taken",
//       .description = "Another user has this address: ask for it, or take another one."};
//
//   return problem(email_taken, "Another user has ada@example.org.");
//   // With its own members:
//   return problem(balance_too_low, "It costs 50.", Balance{.cents = 30});
//
// openapi::ProblemTypes (openapi/document/problem_types.hpp) is the catalogue of a program. It
// serves a page for each type, and the OpenAPI document names them.
//
// Borrows    literals.
// Thread     a constant.
// Allocates  problem(): the content, from the recycler.
// Fails      never.
#pragma once

#include <utility>

#include "katana/base/text/bytes.hpp"
#include "katana/base/text/text.hpp"
#include "katana/base/values/described.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/http/handlers/reply.hpp"

namespace katana {

struct ProblemType {
  // The URI of the type and of its page: a path, or "https://…". Clients compare it.
  Bytes uri = {};
  unsigned status = 400;
  // The same for every occurrence.
  Bytes title = {};
  // The cause and the remedy, for its page and the OpenAPI document. Markdown.
  Bytes description = {};
};

// `detail` is for people, and describes this occurrence.
Reply problem(const ProblemType& type, Bytes detail);

namespace detail {
// `members`: a JSON object; its members follow those of RFC 9457.
Reply problem_with(const ProblemType& type, Bytes detail, Text members);
}  // namespace detail

// The same with the members of a described struct (RFC 9457 §3.2), for programs. None of them may
// be called type, title, status, detail or instance.
template <Described T>
Reply problem(const ProblemType& type, Bytes detail, const T& members) {
  Text text;
  container::write_json(members, text);
  return detail::problem_with(type, detail, std::move(text));
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
