// FormOf (base/values/content_of.hpp) as a parameter, and as an alternative of a ContentOf: a form
// or another body, such as the same fields as JSON.
//
//   Reply add(ContentOf<JsonOf<Message, "application/json">,
//                       FormOf<MessageForm, "multipart/form-data">> content);
//
// A form is read as in a FormFields<T>, or in a NestedForm<T> if T has names with brackets
// (base/values/separators.hpp).
//
// Owns       the value.
// Thread     its reactor's.
// Allocates  what the value needs.
// Fails      Refusal: 415 for a type that is not listed, 400 as FormFields<T> and NestedForm<T>.
// Invariant  `type` is that of the request, in lower case and without parameters.
#pragma once

#include <expected>
#include <string>
#include <type_traits>
#include <utility>

#include "katana/base/values/content_of.hpp"
#include "katana/base/values/separators.hpp"
#include "katana/http/forms/form_fields.hpp"
#include "katana/http/forms/nested_form.hpp"
#include "katana/http/handlers/content_of.hpp"

namespace katana {

// For data/container/heap_bytes.hpp, which finds it by argument-dependent lookup.
template <class T, MediaTypeText... types>
std::size_t katana_heap_bytes(const FormOf<T, types...>& content) {
  return container::known_heap_bytes(content.value).bytes + container::heap_bytes(content.type);
}

// A ContentOf finds it by argument-dependent lookup and reads its content.
template <class T, MediaTypeText... types>
std::expected<void, detail::Refusal> read_content(const RequestView& request, std::string&& type,
                                                  FormOf<T, types...>& to) {
  using Whole = std::conditional_t<HasSeparators<T>, NestedForm<T>, FormFields<T>>;
  auto form = detail::Extractor<Whole>::from(request, 0);
  if (!form) return std::unexpected(std::move(form.error()));
  to = {.value = std::move(form->value), .type = std::move(type)};
  return {};
}

namespace detail {

template <class T, MediaTypeText... types>
struct Extractor<FormOf<T, types...>> : MediaExtractor<FormOf<T, types...>> {};
template <class T, MediaTypeText... types>
inline constexpr bool wants_content<FormOf<T, types...>> = true;

}  // namespace detail
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
