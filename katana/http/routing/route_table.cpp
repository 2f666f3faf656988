// There are two steps; the second is only taken when the first finds nothing:
//
//   the whole path is a pattern     one hash, one comparison
//   walk of the tree                one load per byte at which patterns part
//
// The tree holds only the patterns with parameters, as a radix tree. Text that patterns share is
// stored once, and a node without a choice is merged into the one before it. A node consumes, in
// this order:
//
//   its kind      parameter: the segment; part: the segment without the text behind the parameter;
//                 rest: all that is left; literal: nothing
//   its label     text that has to come next, slashes included; it may begin and end in mid-segment
//
// and then continues, the most specific way first:
//
//   at the end of the path     its endpoint, then the rest child
//   before it                  the literal child for the next byte, then the parameter child unless
//                              the segment is empty, then the rest child
//
// Where parameters have text beside them, the parameter child is a choice. The label of a choice is
// the text before the most specific part, and its parameter child is that part. Its rest child is
// the next choice, or the parameter without text, and begins at the same place as the choice. A
// walk keeps two untried ways for each segment, however many texts there are.
//
// Parameter and rest children belong to nodes that end with a slash, where a segment starts. The
// walk keeps the untried ways on a stack, with the most specific on top. It therefore meets the
// fitting endpoints in the order of specificity.
//
// The work is bounded. A node is reached in one way only, and at one place of a given path, which
// follows from the number of segments before it. Therefore no walk visits a node twice, even after
// it turns back, and there is nothing to memoise. Only a tree that doubles with each segment causes
// work that does. The application writes the tree, never the client. node_visits_max() is the worst
// case of a tree. Only one of the literal children can fit the next byte:
//
//   visits(node) = 1 + max(visits(literal children)) + visits(parameter child) + visits(rest child)

#include "katana/http/routing/route_table.hpp"

#include "katana/base/system/check.hpp"
#include "katana/http/routing/path_words.hpp"

namespace katana {
namespace {

using detail::hash_of;
using detail::key_of;
using detail::read_short_word;
using detail::read_word;
using detail::segment_end;
using http::Method;
using SegmentKind = detail::RouteSegmentKind;

}  // namespace

// The loop ends, because half of the slots are empty.
std::uint32_t RouteTable::find_literal(Bytes path) const noexcept {
  for (std::uint64_t index = hash_of(key_of(path), path);; ++index) {
    const LiteralSlot& slot = literals_[index & literal_mask_];
    if (slot.endpoint == none) return none;
    if (Bytes{slot.text, slot.key.size} == path) return slot.endpoint;
  }
}

// Finds the endpoints of the tree that fit a path, the most specific one first, and records the
// parameters on the way to them. Its parts are inlined by force: their calls, with the saved
// registers, were a fifth of the instructions of a match.
class RouteTable::Walk {
 public:
  Walk(const RouteTable& table, Bytes path, PathParameters& parameters) noexcept
      : begin_(path.data()),
        end_(path.data() + path.size()),
        parameters_(parameters),
        node_(table.nodes_.data()),
        at_(begin_) {}

  // Returns the next endpoint, or null.
  [[gnu::always_inline]] const Endpoint* next() noexcept {
    for (;;) {
      while (node_ != nullptr) {
        const Node& node = *node_;
        node_ = nullptr;
        ++visits_;
        if (node.kind != SegmentKind::literal) {
          if (node.kind == SegmentKind::choice) {
            if (node.rest_child != nullptr) push(node.rest_child);
            if (node.label_size > 0 && !take_label(node)) break;
            node_ = node.parameter_child;
            continue;
          }
          if (!take_parameter(node)) break;
        }
        if (node.label_size > 0 && !take_label(node)) break;
        if (at_ == end_) {
          node_ = node.rest_child;
          if (node.endpoint != nullptr) return node.endpoint;
        } else {
          node_ = best_child(node);
        }
      }
      if (pending_count_ == 0) return nullptr;
      const Pending& pending = pending_[--pending_count_];
      node_ = pending.node;
      at_ = pending.at;
    }
  }

  std::uint32_t visits() const noexcept { return visits_; }

 private:
  struct Pending {
    const Node* node;
    const char* at;  // the place in the path where the node begins
  };

  // Records the value at this place of the path, and passes it. Values of parameters further to the
  // left stay: the walk turned back only from places to the right of them. Returns false if the
  // segment of a part has no more than its text.
  [[gnu::always_inline]] bool take_parameter(const Node& node) noexcept {
    const char* const begin = at_;
    at_ = node.kind == SegmentKind::rest ? end_ : segment_end(begin, end_);
    if (node.kind == SegmentKind::part) {
      if (at_ - begin <= node.suffix_size) return false;
      at_ -= node.suffix_size;
      if (ends_in_escape(begin, at_)) return false;
    }
    parameters_.extents_[node.parameter_index] = {static_cast<std::uint32_t>(begin - begin_),
                                                  static_cast<std::uint32_t>(at_ - begin)};
    return true;
  }

  // Returns whether a text ends within "%2F". That is one byte, and the text behind a part begins
  // after it.
  static bool ends_in_escape(const char* begin, const char* end) noexcept {
    return end[-1] == '%' || (end - begin > 1 && end[-2] == '%');
  }

  // Passes the label if it comes next.
  [[gnu::always_inline]] bool take_label(const Node& node) noexcept {
    const auto left = static_cast<std::size_t>(end_ - at_);
    if (left >= 8) {
      if (((read_word(at_) ^ node.label_word) & node.label_mask) != 0) return false;
      if (node.label_size > 8 && !long_label_follows(node, left)) return false;
    } else {
      if (left < node.label_size) return false;
      if (read_short_word(at_, node.label_size) != node.label_word) return false;
    }
    at_ += node.label_size;
    return true;
  }

  // Compares the label after its first eight bytes.
  [[gnu::always_inline]] bool long_label_follows(const Node& node,
                                                 std::size_t left) const noexcept {
    const std::size_t size = node.label_size;
    if (left < size || read_word(at_ + size - 8) != read_word(node.label + size - 8)) return false;
    return size <= 16 || Bytes{at_, size} == Bytes{node.label, size};
  }

  // Returns the node to visit next, or null; less specific ones are kept for later.
  [[gnu::always_inline]] const Node* best_child(const Node& node) noexcept {
    const Node* best = node.rest_child;
    if (node.parameter_child != nullptr && *at_ != '/') {
      if (best != nullptr) push(best);
      best = node.parameter_child;
    }
    const auto place = static_cast<std::uint8_t>(*at_ - node.first_byte);
    if (place >= node.row_size) return best;
    const Node* const child = node.row[place];
    if (child == nullptr) return best;
    if (best != nullptr) push(best);
    return child;
  }

  void push(const Node* node) noexcept { pending_[pending_count_++] = {node, at_}; }

  const char* begin_;
  const char* end_;
  PathParameters& parameters_;
  const Node* node_;
  const char* at_;
  std::uint32_t pending_count_ = 0;
  std::uint32_t visits_ = 0;
  // At most a parameter and a rest for each place where a segment starts. Not initialised: only
  // pushed entries are read.
  std::array<Pending, 2 * route_segments_max> pending_;
};

// Tries any literal path, then the tree.
RouteMatch RouteTable::match_slowly(Method method, Bytes path,
                                    PathParameters& parameters) const noexcept {
  const std::uint32_t literal = find_literal(path);
  if (literal == none) return match_tree(method, path, {}, parameters);
  const Endpoint& endpoint = endpoints_[literal];
  const std::uint32_t route = endpoint.route_for[index_of(method)];
  if (route != no_route) return {.route = route, .allowed = {}, .kind = MatchKind::found};
  return match_tree(method, path, endpoint.allowed, parameters);
}

RouteMatch RouteTable::match_tree(Method method, Bytes path, MethodSet allowed,
                                  PathParameters& parameters) const noexcept {
  if (!nodes_.empty()) {
    KATANA_REQUIRE(path.size() <= UINT32_MAX);
    Walk walk(*this, path, parameters);
    while (const Endpoint* const endpoint = walk.next()) {
      const std::uint32_t route = endpoint->route_for[index_of(method)];
      if (route != no_route) {
        parameters.names_ = routes_[route].names.data();
        parameters.count_ = static_cast<std::uint32_t>(routes_[route].names.size());
        parameters.path_ = path.data();
        return {.route = route, .allowed = {}, .kind = MatchKind::found};
      }
      allowed |= endpoint->allowed;
    }
  }
  if (allowed.empty()) return {};
  return {.route = 0, .allowed = allowed, .kind = MatchKind::method_not_allowed};
}

Bytes RouteTable::pattern(std::uint32_t route) const noexcept {
  KATANA_REQUIRE(route < routes_.size());
  return routes_[route].pattern;
}

std::span<const Bytes> RouteTable::parameter_names(std::uint32_t route) const noexcept {
  KATANA_REQUIRE(route < routes_.size());
  return routes_[route].names;
}

std::uint32_t RouteTable::node_visits(Bytes path) const noexcept {
  if (nodes_.empty()) return 0;
  PathParameters parameters;
  Walk walk(*this, path, parameters);
  while (walk.next() != nullptr) continue;
  return walk.visits();
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
