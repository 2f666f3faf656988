// NestedForm<T>: a form as in FormFields<T>, with brackets in its names: its members may be objects
// and lists of them.
//
//   card[number]=4242&items[0][price]=7
//
//   Reply order(NestedForm<Order> form) { return Reply::text(form->card.number); }
//
// Names are read as in a NestedQuery<T> (http/handlers/nested_query.hpp). A FormFile may be a
// member of T, or of an object in it.
//
// Owns       its value.
// Thread     its reactor's.
// Allocates  a tree of all names and values, for the call, and what the members need.
// Fails      with a Refusal: 415 for another type, 400 with all that does not fit, each with the
//            name that was sent.
// Invariant  at most 1,000 values, and at most 16 brackets in a name
//            (data/container/form_tree.hpp).
#pragma once

#include <expected>
#include <utility>

#include "katana/http/forms/form_fields.hpp"
#include "katana/http/handlers/nested_query.hpp"

namespace katana {

// A form as the members of T, by names with brackets.
template <Described T>
struct NestedForm {
  T value;  // also *form, form->
  const T& operator*() const noexcept { return value; }
  const T* operator->() const noexcept { return &value; }
};

namespace detail {

// All fields of either kind of form.
std::expected<container::FormTree, Refusal> form_tree_of(const RequestView& request,
                                                         const NestedNames& names);

template <class T>
struct Extractor<NestedForm<T>> {
  static std::expected<NestedForm<T>, Refusal> from(const RequestView& request, std::size_t) {
    auto tree = form_tree_of(request, nested_names_of<T>);
    if (!tree) return std::unexpected(std::move(tree.error()));
    auto value = read_nested<T>(*tree, "form field");
    if (!value) return std::unexpected(std::move(value.error()));
    return NestedForm<T>{*std::move(value)};
  }
};

template <class T>
inline constexpr bool wants_content<NestedForm<T>> = true;

}  // namespace detail
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
