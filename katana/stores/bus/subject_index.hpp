// SubjectIndex<T>: values by pattern, found by the subjects that the patterns match.
//
// A tree of tokens. It is ordered, not hashed: clients may choose the names, and could choose names
// that collide. A look-up follows at most two branches for each token ('*' and the token itself),
// and never more nodes than there are.
//
// Owns       its values; at most one for each pattern.
// Thread     one, or under one lock.
// Allocates  when a pattern is added.
// Fails      std::bad_alloc.
// Invariant  a node without a value has a child: a removal leaves no empty node behind.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "katana/stores/bus/subject.hpp"

namespace katana::bus {

template <class T>
class SubjectIndex {
 public:
  // The value of exactly this pattern; null: none. REQUIRES is_pattern(pattern).
  T* find(Bytes pattern) noexcept {
    Node* node = &root_;
    for (Bytes rest = pattern; node != nullptr && !rest.empty();) {
      node = node->child(next_token(rest));
    }
    return node != nullptr && node->value ? &*node->value : nullptr;
  }
  // Adds the value of a pattern. REQUIRES that there is none.
  T& add(Bytes pattern, T value) {
    Node* node = &root_;
    for (Bytes rest = pattern; !rest.empty();) {
      const Bytes token = next_token(rest);
      auto found = node->children.find(token);
      if (found == node->children.end()) {
        found = node->children.emplace(std::string(token), std::make_unique<Node>()).first;
      }
      node = found->second.get();
    }
    ++size_;
    return node->value.emplace(std::move(value));
  }
  void remove(Bytes pattern) noexcept {
    if (remove_below(root_, pattern)) --size_;
  }
  // Calls `visit(T&)` for each pattern that matches. It must not change the index.
  template <class Visit>
  void match(Bytes subject, Visit&& visit) {
    if (!is_hidden(subject)) {
      match_below(root_, subject, visit);
    } else if (Node* const exact = root_.child(next_token(subject))) {
      match_below(*exact, subject, visit);
    }
  }
  template <class Visit>
  void for_each(Visit&& visit) {
    visit_below(root_, visit);
  }
  std::size_t size() const noexcept { return size_; }

 private:
  struct Node {
    Node* child(Bytes token) noexcept {
      const auto found = children.find(token);
      return found != children.end() ? found->second.get() : nullptr;
    }
    std::map<std::string, std::unique_ptr<Node>, std::less<>> children;
    std::optional<T> value;
  };

  // Recursion is as deep as a subject has tokens: at most subject_tokens_max.
  template <class Visit>
  static void match_below(Node& node, Bytes rest, Visit& visit) {
    if (rest.empty()) {
      if (node.value) visit(*node.value);
      return;
    }
    if (node.children.empty()) return;
    const Bytes token = next_token(rest);
    if (Node* const exact = node.child(token)) match_below(*exact, rest, visit);
    if (Node* const any = node.child("*")) match_below(*any, rest, visit);
    if (Node* const all = node.child(">"); all != nullptr && all->value) visit(*all->value);
  }
  template <class Visit>
  static void visit_below(Node& node, Visit& visit) {
    if (node.value) visit(*node.value);
    for (auto& [token, child] : node.children) visit_below(*child, visit);
  }
  // True: there was a value.
  static bool remove_below(Node& node, Bytes rest) noexcept {
    if (rest.empty()) {
      const bool had = node.value.has_value();
      node.value.reset();
      return had;
    }
    const auto found = node.children.find(next_token(rest));
    if (found == node.children.end()) return false;
    Node& child = *found->second;
    const bool removed = remove_below(child, rest);
    if (!child.value && child.children.empty()) node.children.erase(found);
    return removed;
  }

  Node root_;
  std::size_t size_ = 0;
};

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
