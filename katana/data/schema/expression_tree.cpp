#include "katana/data/schema/expression_tree.hpp"

#include <algorithm>

#include "katana/base/text/utf8.hpp"

namespace katana::schema {
namespace {

constexpr std::size_t tree_depth_max = 64;         // levels of nested groups
constexpr std::size_t repeats_read_max = 100'000;  // PCRE2 takes 65,535

bool is_digit_sign(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_letter_sign(char c) noexcept { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }

CharacterSet set_of(std::initializer_list<CharacterSet::Range> ranges) {
  CharacterSet made;
  for (const auto& [from, to] : ranges) made.add(from, to);
  made.normalise();
  return made;
}

// The sets \d, \w and \s of ASCII, as in PCRE2 without PCRE2_UCP; a capital letter: all others.
std::optional<CharacterSet> set_of_letter(char letter) {
  switch (letter | 0x20) {
    case 'd': break;
    case 'w': break;
    case 's': break;
    default: return std::nullopt;
  }
  const CharacterSet made = (letter | 0x20) == 'd' ? set_of({{'0', '9'}})
                            : (letter | 0x20) == 'w'
                                ? set_of({{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}})
                                : set_of({{'\t', '\r'}, {' ', ' '}});
  return (letter & 0x20) != 0 ? made : made.complement();
}

// Reads by recursive descent. It gives up at any construct that it does not know for certain.
class TreeReader {
 public:
  explicit TreeReader(Bytes expression) noexcept : left_(expression) {}

  std::optional<ExpressionTree> run() {
    if (left_.starts_with("(*")) return std::nullopt;
    auto tree = alternatives(0);
    if (!tree || !left_.empty()) return std::nullopt;
    return tree;
  }

 private:
  using Tree = ExpressionTree;
  using Kind = ExpressionTree::Kind;

  std::optional<Tree> alternatives(std::size_t depth) {
    if (depth > tree_depth_max) return std::nullopt;
    Tree all{.kind = Kind::alternatives};
    do {
      auto each = sequence(depth);
      if (!each) return std::nullopt;
      all.parts.push_back(*std::move(each));
    } while (take('|'));
    if (all.parts.size() == 1) return std::move(all.parts.front());
    return all;
  }

  std::optional<Tree> sequence(std::size_t depth) {
    Tree all{.kind = Kind::sequence};
    while (!left_.empty() && left_.front() != '|' && left_.front() != ')') {
      auto each = atom(depth);
      if (!each) return std::nullopt;
      const bool is_place = each->kind == Kind::begin || each->kind == Kind::end;
      auto repeated = quantified(*std::move(each));
      if (!repeated || (is_place && repeated->kind == Kind::repeat)) return std::nullopt;
      all.parts.push_back(*std::move(repeated));
    }
    return all;
  }

  std::optional<Tree> atom(std::size_t depth) {
    if (take('^')) return Tree{.kind = Kind::begin};
    if (take('$')) return Tree{.kind = Kind::end};
    if (take('(')) return group(depth);
    if (take('[')) return character_class();
    if (take('.')) return set_tree(set_of({{'\n', '\n'}}).complement());
    if (take('\\')) return escape();
    if (Bytes("?*+{").find(left_.front()) != Bytes::npos) return std::nullopt;
    const auto code = code_point();
    if (!code) return std::nullopt;
    return set_tree(set_of({{*code, *code}}));
  }

  std::optional<Tree> quantified(Tree what) {
    Tree made{.kind = Kind::repeat};
    if (take('*')) {
      made.least = 0;
      made.most = Tree::endless;
    } else if (take('+')) {
      made.most = Tree::endless;
    } else if (take('?')) {
      made.least = 0;
    } else if (take('{')) {
      if (!counts(made)) return std::nullopt;
    } else {
      return what;
    }
    (void)take('?');  // lazy: it does not change whether there is a match
    // "a++" never backtracks, and "a**" is no expression.
    if (!left_.empty() && Bytes("+*?{").find(left_.front()) != Bytes::npos) return std::nullopt;
    made.parts.push_back(std::move(what));
    return made;
  }

  bool counts(Tree& made) {
    const auto least = number();
    if (!least) return false;
    made.least = made.most = *least;
    if (take(',')) {
      made.most = Tree::endless;
      if (!left_.starts_with('}')) {
        const auto most = number();
        if (!most || *most < *least) return false;
        made.most = *most;
      }
    }
    return take('}');
  }

  std::optional<Tree> group(std::size_t depth) {
    if (left_.starts_with('*')) return std::nullopt;
    if (take('?')) {
      if (take('<')) {  // a name, unless it is a lookbehind
        const std::size_t end = left_.find('>');
        const bool is_name =
            end != Bytes::npos && end != 0 && left_.front() != '=' && left_.front() != '!';
        if (!is_name) return std::nullopt;
        left_.remove_prefix(end + 1);
      } else if (!take(':')) {
        return std::nullopt;
      }
    }
    auto inside = alternatives(depth + 1);
    if (!inside || !take(')')) return std::nullopt;
    return inside;
  }

  std::optional<Tree> escape() {
    if (left_.empty()) return std::nullopt;
    if (const auto set = set_of_letter(left_.front())) {
      left_.remove_prefix(1);
      return set_tree(*set);
    }
    const auto code = escaped_code();
    if (!code) return std::nullopt;
    return set_tree(set_of({{*code, *code}}));
  }

  // Reads an escape behind a backslash that is one character, inside and outside a class.
  std::optional<char32_t> escaped_code() {
    const char kind = left_.front();
    left_.remove_prefix(1);
    switch (kind) {
      case 'n': return U'\n';
      case 'r': return U'\r';
      case 't': return U'\t';
      case 'f': return U'\f';
      case 'x': return hexadecimal(2, 2);
      case 'u': {
        if (!take('{')) return hexadecimal(4, 4);
        const auto code = hexadecimal(1, 6);
        return take('}') ? code : std::nullopt;
      }
      default: break;
    }
    const bool is_plain =
        static_cast<unsigned char>(kind) < 0x80 && !is_letter_sign(kind) && !is_digit_sign(kind);
    if (!is_plain) return std::nullopt;
    return static_cast<char32_t>(kind);
  }

  // Reads the class behind "[", which is read already.
  std::optional<Tree> character_class() {
    const bool is_negated = take('^');
    CharacterSet set;
    while (!left_.starts_with(']')) {
      if (left_.empty() || !class_item(set)) return std::nullopt;
    }
    left_.remove_prefix(1);
    set.normalise();
    return set_tree(is_negated ? set.complement() : std::move(set));
  }

  bool class_item(CharacterSet& set) {
    // PCRE2 has names of sets there: [:alpha:]
    if (left_.starts_with("[:") || left_.starts_with("[.") || left_.starts_with("[=")) return false;
    if (left_.size() > 1 && left_.front() == '\\') {
      if (const auto known = set_of_letter(left_[1])) {
        left_.remove_prefix(2);
        set.add(*known);
        // "[\d-x]": the hyphen is literal, but not every reader treats it so.
        return !(left_.starts_with('-') && left_.size() > 1 && left_[1] != ']');
      }
    }
    const auto from = class_code();
    if (!from) return false;
    const bool is_range = left_.size() > 1 && left_.front() == '-' && left_[1] != ']';
    if (!is_range) return set.add(*from, *from), true;
    left_.remove_prefix(1);
    if (left_.starts_with("[:") || left_.starts_with("[.") || left_.starts_with("[=")) return false;
    const auto to = class_code();
    if (!to || *to < *from) return false;
    set.add(*from, *to);
    return true;
  }

  std::optional<char32_t> class_code() {
    if (!take('\\')) return code_point();
    if (left_.empty()) return std::nullopt;
    if (take('b')) return U'\b';
    return escaped_code();
  }

  static Tree set_tree(CharacterSet set) {
    Tree made{.kind = Kind::set};
    made.set = std::move(set);
    return made;
  }

  std::optional<char32_t> code_point() {
    const std::size_t length = utf8_length(left_);
    if (length == 0) return std::nullopt;
    const auto lead = static_cast<unsigned char>(left_.front());
    char32_t code = length == 1 ? lead : lead & (0xffU >> (length + 1));
    for (std::size_t at = 1; at < length; ++at) {
      code = (code << 6) | (static_cast<unsigned char>(left_[at]) & 0x3fU);
    }
    left_.remove_prefix(length);
    return code;
  }

  // Reads the number of a character that text can have.
  std::optional<char32_t> hexadecimal(std::size_t least, std::size_t most) {
    char32_t code = 0;
    std::size_t count = 0;
    for (; count < most && !left_.empty(); ++count) {
      const char c = left_.front();
      const char small = static_cast<char>(c | 0x20);
      const bool is_letter = small >= 'a' && small <= 'f';
      if (!is_digit_sign(c) && !is_letter) break;
      code = code * 16 + static_cast<char32_t>(is_letter ? small - 'a' + 10 : c - '0');
      left_.remove_prefix(1);
    }
    const bool is_character = code <= CharacterSet::code_max && (code < 0xd800 || code > 0xdfff);
    return count >= least && is_character ? std::optional(code) : std::nullopt;
  }

  std::optional<std::size_t> number() {
    std::size_t value = 0;
    std::size_t count = 0;
    for (; !left_.empty() && is_digit_sign(left_.front()); ++count) {
      value = value * 10 + static_cast<std::size_t>(left_.front() - '0');
      if (value > repeats_read_max) return std::nullopt;
      left_.remove_prefix(1);
    }
    return count == 0 ? std::nullopt : std::optional(value);
  }

  bool take(char wanted) noexcept {
    if (!left_.starts_with(wanted)) return false;
    left_.remove_prefix(1);
    return true;
  }

  Bytes left_;
};

}  // namespace

void CharacterSet::add(const CharacterSet& other) {
  ranges_.insert(ranges_.end(), other.ranges_.begin(), other.ranges_.end());
}

void CharacterSet::normalise() {
  std::ranges::sort(ranges_);
  std::vector<Range> made;
  for (const Range& each : ranges_) {
    if (!made.empty() && each.first <= made.back().second + 1) {
      made.back().second = std::max(made.back().second, each.second);
    } else {
      made.push_back(each);
    }
  }
  ranges_ = std::move(made);
}

CharacterSet CharacterSet::complement() const {
  CharacterSet made;
  char32_t next = 0;
  for (const auto& [from, to] : ranges_) {
    if (from > next) made.add(next, from - 1);
    next = to + 1;
  }
  if (next <= code_max) made.add(next, code_max);
  return made;
}

bool CharacterSet::contains(char32_t code) const noexcept {
  const auto behind = std::ranges::upper_bound(ranges_, code, {}, &Range::first);
  return behind != ranges_.begin() && code <= std::prev(behind)->second;
}

std::optional<ExpressionTree> parse_expression(Bytes expression) {
  return TreeReader(expression).run();
}

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
