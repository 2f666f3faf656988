// Form reader: reads a FormTree into described structs, lists, dictionaries and Values.
//
//   FormTree tree;                                   // card[number]=4242&count=3
//   …tree.add(name, {value})…
//   Findings findings;
//   if (!read_form(tree, order, findings)) … bracket_name(findings.list()[0].pointer) …
//
// The outermost struct is read like a query: only `required` members must be present. Objects
// inside it are read like JSON.
// The type of the member decides how a text is read: "7" is an integer, a number or a string. An
// AnyOf takes a text as a boolean or a number if it has such a type and the text fits. Null cannot
// be sent. The last value of a repeated name counts, unless the member is a list.
//
// Borrows    the tree, for the call.
// Thread     any.
// Allocates  for the members.
// Fails      Findings: all values that do not fit.
// Invariant  a finding does not repeat a text that is no number, because a member may be secret.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "katana/data/container/findings.hpp"
#include "katana/data/container/form_tree.hpp"
#include "katana/data/container/reading.hpp"

namespace katana::container {
namespace detail {

// A type into which a part with a file is read.
template <class T>
concept FileMember = requires(T file) {
  { file.filename } -> std::same_as<std::string&>;
  { file.content_type } -> std::same_as<std::string&>;
  { file.content } -> std::same_as<std::string&>;
};

class FormKey {
 public:
  explicit FormKey(Bytes name) noexcept : name_(name) {}
  template <std::size_t index, class T>
  bool is() const noexcept {
    return name_ == field_of<T, index>.name;
  }
  bool resolve() const noexcept { return false; }
  bool text(std::string& to) const {
    to = name_;
    return true;
  }

 private:
  Bytes name_;
};

// A node of the tree, or one of its values.
class FormNode {
 public:
  static constexpr Bytes octets_words = "string of base64";

  explicit FormNode(const FormTree::Node& node) noexcept : node_(&node) {
    if (!node.values.empty()) leaf_ = &node.values.back();
  }
  explicit FormNode(const FormLeaf& leaf) noexcept : leaf_(&leaf) {}

  std::optional<Kind> kind() const;
  // All kinds as which the node may be read.
  Kinds kinds() const;
  std::optional<Kind> kind_among(Kinds wanted) const;
  std::optional<std::size_t> number() const noexcept { return number_; }
  bool is_null() const noexcept { return false; }
  bool take_null() const noexcept { return true; }
  std::string number_text() const { return {}; }
  std::string shown() const { return leaf_ != nullptr ? "other text" : ""; }
  bool skip() const noexcept { return true; }
  Looked look(MemberVisitor& visitor) const;

  Taken take(bool& to) const;
  Taken take(std::int64_t& to) const;
  Taken take(std::uint64_t& to) const;
  Taken take(double& to) const;
  Taken take(std::string& to) const;
  Taken take(Octets& to) const;
  template <FileMember F>
  Taken take_file(F& to) const {
    if (leaf_ == nullptr || leaf_->part == nullptr) return Taken::mismatch;
    to.filename = leaf_->part->filename;
    to.content_type = leaf_->part->content_type;
    to.content = leaf_->text;
    return Taken::good;
  }

  template <class Visit>
  Taken each_item(Visit&& visit) const {
    if (node_ == nullptr || !node_->values.empty()) {
      const std::size_t count = node_ == nullptr ? 1 : node_->values.size();
      const FormLeaf* const first = node_ == nullptr ? leaf_ : node_->values.data();
      for (std::size_t index = 0; index < count; ++index) {
        FormNode item(first[index]);
        if (!visit(item)) return Taken::malformed;
      }
      return Taken::good;
    }
    if (const FormTree::Node* const all = node_->unnumbered()) {
      return FormNode(*all).each_item(std::forward<Visit>(visit));
    }
    if (!node_->is_numbered()) return Taken::mismatch;
    for (const auto& [number, each] : node_->numbered()) {
      FormNode item(*each);
      item.number_ = number;
      if (!visit(item)) return Taken::malformed;
    }
    return Taken::good;
  }
  template <class Visit>
  Taken each_field(Visit&& visit) const {
    if (leaf_ != nullptr) return Taken::mismatch;
    for (const auto& [name, member] : node_->members) {
      FormKey key(name);
      FormNode value(*member);
      if (!visit(key, value)) return Taken::malformed;
    }
    return Taken::good;
  }

 private:
  const FormTree::Node* node_ = nullptr;  // null: one value of several
  const FormLeaf* leaf_ = nullptr;        // null: it has members
  std::optional<std::size_t> number_ = {};
};

// Reads the members of T by their names.
template <Described T>
bool read_members(const FormTree::Node& root, T& value, const Place& place, Reading& reading,
                  Findings& findings) {
  std::size_t known = 0;
  for_each_index<T>([&](auto index) {
    constexpr const auto& field = field_of<T, index>;
    const Place named{.outer = &place, .name = field.name, .is_named = true};
    const auto found = root.members.find(Bytes(field.name));
    if (found != root.members.end()) {
      ++known;
      FormNode node(*found->second);
      (void)read_value<RulesOf<T, index>>(node, value.*field.pointer, named, reading);
    } else if (field.rules.presence == Presence::required) {
      (void)reading.report(named, "is missing");
    }
  });
  if (known == root.members.size() || unknown_names<T> != UnknownNames::refuse) {
    return findings.empty();
  }
  for (const auto& [name, member] : root.members) {
    bool is_known = false;
    for_each_field<T>([&](const auto& field) { is_known |= name == field.name; });
    if (!is_known) (void)reading.report_unknown(place, name, described_names<T>);
  }
  return false;
}

}  // namespace detail

// Reads a tree into `value`. Members that the tree does not have keep their value. Objects inside
// it are read like JSON (json_read.hpp). False: see `findings`; `value` is partly filled.
template <class T>
bool read_form(const FormTree& tree, T& value, Findings& findings,
               const ReadOptions& options = {}) {
  constexpr auto no_offset = [](const void*) -> std::optional<std::size_t> { return {}; };
  detail::Reading reading(findings, options, {"form", no_offset, nullptr});
  if constexpr (Described<T>) {
    return detail::read_members(tree.root(), value, detail::Place(), reading, findings);
  } else {
    detail::FormNode node(tree.root());
    const auto outcome =
        detail::read_value<detail::WithoutRules<T>>(node, value, detail::Place(), reading);
    return outcome == detail::Outcome::good && findings.empty();
  }
}

}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
