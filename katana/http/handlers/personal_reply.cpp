#include "katana/http/handlers/personal_reply.hpp"

#include "katana/http/handlers/reply_fields.hpp"
#include "katana/wire/http/characters.hpp"
#include "katana/wire/http/field_list.hpp"

namespace katana::detail {
namespace {

using session::Personal;

// Fields that caches of one kind read instead of Cache-Control.
bool is_for_some_caches(Bytes name) noexcept {
  constexpr Bytes cdn = "cdn-cache-control";
  if (http::equals_ignoring_case(name, "surrogate-control")) return true;
  return name.size() >= cdn.size() &&
         http::equals_ignoring_case(name.substr(name.size() - cdn.size()), cdn);
}

bool forbids_sharing(Bytes fields) {
  bool forbids = false;
  for_each_line(fields, [&](Bytes name, Bytes value, Bytes) {
    if (!http::equals_ignoring_case(name, "cache-control")) return;
    forbids |=
        http::list_contains_token(value, "no-store") || http::list_contains_token(value, "private");
  });
  return forbids;
}

void leave_out_targeted_fields(Reply& reply) {
  bool has_some = false;
  for_each_line(reply.fields(),
                [&](Bytes name, Bytes, Bytes) { has_some |= is_for_some_caches(name); });
  if (!has_some) return;
  Text left;
  for_each_line(reply.fields(), [&](Bytes name, Bytes, Bytes line) {
    if (!is_for_some_caches(name)) left.append(line);
  });
  PreparedReply::fields(reply) = std::move(left);
}

}  // namespace

void restrict_sharing(const session::PersonalMark& mark, Reply& reply) {
  if (reply.invalid()) return;
  if (mark.has(Personal::cookie) || mark.has(Personal::no_cookie)) add_vary(reply, "Cookie");
  if (!mark.is_set()) return;
  leave_out_targeted_fields(reply);
  if (!find_field(reply.fields(), "Cache-Control")) {
    const bool names_a_user =
        mark.has(Personal::principal) || mark.has(Personal::session) || mark.has(Personal::value);
    reply.add_field("Cache-Control", names_a_user ? "no-store" : "private");
  } else if (!forbids_sharing(reply.fields())) {
    reply.add_field("Cache-Control", "private");
  }
}

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
