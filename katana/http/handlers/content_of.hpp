// JsonOf, RawOf, ContentOf (base/values/content_of.hpp) as parameters: a body of one of several
// media types.
//
//   Reply change(JsonOf<User, "application/json", "application/merge-patch+json"> user);
//   Reply add(ContentOf<JsonOf<User, "application/json">, RawOf<"text/csv">> content);
//
// Json<T> takes application/json and any …+json; these take the types that they list and no others.
// Their JSON is read and checked as that of a Json<T>.
//
// Owns       the values: RawOf copies the content.
// Thread     its reactor's.
// Allocates  what the values need.
// Fails      Refusal: 415 that names the accepted media types, also in the field Accept; for JSON
//            400 and 422 as Json<T>.
// Invariant  `type` is that of the request, in lower case and without parameters.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <expected>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "katana/base/values/content_of.hpp"
#include "katana/http/handlers/json.hpp"

namespace katana {

// For data/container/heap_bytes.hpp, which finds them by argument-dependent lookup.
template <class T, MediaTypeText... types>
std::size_t katana_heap_bytes(const JsonOf<T, types...>& content) {
  return container::known_heap_bytes(content.value).bytes + container::heap_bytes(content.type);
}
template <MediaTypeText... types>
std::size_t katana_heap_bytes(const RawOf<types...>& content) {
  return container::heap_bytes(content.value) + container::heap_bytes(content.type);
}

}  // namespace katana

namespace katana::detail {

// Returns the type of the body in lower case, without parameters; empty if there is none.
std::string content_type_of(const RequestView& request);
// Returns the best result of media_type_fit().
int best_fit(std::span<const Bytes> ranges, Bytes type) noexcept;
Refusal refuse_media_type(const RequestView& request, std::span<const Bytes> taken);

// Reads a body of the media type `type`, which fits.
template <class T, MediaTypeText... types>
std::expected<void, Refusal> read_content(const RequestView& request, std::string&& type,
                                          JsonOf<T, types...>& to) {
  to.type = std::move(type);
  container::Findings findings;
  if (container::read_json(request.content(), to.value, findings)) return {};
  return std::unexpected(refuse_content(findings));
}
template <MediaTypeText... types>
std::expected<void, Refusal> read_content(const RequestView& request, std::string&& type,
                                          RawOf<types...>& to) {
  to = {.value = std::string(request.content()), .type = std::move(type)};
  return {};
}

// JsonOf and RawOf.
template <class C>
struct MediaExtractor {
  static std::expected<C, Refusal> from(const RequestView& request, std::size_t) {
    std::string type = content_type_of(request);
    if (best_fit(C::media_types, type) == 0) {
      return std::unexpected(refuse_media_type(request, C::media_types));
    }
    std::expected<C, Refusal> content{std::in_place};
    auto read = read_content(request, std::move(type), *content);
    if (!read) return std::unexpected(std::move(read.error()));
    return content;
  }
};
template <class T, MediaTypeText... types>
struct Extractor<JsonOf<T, types...>> : MediaExtractor<JsonOf<T, types...>> {};
template <MediaTypeText... types>
struct Extractor<RawOf<types...>> : MediaExtractor<RawOf<types...>> {};

template <class... A>
struct Extractor<ContentOf<A...>> {
  static std::expected<ContentOf<A...>, Refusal> from(const RequestView& request, std::size_t) {
    std::string type = content_type_of(request);
    const std::array<int, sizeof...(A)> fits{best_fit(A::media_types, type)...};
    const auto best = std::ranges::max_element(fits);
    if (*best == 0) return std::unexpected(refuse(request));
    ContentOf<A...> content;
    std::expected<void, Refusal> read;
    std::size_t index = 0;
    const auto read_one = [&]<class B>(std::type_identity<B>) {
      if (static_cast<std::size_t>(best - fits.begin()) != index++) return;
      read = read_content(request, std::move(type), content.value.template emplace<B>());
    };
    (read_one(std::type_identity<A>()), ...);
    if (!read) return std::unexpected(std::move(read.error()));
    return content;
  }

 private:
  static Refusal refuse(const RequestView& request) {
    std::vector<Bytes> all;
    (all.insert(all.end(), A::media_types.begin(), A::media_types.end()), ...);
    return refuse_media_type(request, all);
  }
};

template <class T, MediaTypeText... types>
inline constexpr bool wants_content<JsonOf<T, types...>> = true;
template <MediaTypeText... types>
inline constexpr bool wants_content<RawOf<types...>> = true;
template <class... A>
inline constexpr bool wants_content<ContentOf<A...>> = true;

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
