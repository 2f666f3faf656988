// Preconditions: a parameter of handlers with the conditions of a request (RFC 9110 §13). The
// handler compares them with a ResourceVersion.
//
//   router.put("/notes/{id}", [](Path<int> id, Json<Note> note, Preconditions conditions)
//                                 -> Task<Result<Reply>> {
//     const auto found = co_await load(*id);                       // with its version
//     if (auto refusal = conditions.refusal(found.version)) co_return std::move(*refusal);
//     const auto saved = co_await save(*id, *note, found.version);  // … WHERE version = $3
//     co_return json_reply(saved).with_version(saved.version);
//   });
//
//   of GET and HEAD     If-None-Match, If-Modified-Since: 304
//   of each method      If-Match, If-Unmodified-Since, and If-None-Match of other methods: 412
//   RequiredPreconditions   428 (RFC 6585 §3) where If-Match, If-None-Match and If-Unmodified-Since
//                       are all missing
//
// Owns       Preconditions a copy of the fields; nothing where the request has none.
// Thread     values.
// Allocates  for a request with conditions; a ResourceVersion its tag.
// Fails      never: a malformed condition does not hold, and a malformed date is ignored.
// Invariant  two versions that differ have different tags, and no version's text ends its tag.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <utility>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/base/text/text.hpp"
#include "katana/base/values/text_form.hpp"
#include "katana/http/handlers/parameters.hpp"
#include "katana/http/handlers/problem_type.hpp"
#include "katana/http/handlers/reply.hpp"
#include "katana/http/handlers/request.hpp"
#include "katana/wire/http/conditional.hpp"

namespace katana {

// A value that changes with each change of a resource: a counter, a hash, a time. Any type that has
// a text form.
class ResourceVersion {
 public:
  template <class T>
    requires std::integral<T> && (!std::same_as<T, bool>) && (!std::same_as<T, char>)
  ResourceVersion(T version) : ResourceVersion(Bytes(format_text("{}", version).bytes())) {}
  template <TextFormed T>
  ResourceVersion(const T& version) : ResourceVersion(Bytes(TextForm<T>::write(version))) {}
  // Characters that an entity tag cannot hold are percent-encoded.
  ResourceVersion(Bytes version);
  ResourceVersion(const std::string& version) : ResourceVersion(Bytes(version)) {}
  ResourceVersion(const char* version) : ResourceVersion(Bytes(version)) {}

  // For Last-Modified and If-Unmodified-Since; whole seconds count.
  template <class Time>
    requires requires { typename Time::clock; }
  ResourceVersion modified_at(Time when) && {
    using Period = typename Time::duration::period;
    const std::int64_t scaled = when.time_since_epoch().count() * Period::num;
    modified_s_ = scaled / Period::den - (scaled % Period::den < 0 ? 1 : 0);
    return std::move(*this);
  }

  // The entity tag with its quotes.
  Bytes entity_tag() const noexcept { return tag_.bytes(); }
  std::optional<std::int64_t> modified_s() const noexcept { return modified_s_; }

 private:
  Text tag_;
  std::optional<std::int64_t> modified_s_;
};

class Preconditions {
 public:
  // Without conditions; a request makes the others.
  Preconditions() = default;
  explicit Preconditions(const RequestView& request);

  // Whether a change depends on the present version: the request has If-Match, If-Unmodified-Since
  // or If-None-Match. Otherwise the handler need not load the version.
  bool any() const noexcept;

  http::Condition evaluate(const ResourceVersion& now) const;  // of the resource, as it is now
  // For a resource that does not exist: If-Match fails, also as "*".
  http::Condition evaluate_missing() const;

  // Returns nothing if the handler is to go on. Otherwise 304 with the ETag that the client has, or
  // 412 with the present one. `type`: the problem type of the 412.
  std::optional<Reply> refusal(const ResourceVersion& now) const;
  std::optional<Reply> refusal(const ResourceVersion& now, const ProblemType& type) const;
  // Returns 412 if there is no such resource and the client expects one. If the reply is 404
  // anyway, return that: RFC 9110 §13.2.1.
  std::optional<Reply> refusal_of_missing() const;

  friend std::size_t katana_heap_bytes(const Preconditions& of) noexcept { return of.held_bytes(); }

 private:
  std::size_t held_bytes() const noexcept;
  struct Line {
    http::ConditionField field = {};
    Text value;
  };
  std::optional<Reply> refusal_by(const ResourceVersion& now, const ProblemType* type) const;
  std::vector<http::ConditionLine> lines() const;

  std::vector<Line> lines_;
  bool is_read_ = true;
};

// The same parameter for changes that need a condition.
class RequiredPreconditions : public Preconditions {
 public:
  using Preconditions::Preconditions;
};

template <>
struct FromRequest<Preconditions> {
  static Preconditions from(const RequestView& request) { return Preconditions(request); }
};
template <>
struct FromRequest<RequiredPreconditions> {
  static std::expected<RequiredPreconditions, Reply> from(const RequestView& request);
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
