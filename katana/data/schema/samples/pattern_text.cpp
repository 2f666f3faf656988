#include "katana/data/schema/samples/pattern_text.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace katana::schema {
namespace {

constexpr std::size_t text_bytes_max = 64 * 1024;
constexpr std::size_t depth_max = 64;
constexpr std::size_t repeats_max = 4096;
constexpr std::size_t atoms_max = 200'000;  // atoms that are read, counted at each repetition

using Range = std::pair<char32_t, char32_t>;
using Ranges = std::vector<Range>;

void append_utf8(std::string& text, char32_t code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xc0 | (code >> 6));
    text += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    text += static_cast<char>(0xe0 | (code >> 12));
    text += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    text += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    text += static_cast<char>(0xf0 | (code >> 18));
    text += static_cast<char>(0x80 | ((code >> 12) & 0x3f));
    text += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    text += static_cast<char>(0x80 | (code & 0x3f));
  }
}

// The printable ASCII characters that are in none of the ranges.
Ranges all_but(const Ranges& ranges) {
  Ranges made;
  for (char32_t code = 0x20; code < 0x7f; ++code) {
    const bool is_out = std::ranges::any_of(
        ranges, [&](const Range& each) { return each.first <= code && code <= each.second; });
    if (!is_out) made.emplace_back(code, code);
  }
  return made;
}

const Ranges digits = {{'0', '9'}};
const Ranges word = {{'a', 'z'}, {'A', 'Z'}, {'0', '9'}, {'_', '_'}};
const Ranges space = {{' ', ' '}, {'\t', '\t'}};
const Ranges letters = {{'a', 'z'}, {'A', 'Z'}};

// Reads the expression and draws from it in one pass, by recursive descent. Alternatives and
// repetitions that are not chosen are read without a draw.
class Drawer {
 public:
  Drawer(Bytes pattern, Random& random, std::size_t more)
      : left_(pattern), random_(random), more_(more) {}

  std::optional<std::string> run() {
    std::string text;
    if (!alternatives(text, 0) || !left_.empty() || text.size() > text_bytes_max) {
      return std::nullopt;
    }
    return text;
  }

 private:
  // Each alternative is read from the same place. The text of the chosen one counts.
  bool alternatives(std::string& text, std::size_t depth) {
    if (depth > depth_max) return false;
    std::vector<std::string> drawn;
    do {
      std::string each;
      if (!sequence(each, depth)) return false;
      drawn.push_back(std::move(each));
    } while (take('|'));
    text += drawn[random_.below(drawn.size())];
    return text.size() <= text_bytes_max;
  }

  bool sequence(std::string& text, std::size_t depth) {
    while (!left_.empty() && left_.front() != '|' && left_.front() != ')') {
      const Bytes atom_at = left_;
      std::string once;
      if (!atom(once, depth)) return false;
      const Bytes behind = left_;
      std::size_t least = 1;
      std::size_t most = 1;
      if (!quantifier(least, most)) return false;
      const Bytes next = left_;
      const std::size_t count = std::min(
          repeats_max, static_cast<std::size_t>(random_.between(least, std::max(least, most))));
      for (std::size_t at = 0; at < count && text.size() <= text_bytes_max; ++at) {
        if (at != 0) {  // drawn anew
          once.clear();
          left_ = atom_at.substr(0, atom_at.size() - behind.size());
          if (!atom(once, depth)) return false;
        }
        text += once;
      }
      left_ = next;
    }
    return true;
  }

  bool quantifier(std::size_t& least, std::size_t& most) {
    if (take('*')) {
      least = 0;
      most = more_;
    } else if (take('+')) {
      most = 1 + more_;
    } else if (take('?')) {
      least = 0;
    } else if (left_.starts_with('{') && left_.size() > 1 && is_digit(left_[1])) {
      left_.remove_prefix(1);
      least = number();
      most = least;
      if (take(',')) most = left_.starts_with('}') ? least + more_ : number();
      if (!take('}')) return false;
    } else {
      return true;
    }
    (void)take('?');  // lazy
    return true;
  }

  bool atom(std::string& text, std::size_t depth) {
    if (++atoms_ > atoms_max) return false;
    const char first = left_.front();
    if (first == '^' || first == '$') return skip(1);
    if (first == '(') return group(text, depth);
    if (first == '[') return character_class(text);
    if (first == '\\') return escape(text);
    if (first == '.') return skip(1) && pick(text, word);
    const char32_t code = code_point();
    append_utf8(text, code);
    return true;
  }

  bool group(std::string& text, std::size_t depth) {
    left_.remove_prefix(1);
    bool is_looking = false;
    if (take('?')) {
      if (left_.starts_with("<=") || left_.starts_with("<!")) {
        is_looking = skip(2);
      } else if (left_.starts_with('=') || left_.starts_with('!')) {
        is_looking = skip(1);
      } else if (left_.starts_with(':')) {
        skip(1);
      } else if (left_.starts_with('<')) {
        const std::size_t end = left_.find('>');
        if (end == Bytes::npos) return false;
        skip(end + 1);
      } else {
        return false;
      }
    }
    std::string inside;
    if (!alternatives(inside, depth + 1) || !take(')')) return false;
    if (!is_looking) text += inside;
    return true;
  }

  bool character_class(std::string& text) {
    left_.remove_prefix(1);
    const bool is_negated = take('^');
    Ranges ranges;
    while (!left_.empty() && left_.front() != ']') {
      std::optional<char32_t> low = class_item(ranges);
      if (!low) continue;
      if (left_.size() > 1 && left_.front() == '-' && left_[1] != ']') {
        left_.remove_prefix(1);
        const auto high = class_item(ranges);
        if (!high || *high < *low) return false;
        ranges.emplace_back(*low, *high);
      } else {
        ranges.emplace_back(*low, *low);
      }
    }
    if (!take(']')) return false;
    return pick(text, is_negated ? all_but(ranges) : ranges);
  }

  // Reads a character; nothing: it added a set such as \d instead.
  std::optional<char32_t> class_item(Ranges& ranges) {
    if (!left_.starts_with('\\')) return code_point();
    if (left_.size() > 1 && left_[1] == 'b') return skip(2), char32_t{8};
    std::optional<char32_t> code;
    if (const auto set = escaped_set(code)) {
      ranges.insert(ranges.end(), set->begin(), set->end());
    }
    return code;
  }

  bool escape(std::string& text) {
    if (left_.size() < 2) return false;
    if (left_[1] == 'b' || left_[1] == 'B') return skip(2);
    if (left_[1] >= '1' && left_[1] <= '9') return false;  // a back reference
    std::optional<char32_t> code;
    if (const auto set = escaped_set(code)) return pick(text, *set);
    if (!code) return false;
    append_utf8(text, *code);
    return true;
  }

  // The meaning of an escape: a set, or one character in `code`.
  std::optional<Ranges> escaped_set(std::optional<char32_t>& code) {
    left_.remove_prefix(1);
    if (left_.empty()) return std::nullopt;
    const char kind = left_.front();
    if ((kind == 'p' || kind == 'P') && left_.size() > 1 && left_[1] == '{') {
      const std::size_t end = left_.find('}');
      if (end == Bytes::npos) return std::nullopt;
      const Bytes name = left_.substr(2, end - 2);
      skip(end + 1);
      return property(name, kind == 'P');
    }
    const char32_t whole = code_point();
    switch (kind) {
      case 'd': return digits;
      case 'w': return word;
      case 's': return space;
      case 'D': return all_but(digits);
      case 'W': return all_but(word);
      case 'S': return all_but(space);
      case 'n': code = '\n'; break;
      case 'r': code = '\r'; break;
      case 't': code = '\t'; break;
      case 'v': code = '\v'; break;
      case 'f': code = '\f'; break;
      case '0': code = 0; break;
      case 'c': code = left_.empty() ? U'\0' : code_point() & 31U; break;
      case 'x': code = hexadecimal(2); break;
      case 'u':
        if (take('{')) {
          code = hexadecimal(6);
          (void)take('}');
        } else {
          code = hexadecimal(4);
        }
        break;
      default: code = whole;
    }
    return std::nullopt;
  }

  // The ASCII characters of a Unicode property, such as letters and digits.
  static Ranges property(Bytes name, bool is_negated) {
    Ranges made = letters;
    if (name.starts_with('N') || name == "Digit") made = digits;
    if (name.starts_with("Lu") || name == "Uppercase_Letter" || name == "Uppercase") {
      made = {{'A', 'Z'}};
    }
    if (name.starts_with("Ll") || name == "Lowercase_Letter" || name == "Lowercase") {
      made = {{'a', 'z'}};
    }
    if (name.starts_with('Z')) made = {{' ', ' '}};
    if (name.starts_with('P')) made = {{'!', '#'}, {'%', '*'}, {',', '/'}};
    return is_negated ? all_but(made) : made;
  }

  bool pick(std::string& text, const Ranges& ranges) {
    std::uint64_t count = 0;
    for (const Range& each : ranges) count += each.second - each.first + 1;
    if (count == 0) return false;
    std::uint64_t at = random_.below(count);
    for (const Range& each : ranges) {
      const std::uint64_t size = each.second - each.first + 1;
      if (at >= size) {
        at -= size;
        continue;
      }
      char32_t code = each.first + static_cast<char32_t>(at);
      if (code >= 0xd800 && code < 0xe000) code = each.first;
      append_utf8(text, code);
      return true;
    }
    return false;
  }

  char32_t code_point() {
    const auto lead = static_cast<unsigned char>(left_.front());
    const std::size_t size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    char32_t code = size == 1 ? lead : lead & (0xffU >> (size + 1));
    for (std::size_t at = 1; at < size && at < left_.size(); ++at) {
      code = (code << 6) | (static_cast<unsigned char>(left_[at]) & 0x3fU);
    }
    left_.remove_prefix(std::min(size, left_.size()));
    return code;
  }
  char32_t hexadecimal(std::size_t digits_max) {
    char32_t code = 0;
    for (std::size_t at = 0; at < digits_max && !left_.empty(); ++at) {
      const char each = left_.front();
      const char small = static_cast<char>(each | 0x20);
      if (is_digit(each)) {
        code = code * 16 + static_cast<char32_t>(each - '0');
      } else if (small >= 'a' && small <= 'f') {
        code = code * 16 + static_cast<char32_t>(small - 'a' + 10);
      } else {
        break;
      }
      left_.remove_prefix(1);
    }
    return code > 0x10ffff ? U' ' : code;
  }
  std::size_t number() {
    std::size_t value = 0;
    while (!left_.empty() && is_digit(left_.front())) {
      value = std::min(repeats_max, value * 10 + static_cast<std::size_t>(left_.front() - '0'));
      left_.remove_prefix(1);
    }
    return value;
  }
  static bool is_digit(char each) noexcept { return each >= '0' && each <= '9'; }
  bool skip(std::size_t count) noexcept {
    left_.remove_prefix(count);
    return true;
  }
  bool take(char wanted) noexcept {
    if (!left_.starts_with(wanted)) return false;
    left_.remove_prefix(1);
    return true;
  }

  Bytes left_;
  Random& random_;
  const std::size_t more_;
  std::size_t atoms_ = 0;
};

}  // namespace

std::optional<std::string> draw_pattern(Bytes pattern, Random& random, std::size_t more) {
  return Drawer(pattern, random, more).run();
}

}  // namespace katana::schema

// SPDX-License-Identifier: Apache-2.0
