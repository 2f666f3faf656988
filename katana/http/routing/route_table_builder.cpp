#include "katana/http/routing/route_table_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "katana/http/routing/path_words.hpp"
#include "katana/http/routing/route_pattern.hpp"

namespace katana {
namespace {

using detail::hash_of;
using detail::key_of;
using detail::segment_of;
using detail::take_segment;
using http::Method;
using SegmentKind = detail::RouteSegmentKind;

constexpr std::uint32_t root = 0;

Bytes label_of(std::size_t method) noexcept {
  return method == http::method_names.size() ? Bytes("any method") : http::method_names[method];
}

}  // namespace

// A node of the tree while it grows.
struct RouteTable::DraftNode {
  SegmentKind kind = SegmentKind::literal;
  std::uint8_t parameter_index = 0;
  Bytes prefix;  // of a part, as is the suffix
  Bytes suffix;
  Bytes label;
  std::map<std::uint8_t, std::uint32_t> literal_children;  // by the first byte of their label
  std::vector<std::uint32_t> part_children;                // the most specific first
  std::uint32_t parameter_child = none;
  std::uint32_t rest_child = none;
  std::uint32_t endpoint = none;
};

// Makes a table of checked patterns. Shapes are added in sorted order: the table's layout does not
// depend on the order of registration.
class RouteTable::Assembler {
 public:
  using Served = RouteTableBuilder::Served;

  explicit Assembler(const std::vector<std::string>& patterns) {
    std::size_t bytes = 0;
    std::size_t names = 0;
    for (const std::string& pattern : patterns) {
      bytes += pattern.size();
      names += static_cast<std::size_t>(std::ranges::count(pattern, '{'));
    }
    table_.text_.reserve(bytes);  // reserved once: views into them stay valid
    table_.names_.reserve(names);
    for (const std::string& pattern : patterns) add_route(pattern);
  }

  void add_shape(const Served& served) {
    const std::uint32_t route = *std::ranges::find_if(
        served, [](std::uint32_t candidate) { return candidate != no_route; });
    const auto endpoint = static_cast<std::uint32_t>(table_.endpoints_.size());
    table_.endpoints_.push_back(endpoint_of(served));
    const Bytes pattern = table_.routes_[route].pattern;
    if (table_.routes_[route].names.empty()) {
      literals_.emplace_back(pattern, endpoint);
    } else {
      add_to_tree(pattern, endpoint);
    }
  }

  RouteTable take() && {
    fill_literals();
    std::size_t row_entries = 0;
    std::size_t choices = 0;
    for (const DraftNode& draft : drafts_) {
      row_entries += row_size_of(draft);
      choices += draft.part_children.size();
    }
    table_.nodes_.reserve(drafts_.size() +
                          choices);  // reserved once: pointers into them stay valid
    table_.rows_.reserve(row_entries);
    if (!drafts_.empty()) table_.node_visits_max_ = emit(root);
    return std::move(table_);
  }

 private:
  void add_route(Bytes pattern) {
    const char* const text = table_.text_.data() + table_.text_.size();
    table_.text_.insert(table_.text_.end(), pattern.begin(), pattern.end());
    const Bytes* const names = table_.names_.data() + table_.names_.size();
    Bytes rest{text, pattern.size()};
    while (!rest.empty()) {
      const detail::RouteSegment segment = segment_of(take_segment(rest));
      if (segment.kind != SegmentKind::literal) table_.names_.push_back(segment.text);
    }
    table_.routes_.push_back(
        {{text, pattern.size()}, {names, table_.names_.data() + table_.names_.size()}});
  }

  static Endpoint endpoint_of(const Served& served) {
    Endpoint endpoint{};
    endpoint.route_for = served;
    std::uint32_t& head = endpoint.route_for[index_of(Method::head)];
    if (head == no_route) head = served[index_of(Method::get)];
    for (std::size_t method = 0; method < any_method; ++method) {
      std::uint32_t& route = endpoint.route_for[method];
      if (route == no_route) route = served[any_method];
      if (route != no_route) endpoint.allowed.insert(static_cast<Method>(method));
    }
    endpoint.allowed.insert(Method::options);
    return endpoint;
  }

  // A pattern consists of texts, each up to the segment of a parameter or to its end.
  void add_to_tree(Bytes pattern, std::uint32_t endpoint) {
    if (drafts_.empty()) drafts_.emplace_back();
    std::uint32_t node = root;
    std::uint8_t parameter_count = 0;
    for (Bytes rest = pattern;;) {
      const std::size_t open = rest.find('{');
      const std::size_t run = open == Bytes::npos ? rest.size() : rest.rfind('/', open) + 1;
      node = node_after(node, rest.substr(0, run));
      rest.remove_prefix(run);
      if (rest.empty()) break;
      const auto segment = segment_of(rest.substr(0, rest.find('/')));
      node = segment.kind == SegmentKind::part
                 ? part_child_of(node, segment, parameter_count++)
                 : parameter_child_of(node, segment.kind, parameter_count++);
      rest.remove_prefix(rest.find('}') + 1);  // the text behind a part begins its label
    }
    drafts_[node].endpoint = endpoint;
  }

  // Returns the node at the end of the text that follows a node; makes and splits nodes as needed.
  std::uint32_t node_after(std::uint32_t node, Bytes text) {
    for (;;) {
      if (is_blank(drafts_[node])) {
        drafts_[node].label = text;
        return node;
      }
      const Bytes label = drafts_[node].label;
      const auto common =
          static_cast<std::size_t>(std::ranges::mismatch(label, text).in1 - label.begin());
      if (common < label.size()) split(node, common);
      text.remove_prefix(common);
      if (text.empty()) return node;
      const auto fresh = static_cast<std::uint32_t>(drafts_.size());
      const auto [child, made] = drafts_[node].literal_children.try_emplace(
          static_cast<std::uint8_t>(text.front()), fresh);
      node = child->second;
      if (!made) continue;
      drafts_.emplace_back().label = text;
      return fresh;
    }
  }

  static bool is_blank(const DraftNode& draft) {
    return draft.label.empty() && draft.endpoint == none && draft.literal_children.empty() &&
           draft.part_children.empty() && draft.parameter_child == none && draft.rest_child == none;
  }

  // Keeps the part of a node up to this place of its label; the rest becomes a child.
  void split(std::uint32_t node, std::size_t place) {
    DraftNode tail = std::move(drafts_[node]);
    DraftNode head;
    head.kind = std::exchange(tail.kind, SegmentKind::literal);
    head.parameter_index = std::exchange(tail.parameter_index, std::uint8_t{0});
    head.prefix = std::exchange(tail.prefix, Bytes());
    head.suffix = std::exchange(tail.suffix, Bytes());
    head.label = tail.label.substr(0, place);
    tail.label.remove_prefix(place);
    head.literal_children.emplace(static_cast<std::uint8_t>(tail.label.front()),
                                  static_cast<std::uint32_t>(drafts_.size()));
    drafts_[node] = std::move(head);
    drafts_.push_back(std::move(tail));
  }

  std::uint32_t parameter_child_of(std::uint32_t node, SegmentKind kind, std::uint8_t index) {
    const bool is_rest = kind == SegmentKind::rest;
    std::uint32_t& child = is_rest ? drafts_[node].rest_child : drafts_[node].parameter_child;
    if (child != none) return child;
    child = static_cast<std::uint32_t>(drafts_.size());
    const std::uint32_t fresh = child;  // growing the vector invalidates the reference
    DraftNode& draft = drafts_.emplace_back();
    draft.kind = kind;
    draft.parameter_index = index;
    return fresh;
  }

  // Patterns share a part only with its complete text: no label ends within it. Two parts with
  // different texts of the same lengths never fit one path: either may come first.
  std::uint32_t part_child_of(std::uint32_t node, const detail::RouteSegment& segment,
                              std::uint8_t index) {
    std::vector<std::uint32_t>& children = drafts_[node].part_children;
    const std::pair size(segment.prefix.size(), segment.suffix.size());
    auto place = children.begin();
    for (; place != children.end(); ++place) {
      const DraftNode& other = drafts_[*place];
      if (other.prefix == segment.prefix && other.suffix == segment.suffix) return *place;
      if (std::pair(other.prefix.size(), other.suffix.size()) < size) break;
    }
    const auto fresh = static_cast<std::uint32_t>(drafts_.size());
    children.insert(place, fresh);
    DraftNode& draft = drafts_.emplace_back();  // invalidates the reference
    draft.kind = SegmentKind::part;
    draft.parameter_index = index;
    draft.prefix = segment.prefix;
    draft.suffix = segment.suffix;
    return fresh;
  }

  void fill_literals() {
    table_.literals_.resize(std::bit_ceil(2 * literals_.size() + 1));
    table_.literal_mask_ = table_.literals_.size() - 1;
    for (const auto& [path, endpoint] : literals_) {
      table_.literal_sizes_ |= std::uint64_t{1} << path.size() % 64;
      const detail::RouteKey key = key_of(path);
      std::uint64_t index = hash_of(key, path);
      while (table_.literals_[index & table_.literal_mask_].endpoint != none) ++index;
      table_.literals_[index & table_.literal_mask_] = {key, path.data(), endpoint};
    }
  }

  // Appends a node and all below it; returns the largest number of visits. The depth of the
  // recursion is the number of nodes of a pattern.
  std::uint32_t emit(std::uint32_t draft_number) {
    const DraftNode& draft = drafts_[draft_number];
    Node& node = table_.nodes_.emplace_back();
    node.kind = draft.kind;
    node.parameter_index = draft.parameter_index;
    set_label(node, draft.label);
    if (draft.endpoint != none) node.endpoint = &table_.endpoints_[draft.endpoint];
    const Node** const row = table_.rows_.data() + table_.rows_.size();
    node.row = row;
    node.row_size = static_cast<std::uint16_t>(row_size_of(draft));
    if (node.row_size > 0) node.first_byte = draft.literal_children.begin()->first;
    table_.rows_.resize(table_.rows_.size() + node.row_size);
    std::uint32_t visits = 0;
    for (const auto& [byte, child] : draft.literal_children) {
      row[byte - node.first_byte] = table_.nodes_.data() + table_.nodes_.size();
      visits = std::max(visits, emit(child));
    }
    node.suffix_size = static_cast<std::uint8_t>(draft.suffix.size());
    visits += emit_parameters(draft, 0, node.parameter_child);
    visits += emit_if_any(draft.rest_child, node.rest_child);
    return visits + 1;
  }

  static void set_label(Node& node, Bytes label) {
    node.label = label.data();
    node.label_size = static_cast<std::uint16_t>(label.size());
    node.label_word = key_of(label).first;
    if (label.empty()) return;
    node.label_mask = UINT64_MAX >> (8 - std::min(label.size(), std::size_t{8})) * 8;
  }

  // Appends the parts from this one on, each behind a choice, and the parameter without text.
  std::uint32_t emit_parameters(const DraftNode& draft, std::size_t part, const Node*& child) {
    if (part == draft.part_children.size()) return emit_if_any(draft.parameter_child, child);
    Node& choice = table_.nodes_.emplace_back();
    child = &choice;
    choice.kind = SegmentKind::choice;
    set_label(choice, drafts_[draft.part_children[part]].prefix);
    std::uint32_t visits = emit_if_any(draft.part_children[part], choice.parameter_child);
    visits += emit_parameters(draft, part + 1, choice.rest_child);
    return visits + 1;
  }

  std::uint32_t emit_if_any(std::uint32_t draft_number, const Node*& child) {
    if (draft_number == none) return 0;
    child = table_.nodes_.data() + table_.nodes_.size();
    return emit(draft_number);
  }

  static std::size_t row_size_of(const DraftNode& draft) {
    if (draft.literal_children.empty()) return 0;
    return draft.literal_children.rbegin()->first - draft.literal_children.begin()->first + 1U;
  }

  RouteTable table_;
  std::vector<DraftNode> drafts_;  // the root first; empty if no pattern has a parameter
  std::vector<std::pair<Bytes, std::uint32_t>> literals_;
};

Result<std::uint32_t> RouteTableBuilder::add(Method method, std::string_view pattern) {
  if (method == Method::extension) {
    return fail(Code::invalid_argument,
                fmt::format("route \"{}\": only the {} registered methods have routes;"
                            " add the pattern for any method and read the method in the handler",
                            pattern, RouteTable::any_method));
  }
  return add_route(RouteTable::index_of(method), pattern);
}

Result<std::uint32_t> RouteTableBuilder::add_any_method(std::string_view pattern) {
  return add_route(RouteTable::any_method, pattern);
}

Result<std::uint32_t> RouteTableBuilder::add_route(std::size_t method, std::string_view pattern) {
  Result<std::string> shape = detail::shape_of(label_of(method), pattern);
  if (!shape) return std::unexpected(shape.error());
  const auto route = static_cast<std::uint32_t>(patterns_.size());
  if (route == routes_max) {
    return fail(Code::resource_exhausted,
                fmt::format("route {} \"{}\": the table has {} routes already and holds no more;"
                            " replace routes that differ in one segment by a parameter",
                            label_of(method), pattern, routes_max));
  }
  Served nothing;
  nothing.fill(RouteTable::no_route);
  std::uint32_t& served = shapes_.try_emplace(std::move(*shape), nothing).first->second[method];
  if (served != RouteTable::no_route) {
    return fail(Code::already_exists,
                fmt::format("route {0} \"{1}\": \"{2}\" is registered for {0} already and fits the"
                            " same paths; keep one of them",
                            label_of(method), pattern, patterns_[served]));
  }
  served = route;
  patterns_.emplace_back(pattern);
  return route;
}

RouteTable RouteTableBuilder::build() && {
  RouteTable::Assembler assembler(patterns_);
  for (const auto& [shape, served] : shapes_) assembler.add_shape(served);
  return std::move(assembler).take();
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
