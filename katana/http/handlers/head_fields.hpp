// Header<T>, Cookie<T>: parameters of a handler, made from header fields and from cookies.
//
//   struct Conditions {
//     std::optional<std::string> if_match;
//     std::optional<Uuid> x_request_id;
//   };
//   KATANA_DESCRIBE(Conditions, if_match, x_request_id)
//
//   struct Session {
//     std::string session;
//   };
//   KATANA_DESCRIBE(Session, (session, required, secret))
//   Reply save(Path<int> id, Header<Conditions> conditions, Cookie<Session> cookies);
//
// A field is found by the name of its member without regard to case, with `_` for `-`; a cookie by
// the exact name. If a field comes more than once, a std::vector gets one item for each line. For
// any other member the last line counts. JSON in a cookie (container::AsJson<T>) is plain or
// percent-encoded, because RFC 6265 §4.1.1 has no quotes in cookies.
//
// Fails      Code::invalid_argument with the name, the expected and the received value; 400.
#pragma once

#include <array>
#include <cstddef>
#include <expected>
#include <optional>
#include <string>

#include "katana/http/handlers/cookies.hpp"
#include "katana/http/handlers/extract.hpp"
#include "katana/wire/http/characters.hpp"

namespace katana {

// The header fields as the members of T: x_request_id is X-Request-Id. 400 as for a Query.
template <Described T>
struct Header {
  static_assert(unknown_names<T> != UnknownNames::refuse,
                "a request has header fields that no handler names: describe T by KATANA_DESCRIBE");
  T value;  // also *fields, fields->
  const T& operator*() const noexcept { return value; }
  const T* operator->() const noexcept { return &value; }
};

// The cookies as the members of T; names are case-sensitive. 400 as for a Query.
template <Described T>
struct Cookie {
  static_assert(unknown_names<T> != UnknownNames::refuse,
                "a browser sends cookies of others, too: describe T by KATANA_DESCRIBE");
  T value;  // also *fields, fields->
  const T& operator*() const noexcept { return value; }
  const T* operator->() const noexcept { return &value; }
};

namespace detail {

class HeaderPairs {
 public:
  static constexpr const char* kind = "header field";
  explicit HeaderPairs(const http::Head& head) noexcept : head_(head) {}

  bool next() noexcept { return at_++ < head_.field_count(); }
  bool is(Bytes name) const noexcept {
    const Bytes sent = head_.name(at_ - 1);
    if (sent.size() != name.size()) return false;
    for (std::size_t i = 0; i < name.size(); ++i) {
      const char described = name[i] == '_' ? '-' : http::to_lower(name[i]);
      if (http::to_lower(sent[i]) != described) return false;
    }
    return true;
  }
  Bytes shown_name() const noexcept { return head_.name(at_ - 1); }
  template <class T>
  Result<T> value(Telling telling) const {
    return parse_text<T>(head_.value(at_ - 1), telling);
  }
  std::optional<Error> error() const noexcept { return std::nullopt; }

 private:
  const http::Head& head_;
  std::size_t at_ = 0;  // behind the current field
};

// Returns the JSON of a cookie without its percent-encoding. The encoded form has none of the
// characters of JSON itself.
std::string json_of_cookie(Bytes value);

class CookiePairs {
 public:
  static constexpr const char* kind = "cookie";
  explicit CookiePairs(const http::Head& head) noexcept : head_(head) {}

  bool next() noexcept;
  bool is(Bytes name) const noexcept { return name == name_; }
  Bytes shown_name() const noexcept { return name_; }
  template <class T>
  Result<T> value(Telling telling) const {
    if constexpr (requires { TextForm<T>::is_json; }) {
      return parse_text<T>(json_of_cookie(value_), telling);
    }
    return parse_text<T>(value_, telling);
  }
  std::optional<Error> error() const noexcept { return std::nullopt; }

 private:
  const http::Head& head_;
  std::size_t at_ = 0;  // behind the field that is read
  CookieReader reader_{Bytes()};
  Bytes name_, value_;
};

template <Described T>
inline constexpr auto header_names = [] {
  std::array<Bytes, field_count<T>> names;
  std::size_t place = 0;
  for_each_field<T>([&](const auto& field) { names[place++] = field.name; });
  return names;
}();

template <class T>
struct Extractor<Header<T>> {
  static std::expected<Header<T>, Refusal> from(const RequestView& request, std::size_t) {
    if (request.source() != nullptr) request.source()->note_read_fields(header_names<T>);
    return extract_pairs<Header<T>>(HeaderPairs(request.head()));
  }
};
template <class T>
struct Extractor<Cookie<T>> {
  static std::expected<Cookie<T>, Refusal> from(const RequestView& request, std::size_t) {
    mark_cookies_read(request);
    return extract_pairs<Cookie<T>>(CookiePairs(request.head()));
  }
};

}  // namespace detail
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
