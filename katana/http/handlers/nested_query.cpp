#include "katana/http/handlers/nested_query.hpp"

#include <fmt/format.h>

#include "katana/http/handlers/split_parameters.hpp"
#include "katana/wire/http/url.hpp"

namespace katana::detail {
namespace {

// Whether the dictionary `names.own` takes a name: no other member has it, nor the name before its
// brackets.
bool is_own(Bytes name, const NestedNames& names) {
  if (names.own.empty()) return false;
  if (names.is_member(name)) return name == names.own;
  const Bytes outer = name.substr(0, name.find('['));
  return outer == names.own || !names.is_member(outer);
}

}  // namespace

std::optional<Refusal> add_nested(container::FormTree& tree, Bytes name, container::FormLeaf leaf,
                                  const char* kind, const NestedNames& names) {
  const Result<void> added = is_own(name, names) ? tree.add_below(names.own, name, std::move(leaf))
                             : names.is_member(name) ? tree.add_plain(name, std::move(leaf))
                                                     : tree.add(name, std::move(leaf));
  if (added) return std::nullopt;
  return Refusal(parameter_problem(
      Error(Code::invalid_argument, fmt::format("{} {}", kind, added.error().message()))));
}

std::optional<Refusal> add_nested_pairs(container::FormTree& tree, Bytes pairs, const char* kind,
                                        const NestedNames& names) {
  http::QueryReader reader(pairs);
  Bytes raw_name, raw;
  while (reader.next(raw_name, raw)) {
    const auto name = decoded_form(raw_name);
    if (!name) {
      return refuse_parameter(kind, raw_name.substr(0, 64),
                              not_decoded(raw_name, Telling::words).message());
    }
    const char separator = names.separator(name->bytes());
    const bool is_list = separator != '\0' && separator != nested_names && separator != own_names;
    for (bool more = true; more;) {
      more = false;
      const Bytes item = is_list ? cut_item(raw, separator, more) : raw;
      const auto text = decoded_form(item);
      if (!text) {
        return refuse_parameter(kind, name->bytes(), not_decoded(item, Telling::words).message());
      }
      auto refused = add_nested(tree, name->bytes(), {std::string(text->bytes())}, kind, names);
      if (refused) return refused;
    }
  }
  return std::nullopt;
}

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
