#include "katana/stores/database/statement_name.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <string_view>

namespace katana::database {
namespace {

using detail::behind_quoted;
using detail::is_digit;
using detail::is_letter;

bool is_space(char c) noexcept { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_in_name(char c) noexcept {
  return is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}
char upper(char c) noexcept { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
std::string upper(Bytes word) {
  std::string text(word);
  std::ranges::transform(text, text.begin(), [](char c) { return upper(c); });
  return text;
}
bool is_word(Bytes word, Bytes in_capitals) noexcept {
  return std::ranges::equal(word, in_capitals, [](char a, char b) { return upper(a) == b; });
}
template <std::size_t count>
bool is_one_of(Bytes word, const std::array<Bytes, count>& words) noexcept {
  return std::ranges::any_of(words, [&](Bytes each) { return is_word(word, each); });
}

void skip_space(Bytes& text) noexcept {
  while (!text.empty() && is_space(text[0])) text.remove_prefix(1);
}

// Cuts the name to the largest size, but not within a character.
std::string cut(Bytes name) {
  std::size_t end = std::min(name.size(), statement_name_bytes_max);
  while (end > 0 && end < name.size() && (static_cast<unsigned char>(name[end]) & 0xc0u) == 0x80u) {
    --end;
  }
  return std::string(name.substr(0, end));
}

// The name that a comment gives, as "-- name: find_user"; empty: none.
Bytes name_in(Bytes comment) noexcept {
  comment.remove_prefix(2);  // of its beginning, "--" or "/*"
  skip_space(comment);
  if (!comment.starts_with("name:")) return {};
  comment.remove_prefix(5);
  skip_space(comment);
  const auto end = std::ranges::find_if_not(comment, is_in_name);
  return comment.substr(0, static_cast<std::size_t>(end - comment.begin()));
}

// Moves `text` behind the comments that it begins with, and returns the first name in them.
Bytes take_comments(Bytes& text) noexcept {
  for (skip_space(text); text.starts_with("--") || text.starts_with("/*"); skip_space(text)) {
    const std::size_t behind = behind_quoted(text, 0);
    if (const Bytes name = name_in(text.substr(0, behind)); !name.empty()) return name;
    text.remove_prefix(behind);
  }
  return {};
}

// Words outside of parentheses, strings and comments. A name with its schema and quotes is one.
class OuterWords {
 public:
  explicit OuterWords(Bytes text) noexcept : text_(text) {}

  // The next word; empty at the end. An opening parenthesis is a word, and its content is left out.
  Bytes next() noexcept {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (depth_ == 0 && begins_name(c)) return take_name();
      if (const std::size_t behind = behind_quoted(text_, at_); behind != at_) {
        at_ = behind;
        continue;
      }
      ++at_;
      if (c == ')' && depth_ > 0) --depth_;
      if (c == '(' && depth_++ == 0) return text_.substr(at_ - 1, 1);
    }
    return {};
  }

 private:
  static bool begins_name(char c) noexcept {
    return is_letter(c) || c == '"' || c == '`' || static_cast<unsigned char>(c) >= 0x80;
  }
  Bytes take_name() noexcept {
    const std::size_t first = at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' || c == '`') {
        at_ = behind_quoted(text_, at_);
      } else if (is_in_name(c) && c != '-') {
        ++at_;
      } else {
        break;
      }
    }
    return text_.substr(first, at_ - first);
  }

  Bytes text_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
};

constexpr std::array<Bytes, 5> verbs = {"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE"};
constexpr std::array<Bytes, 8> between = {"OR",      "ONLY", "ROLLBACK", "ABORT",
                                          "REPLACE", "FAIL", "IGNORE",   "LATERAL"};

std::string verb_and_table(Bytes text) {
  OuterWords words(text);
  Bytes verb = words.next();
  if (is_word(verb, "WITH")) {
    while (!verb.empty() && !is_one_of(verb, verbs)) verb = words.next();
  }
  std::string name = upper(verb);
  bool is_table = name == "UPDATE" || name == "COPY" || name == "TABLE";
  for (Bytes word = words.next(); !word.empty(); word = words.next()) {
    if (is_table && !is_one_of(word, between)) {
      if (word != "(") name.append(" ").append(word);
      break;
    }
    is_table = is_table || is_word(word, "FROM") || is_word(word, "INTO");
  }
  return name;
}

}  // namespace

std::string statement_name(Bytes text) {
  if (const Bytes given = take_comments(text); !given.empty()) return cut(given);
  const std::string made = verb_and_table(text);
  return made.empty() || made == "(" ? "other" : cut(made);
}

StatementNames::StatementNames()
    : orders_({{"other", 0},
               {"BEGIN", 1},
               {"COMMIT", 2},
               {"ROLLBACK", 3},
               {"SAVEPOINT", 4},
               {"RELEASE", 5},
               {"ROLLBACK TO", 6},
               {"COPY", 7}}),
      slots_(slots_count) {}

StatementNames::~StatementNames() = default;

const StatementName& StatementNames::find(Order order) const noexcept {
  switch (order) {
    case Order::begin: return orders_[1];
    case Order::commit: return orders_[2];
    case Order::rollback: return orders_[3];
    case Order::savepoint: return orders_[4];
    case Order::release: return orders_[5];
    case Order::undo: return orders_[6];
    case Order::copy:
    case Order::copy_end: return orders_[7];
    default: return other();
  }
}

// There are twice as many slots as texts: each walk comes to an empty one.
const StatementNames::Known* StatementNames::seen(std::uint64_t hash) const noexcept {
  for (std::size_t index = hash % slots_count;; index = (index + 1) % slots_count) {
    // acquire: with the name that it leads to
    const Known* const known = slots_[index].load(std::memory_order_acquire);
    if (known == nullptr || known->hash == hash) return known;
  }
}

const StatementName& StatementNames::find(const Sql& sql) noexcept {
  if (const Known* const known = seen(sql.hash())) [[likely]]
    return *known->name;
  try {
    return add(sql);
  } catch (const std::bad_alloc&) {
    return other();
  }
}

const StatementName& StatementNames::add(const Sql& sql) {
  const std::lock_guard lock(mutex_);
  if (const Known* const known = seen(sql.hash())) return *known->name;
  if (known_.size() == texts_max) return other();
  std::string text = statement_name(sql.text());
  const StatementName* name = nullptr;
  for (const StatementName& each : orders_) name = each.text == text ? &each : name;
  for (const auto& each : names_) name = each->text == text ? each.get() : name;
  if (name == nullptr) {
    const auto number = static_cast<std::uint32_t>(orders_.size() + names_.size());
    names_.push_back(std::make_unique<StatementName>(StatementName{std::move(text), number}));
    name = names_.back().get();
  }
  known_.push_back(std::make_unique<const Known>(Known{sql.hash(), name}));
  std::size_t index = sql.hash() % slots_count;
  while (slots_[index].load(std::memory_order_relaxed) != nullptr) {
    index = (index + 1) % slots_count;
  }
  slots_[index].store(known_.back().get(), std::memory_order_release);
  return *name;
}

}  // namespace katana::database

// SPDX-License-Identifier: Apache-2.0
