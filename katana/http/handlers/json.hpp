// Json<T>: the JSON body of a request or reply as a described struct, a list of them, or a Value.
//
//   Json<User> get(Path<std::int64_t> id);
//   Result<Created<User>> add(Json<NewUser> user);
//
//   as a parameter   the body, read and checked against the rules of the description. A body that
//                    does not fit is refused before the handler is called, with a problem document.
//                    415: another Content-Type than application/json (or …+json). 400: malformed
//                    JSON. 422: lists all that does not fit, each with its place:
//                    {…,"status":422,"detail":…,"errors":[{"pointer":"/email","detail":…}]}
//   as a reply       200 with the value, or another status: Json<User>{user, 202}
//   Created<T>       201 with the value, and Location
//
// Owns       the value.
// Thread     its reactor's.
// Allocates  a parameter: what its members need. A reply: recycled memory, no heap call once warm.
// Fails      Refusal, as above.
// Invariant  a handler sees only values that obey the rules of their description.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <utility>

#include "katana/data/container/json_read.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/http/handlers/handler.hpp"

namespace katana {

template <class T>
struct Json {
  T value;                // also *json, json->
  unsigned status = 200;  // of a reply
  const T& operator*() const noexcept { return value; }
  const T* operator->() const noexcept { return &value; }
  T& operator*() noexcept { return value; }
  T* operator->() noexcept { return &value; }
};
template <class T>
Json(T) -> Json<T>;
template <class T>
Json(T, unsigned) -> Json<T>;

// 201 with the value as JSON, and Location.
template <class T>
struct Created {
  T value;               // the created resource
  std::string location;  // of what was created: "/users/7"
};
template <class T>
Created(T, std::string) -> Created<T>;

// A value as JSON content. Borrows it for the call.
template <class T>
Reply json_reply(const T& value, unsigned status = 200) {
  Text content;
  container::write_json(value, content);
  return Reply(status, "application/json", std::move(content));
}

namespace detail {

// Nothing when the content may be read as JSON.
std::optional<Refusal> refuse_content_type(const RequestView& request);
Refusal refuse_content(const container::Findings& findings);

template <class T>
struct Extractor<Json<T>> {
  static std::expected<Json<T>, Refusal> from(const RequestView& request, std::size_t) {
    if (auto refusal = refuse_content_type(request)) return std::unexpected(*std::move(refusal));
    std::expected<Json<T>, Refusal> json{std::in_place};
    container::Findings findings;
    if (container::read_json(request.content(), json->value, findings)) [[likely]]
      return json;
    return std::unexpected(refuse_content(findings));
  }
};

template <class T>
inline constexpr bool wants_content<Json<T>> = true;

template <class T>
struct ToReply<Json<T>> {
  static Reply make(Json<T>&& json) { return json_reply(json.value, json.status); }
};
template <class T>
struct ToReply<Created<T>> {
  static Reply make(Created<T>&& created) {
    return json_reply(created.value, 201).with("Location", created.location);
  }
};

}  // namespace detail
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
