#include "katana/stores/database/postgres/script.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "katana/stores/database/sql.hpp"

namespace katana::database::postgres {
namespace {

bool is(Bytes word, std::string_view in_capitals) noexcept {
  return std::ranges::equal(word, in_capitals, [](char c, char capital) {
    return (c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c) == capital;
  });
}

// Words, and the ends of statements; nothing of strings, quoted names and comments.
class ScriptWords {
 public:
  explicit ScriptWords(Bytes text) noexcept : text_(text) {}

  // Empty at the end.
  Bytes next() noexcept {
    while (at_ < text_.size()) {
      if (const std::size_t behind = detail::behind_quoted(text_, at_); behind != at_) {
        at_ = behind;
        continue;
      }
      const std::size_t first = at_++;
      if (text_[first] == ';') return text_.substr(first, 1);
      if (!detail::is_letter(text_[first])) continue;
      while (at_ < text_.size() && detail::is_in_name(text_[at_])) ++at_;
      return text_.substr(first, at_ - first);
    }
    return {};
  }

 private:
  Bytes text_;
  std::size_t at_ = 0;
};

// A statement word by word. In a function that is written in SQL, BEGIN ATOMIC … END has its own
// statements.
class StatementReader {
 public:
  // True: the statement is over.
  bool take(Bytes word) noexcept {
    if (is(word, ";") && depth_ == 0) return true;
    if (count_ < first_.size()) first_[count_] = word;
    ++count_;
    reads_client_ = reads_client_ || (is(word, "STDIN") && is(last_, "FROM"));
    const bool makes_routine = is(first_[0], "CREATE");
    if (depth_ == 0) {
      if (makes_routine && is(word, "ATOMIC") && is(last_, "BEGIN")) depth_ = 1;
    } else if (is(word, "CASE")) {
      ++depth_;
    } else if (is(word, "END")) {
      --depth_;
    }
    last_ = word;
    return false;
  }

  bool copies_from_client() const noexcept { return is(first_[0], "COPY") && reads_client_; }
  Bytes first_word() const noexcept { return first_[0]; }
  // The first words, as far as they are about a transaction; otherwise empty.
  Bytes transaction_words() const noexcept {
    const Bytes first = first_[0], second = first_[1], third = first_[2];
    if (is(first, "START") || is(first, "PREPARE")) {
      return is(second, "TRANSACTION") ? Bytes(first.data(), span_to(second)) : Bytes();
    }
    if (is(first, "ROLLBACK")) {
      return is(second, "TO") || is(third, "TO") ? Bytes() : first;
    }
    constexpr std::array<std::string_view, 4> all = {"BEGIN", "COMMIT", "END", "ABORT"};
    const bool found = std::ranges::any_of(all, [&](auto each) { return is(first, each); });
    return found ? first : Bytes();
  }

 private:
  std::size_t span_to(Bytes word) const noexcept {
    return static_cast<std::size_t>(word.data() + word.size() - first_[0].data());
  }

  std::array<Bytes, 3> first_ = {};
  Bytes last_;
  std::size_t count_ = 0;
  std::size_t depth_ = 0;
  bool reads_client_ = false;
};

std::size_t line_at(Bytes script, std::size_t at) {
  return 1 + static_cast<std::size_t>(std::ranges::count(script.substr(0, at), '\n'));
}

bool is_restriction(Bytes line) noexcept {
  return line.starts_with("\\restrict ") || line.starts_with("\\unrestrict ");
}

// The word of the first line that begins with a command of psql. No SQL begins so.
Bytes psql_command_in(Bytes script) noexcept {
  for (std::size_t at = 0; at < script.size();) {
    if (const std::size_t behind = detail::behind_quoted(script, at); behind != at) {
      at = behind;
      continue;
    }
    const bool begins_line = at == 0 || script[at - 1] == '\n';
    const Bytes rest = script.substr(at++);
    if (!begins_line || rest[0] != '\\' || is_restriction(rest)) continue;
    return rest.substr(0, std::min(rest.find_first_of(" \t\r\n"), rest.size()));
  }
  return {};
}

}  // namespace

std::optional<ScriptStatement> refused_statement_in(Bytes script) {
  using Kind = ScriptStatement::Kind;
  const auto found_at = [script](Kind kind, Bytes at) {
    return ScriptStatement{kind, at,
                           line_at(script, static_cast<std::size_t>(at.data() - script.data()))};
  };
  ScriptWords words(script);
  StatementReader statement;
  while (true) {
    const Bytes word = words.next();
    if (!word.empty() && !statement.take(word)) continue;
    if (const Bytes found = statement.transaction_words(); !found.empty()) {
      return found_at(Kind::transaction, found);
    }
    if (statement.copies_from_client()) {
      return found_at(Kind::client_rows, statement.first_word());
    }
    if (word.empty()) break;
    statement = {};
  }
  // Behind the others: rows of COPY have such lines as well.
  const Bytes command = psql_command_in(script);
  if (command.empty()) return std::nullopt;
  return found_at(Kind::of_psql, command);
}

std::string without_restrictions(Bytes script) {
  std::string text(script);
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t behind = detail::behind_quoted(text, at); behind != at) {
      at = behind;
      continue;
    }
    const Bytes rest = Bytes(text).substr(at);
    const bool begins_line = at == 0 || text[at - 1] == '\n';
    if (begins_line && is_restriction(rest)) {
      text.erase(at, std::min(rest.find('\n'), rest.size()));
    } else {
      ++at;
    }
  }
  return text;
}

std::size_t line_of(Bytes script, std::size_t character) {
  std::size_t at = 0;
  for (; at < script.size(); ++at) {
    const bool begins = (static_cast<unsigned char>(script[at]) & 0xc0u) != 0x80u;
    if (begins && character-- <= 1) break;
  }
  return line_at(script, at);
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
