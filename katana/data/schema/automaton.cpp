#include "katana/data/schema/automaton.hpp"

#include <algorithm>
#include <map>

#include "katana/base/text/utf8.hpp"

namespace katana::schema {
namespace {

constexpr std::size_t table_max = 64 * 1024;         // states by classes
constexpr std::size_t table_visits_max = 1'000'000;  // visits of nodes to make the table
constexpr std::size_t classes_max = 512;
constexpr std::size_t bytes_per_step = 8;   // bytes of a walk through the table
constexpr std::size_t visits_per_step = 4;  // visits of nodes

// Removes the first character of the text, and returns it; nothing: there is none.
std::optional<char32_t> take_code(Bytes& text) noexcept {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) {
    text.remove_prefix(1);
    return lead;
  }
  const std::size_t length = utf8_length(text);
  if (length == 0) return std::nullopt;
  char32_t code = lead & (0xffU >> (length + 1));
  for (std::size_t at = 1; at < length; ++at) {
    code = (code << 6) | (static_cast<unsigned char>(text[at]) & 0x3fU);
  }
  text.remove_prefix(length);
  return code;
}

}  // namespace

class Automaton::Set {
 public:
  explicit Set(std::size_t nodes) : marks_(nodes) {}
  bool add(Index node) {
    if (marks_[node] == round_) return false;
    marks_[node] = round_;
    list_.push_back(node);
    return true;
  }
  void clear() noexcept {
    list_.clear();
    matches_ = false;
    if (++round_ == 0) {
      std::ranges::fill(marks_, Index{0});
      round_ = 1;
    }
  }
  const std::vector<Index>& list() const noexcept { return list_; }
  bool matches() const noexcept { return matches_; }
  void set_matches() noexcept { matches_ = true; }
  std::vector<Index>& open() noexcept { return open_; }

 private:
  std::vector<Index> marks_;
  std::vector<Index> list_;
  std::vector<Index> open_;  // work list of add(), kept for its memory
  Index round_ = 1;
  bool matches_ = false;
};

// Makes the nodes of a tree, from its end to its begin.
class Automaton::Building {
 public:
  explicit Building(Automaton& automaton) : automaton_(automaton) {}

  bool run(const ExpressionTree& tree) {
    using Kind = AutomatonNode::Kind;
    const Index match = put({Kind::match});
    automaton_.start_ = make(tree, match);
    return is_small_ && make_classes();
  }

 private:
  using NodeKind = AutomatonNode::Kind;
  using Tree = ExpressionTree;

  Index put(AutomatonNode node) {
    if (automaton_.nodes_.size() >= nodes_max) {
      is_small_ = false;
      return 0;
    }
    automaton_.nodes_.push_back(node);
    return static_cast<Index>(automaton_.nodes_.size() - 1);
  }

  Index make(const Tree& tree, Index next) {
    if (!is_small_) return 0;
    switch (tree.kind) {
      case Tree::Kind::begin: return put({.kind = NodeKind::begin, .next = next});
      case Tree::Kind::end: return put({.kind = NodeKind::end, .next = next});
      case Tree::Kind::set:
        return put({.kind = NodeKind::character, .set = number_of(tree.set), .next = next});
      case Tree::Kind::sequence:
        for (auto each = tree.parts.rbegin(); each != tree.parts.rend(); ++each) {
          next = make(*each, next);
        }
        return next;
      case Tree::Kind::alternatives: {
        Index made = make(tree.parts.back(), next);
        for (std::size_t at = tree.parts.size() - 1; at-- > 0;) {
          const Index one = make(tree.parts[at], next);
          made = put({.kind = NodeKind::fork, .next = one, .other = made});
        }
        return made;
      }
      case Tree::Kind::repeat: return make_repeat(tree, next);
    }
    return next;
  }

  Index make_repeat(const Tree& tree, Index next) {
    const Tree& part = tree.parts.front();
    Index made = next;
    if (tree.most == Tree::endless) {
      made = put({.kind = NodeKind::fork, .other = next});
      if (!is_small_) return 0;
      const Index body = make(part, made);
      automaton_.nodes_[made].next = body;
    } else {
      for (std::size_t count = tree.least; count < tree.most && is_small_; ++count) {
        const Index body = make(part, made);
        made = put({.kind = NodeKind::fork, .next = body, .other = next});
      }
    }
    for (std::size_t count = 0; count < tree.least && is_small_; ++count) made = make(part, made);
    return made;
  }

  std::uint16_t number_of(const CharacterSet& set) {
    const auto found = std::ranges::find(sets_, set);
    const auto number = static_cast<std::uint16_t>(found - sets_.begin());
    if (found == sets_.end()) sets_.push_back(set);
    return number;
  }

  // Puts characters that are in the same sets into one class.
  bool make_classes() {
    std::vector<char32_t>& begins = automaton_.boundaries_;
    begins = {0};
    for (const CharacterSet& each : sets_) {
      for (const auto& [from, to] : each.ranges()) {
        begins.push_back(from);
        if (to < CharacterSet::code_max) begins.push_back(to + 1);
      }
    }
    std::ranges::sort(begins);
    begins.erase(std::ranges::unique(begins).begin(), begins.end());
    std::map<std::vector<char>, std::uint16_t> known;
    for (const char32_t begin : begins) {
      std::vector<char> in;
      in.reserve(sets_.size());
      for (const CharacterSet& each : sets_) in.push_back(each.contains(begin) ? 1 : 0);
      const auto number = static_cast<std::uint16_t>(known.size());
      automaton_.classes_.push_back(known.try_emplace(std::move(in), number).first->second);
      if (known.size() > classes_max) return false;
    }
    automaton_.class_count_ = known.size();
    automaton_.members_.resize(sets_.size() * known.size());
    for (const auto& [in, number] : known) {
      for (std::size_t set = 0; set < in.size(); ++set) {
        automaton_.members_[set * known.size() + number] = in[set];
      }
    }
    for (char32_t code = 0; code < automaton_.of_ascii_.size(); ++code) {
      const auto behind = std::ranges::upper_bound(begins, code);
      const auto at = static_cast<std::size_t>(behind - begins.begin()) - 1;
      automaton_.of_ascii_[code] = automaton_.classes_[at];
    }
    return true;
  }

  Automaton& automaton_;
  std::vector<CharacterSet> sets_;
  bool is_small_ = true;
};

std::optional<Automaton> Automaton::compile(Bytes expression) {
  const auto tree = parse_expression(expression);
  if (!tree) return std::nullopt;
  std::optional<Automaton> made = Automaton();
  if (!Building(*made).run(*tree)) return std::nullopt;
  made->make_table();
  return made;
}

std::uint16_t Automaton::class_of(char32_t code) const noexcept {
  if (code < of_ascii_.size()) return of_ascii_[code];
  const auto behind = std::ranges::upper_bound(boundaries_, code);
  return classes_[static_cast<std::size_t>(behind - boundaries_.begin()) - 1];
}

std::size_t Automaton::add(Set& to, Index first, bool at_begin, bool at_end) const {
  std::vector<Index>& open = to.open();
  open.assign(1, first);
  std::size_t visits = 0;
  while (!open.empty()) {
    const Index index = open.back();
    open.pop_back();
    ++visits;
    if (!to.add(index)) continue;
    const AutomatonNode& node = nodes_[index];
    switch (node.kind) {
      case AutomatonNode::Kind::character: break;
      case AutomatonNode::Kind::match: to.set_matches(); break;
      case AutomatonNode::Kind::fork:
        open.push_back(node.other);
        open.push_back(node.next);
        break;
      case AutomatonNode::Kind::begin:
        if (at_begin) open.push_back(node.next);
        break;
      case AutomatonNode::Kind::end:
        if (at_end) open.push_back(node.next);
        break;
    }
  }
  return visits;
}

bool Automaton::matches_at_end(const Set& set, bool at_begin) const {
  if (set.matches()) return true;
  Set last(nodes_.size());
  for (const Index each : set.list()) {
    if (nodes_[each].kind == AutomatonNode::Kind::end) (void)add(last, each, at_begin, true);
  }
  return last.matches();
}

// Adds the nodes behind a character, and the start of a match that begins behind it.
void Automaton::step(const Set& from, std::uint16_t by, Set& to, std::size_t& visits) const {
  to.clear();
  for (const Index each : from.list()) {
    ++visits;
    const AutomatonNode& node = nodes_[each];
    if (node.kind != AutomatonNode::Kind::character || !is_in(node.set, by)) continue;
    visits += add(to, node.next, false, false);
  }
  visits += add(to, start_, false, false);
}

void Automaton::make_table() {
  std::map<std::vector<Index>, std::uint16_t> known;
  std::vector<std::vector<Index>> nodes_of;
  std::size_t visits = 0;
  Set from(nodes_.size());
  Set to(nodes_.size());
  const auto add_state = [&](const Set& set, bool at_begin) {
    std::vector<Index> list = set.list();
    std::ranges::sort(list);
    if (!at_begin) {
      const auto [place, is_new] =
          known.try_emplace(list, static_cast<std::uint16_t>(states_.size()));
      if (!is_new) return place->second;
    }
    const bool is_dead = std::ranges::none_of(list, [this](Index each) {
      using Kind = AutomatonNode::Kind;
      const Kind kind = nodes_[each].kind;
      return kind == Kind::character || kind == Kind::match || kind == Kind::end;
    });
    states_.push_back({set.matches(), matches_at_end(set, at_begin), is_dead});
    nodes_of.push_back(std::move(list));
    return static_cast<std::uint16_t>(states_.size() - 1);
  };
  visits += add(from, start_, true, false);
  (void)add_state(from, true);
  for (std::size_t at = 0; at < states_.size(); ++at) {
    for (std::uint16_t by = 0; by < class_count_; ++by) {
      from.clear();
      for (const Index each : nodes_of[at]) (void)from.add(each);
      step(from, by, to, visits);
      ways_.push_back(add_state(to, false));
      const bool is_large = states_.size() > states_max || ways_.size() > table_max;
      if (!is_large && visits <= table_visits_max) continue;
      states_.clear();
      ways_.clear();
      return;
    }
  }
}

Found Automaton::find(Bytes text, StepBudget& budget) const {
  if (!has_table()) return find_by_nodes(text, budget);
  if (!budget.take(1 + text.size() / bytes_per_step)) return Found::costly;
  return find_by_table(text);
}

Found Automaton::find_by_table(Bytes text) const {
  std::size_t state = 0;
  while (!text.empty()) {
    const State& at = states_[state];
    if (at.matches) return Found::yes;
    if (at.is_dead) return Found::no;
    const auto code = take_code(text);
    if (!code) return Found::no;
    state = ways_[state * class_count_ + class_of(*code)];
  }
  return states_[state].matches_at_end ? Found::yes : Found::no;
}

Found Automaton::find_by_nodes(Bytes text, StepBudget& budget) const {
  Set at(nodes_.size());
  Set next(nodes_.size());
  std::size_t visits = add(at, start_, true, false);
  bool at_begin = true;
  for (; !text.empty(); at_begin = false) {
    if (at.matches()) return Found::yes;
    if (at.list().empty()) return Found::no;
    const auto code = take_code(text);
    if (!code) return Found::no;
    step(at, class_of(*code), next, visits);
    std::swap(at, next);
    if (!budget.take(1 + visits / visits_per_step)) return Found::costly;
    visits = 0;
  }
  return matches_at_end(at, at_begin) ? Found::yes : Found::no;
}

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
