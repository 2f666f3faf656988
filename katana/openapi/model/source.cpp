#include "katana/openapi/model/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "katana/base/values/described.hpp"
#include "katana/data/schema/uri.hpp"

namespace katana::openapi::model {

std::string Location::file() const { return source == nullptr ? std::string() : source->name(); }

std::string Location::pointer() const {
  return source == nullptr ? std::string() : source->pointer_at(position);
}

std::string Location::describe() const {
  if (source == nullptr) return "the description";
  return fmt::format("{}:{}:{}: #{}", file(), position.line, position.column, pointer());
}

std::string path_of_uri(const std::string& uri) {
  static constexpr Bytes scheme = "file://";
  const bool is_file = uri.starts_with(scheme);
  const std::size_t colon = uri.find(':');
  if (!is_file && colon != std::string::npos && colon > 1 && uri.find('/') > colon) return {};
  return schema::fragment_of("#" + uri.substr(is_file ? scheme.size() : 0));
}

std::string Source::name() const {
  const std::string path = path_of_uri(uri_);
  return path.empty() ? uri_ : path;
}

void Source::index() const {
  std::call_once(indexed_, [this] {
    places_.push_back({0, 0, &root_});
    sorted_.emplace_back(root_.position, 0);
    for (std::uint32_t at = 0; at < places_.size(); ++at) {
      const Node& node = *places_[at].node;
      for (std::uint32_t child = 0; child < node.items.size(); ++child) {
        const auto place = static_cast<std::uint32_t>(places_.size());
        sorted_.emplace_back(node.items[child].position, place);
        if (!node.keys.empty()) sorted_.emplace_back(node.keys[child].position, place);
        places_.push_back({at, child, &node.items[child]});
      }
    }
    std::ranges::sort(sorted_);
  });
}

std::string Source::pointer_at(Position position) const {
  index();
  const auto after = std::ranges::upper_bound(sorted_, position, {}, &Placed::first);
  if (after == sorted_.begin()) return {};
  const auto first = std::ranges::lower_bound(sorted_, std::prev(after)->first, {}, &Placed::first);
  std::vector<std::uint32_t> steps;
  for (std::uint32_t at = first->second; at != 0; at = places_[at].parent) steps.push_back(at);
  std::string pointer;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const Node& parent = *places_[places_[*step].parent].node;
    const std::uint32_t child = places_[*step].child;
    if (parent.is(Node::Kind::object)) {
      append_pointer(pointer, Bytes(parent.keys[child].name));
    } else {
      append_pointer(pointer, std::size_t{child});
    }
  }
  return pointer;
}

}  // namespace katana::openapi::model

// SPDX-License-Identifier: Apache-2.0
