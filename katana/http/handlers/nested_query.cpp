#include "katana/http/handlers/nested_query.hpp"

#include <fmt/format.h>

#include "katana/http/handlers/split_parameters.hpp"
#include "katana/wire/http/url.hpp"

namespace katana::detail {
namespace {

// Whether a member has the name, or the name before its brackets.
bool is_of_member(Bytes name, const NestedNames& names) {
  return names.is_member(name) || names.is_member(name.substr(0, name.find('[')));
}

}  // namespace

std::optional<Error> add_nested(container::FormTree& tree, Bytes name, container::FormLeaf leaf,
                                const char* kind, const NestedNames& names) {
  const bool is_own = !names.own.empty() && (name == names.own || !is_of_member(name, names));
  const Result<void> added = is_own ? tree.add_below(names.own, name, std::move(leaf))
                             : names.is_member(name) ? tree.add_plain(name, std::move(leaf))
                                                     : tree.add(name, std::move(leaf));
  if (added) return std::nullopt;
  return Error(Code::invalid_argument, fmt::format("{} {}", kind, added.error().message()));
}

std::optional<Error> add_nested_pairs(container::FormTree& tree, Bytes pairs, const char* kind,
                                      const NestedNames& names) {
  http::QueryReader reader(pairs);
  Bytes raw_name, raw;
  while (reader.next(raw_name, raw)) {
    const auto name = decoded_form(raw_name, kind, raw_name.substr(0, 64));
    if (!name) return name.error();
    const char separator = names.separator(name->bytes());
    const bool is_list = separator != '\0' && separator != nested_names && separator != own_names;
    for (bool more = true; more;) {
      more = false;
      const Bytes item = is_list ? cut_item(raw, separator, more) : raw;
      const auto text = decoded_form(item, kind, name->bytes());
      if (!text) return text.error();
      auto error = add_nested(tree, name->bytes(), {std::string(text->bytes())}, kind, names);
      if (error) return error;
    }
  }
  return std::nullopt;
}

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
