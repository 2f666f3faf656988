#include "katana_tool/sql/lock_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "katana/base/text/format.hpp"

namespace katana::tool::sql {
namespace {

constexpr std::string_view first_line = "katana sql.lock 1";
constexpr std::array<std::string_view, 3> nulls = {"never", "possible", "unproved"};

// A line's last field may have spaces; none has a line end or, elsewhere, a space. "-" is an empty
// one, so that no line ends in a space.
std::string escaped(std::string_view text, bool spaces_too) {
  std::string made;
  for (const char c : text) {
    if (c == '\\') {
      made += "\\\\";
    } else if (c == '\n') {
      made += "\\n";
    } else if (c == '\r') {
      made += "\\r";
    } else if (c == ' ' && spaces_too) {
      made += "\\s";
    } else {
      made += c;
    }
  }
  if (made == "-") return "\\-";
  return made.empty() ? "-" : made;
}

std::string unescaped(std::string_view text) {
  std::string made;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      made += text[at];
      continue;
    }
    const char c = text[++at];
    made += c == 'n' ? '\n' : c == 'r' ? '\r' : c == 's' ? ' ' : c;
  }
  return made;
}

class Parser {
 public:
  Result<LockFile> run(std::string_view text, const std::string& path) {
    for (std::size_t number = 1; !text.empty(); ++number) {
      const std::size_t end = text.find('\n');
      rest_ = text.substr(0, end);
      text.remove_prefix(end == text.npos ? text.size() : end + 1);
      if (!(number == 1 ? rest_ == first_line : line())) {
        return fail(Code::invalid_argument,
                    fmt::format("{}:{}: this line is not understood (a merge conflict, or another "
                                "version of katana): write the file anew by katana sql check "
                                "--update",
                                path, number));
      }
    }
    return std::move(made_);
  }

 private:
  std::string_view raw() {
    const std::size_t end = rest_.find(' ');
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(end == rest_.npos ? rest_.size() : end + 1);
    return word;
  }
  std::string field() {
    const std::string_view word = raw();
    return word == "-" ? std::string() : unescaped(word);
  }
  std::string last() const { return rest_ == "-" ? std::string() : unescaped(rest_); }
  bool type(SqlType& out) {
    const auto storage = storage_named(raw());
    if (!storage) return false;
    out = {field(), *storage};
    return true;
  }

  bool line() {
    if (rest_.empty() || rest_[0] == '#') return true;
    const std::string_view kind = raw();
    if (kind == "migrations") {
      const std::string dialect = field();
      made_.migrations[dialect] = rest_;
      return true;
    }
    if (kind == "statement") {
      const std::string dialect = field();
      now_ = &made_.statements[{unescaped(rest_), dialect}];
      return !rest_.empty();
    }
    if (now_ == nullptr) return false;
    if (kind == "column") return column();
    if (kind == "parameter") return parameter();
    if (kind == "scan") return now_->scans.emplace_back(unescaped(rest_)).size() > 0;
    if (kind == "star") return now_->star = true;
    return false;
  }
  bool column() {
    ResultColumn made;
    const std::string_view null = raw();
    const auto found = std::ranges::find(nulls, null);
    if (found == nulls.end() || !type(made.type)) return false;
    made.null = static_cast<Null>(found - nulls.begin());
    made.why = field();
    made.name = last();
    now_->columns.push_back(std::move(made));
    return true;
  }
  bool parameter() {
    ParameterUse made;
    const std::string_view use = raw();
    made.used = use != "unused";
    made.not_null = use == "not-null";
    if (made.used && !made.not_null && use != "used") return false;
    if (!type(made.type)) return false;
    made.column = last();
    now_->parameters.push_back(std::move(made));
    return true;
  }

  std::string_view rest_;
  LockFile made_;
  Description* now_ = nullptr;
};

}  // namespace

std::string LockFile::write() const {
  std::string text(first_line);
  text +=
      "\n# Written by `katana sql check --update`; committed, so that builds need no database.\n";
  auto out = std::back_inserter(text);
  for (const auto& [dialect, checksum] : migrations) {
    fmt::format_to(out, "migrations {} {}\n", dialect, checksum);
  }
  const auto type = [](const SqlType& each) {
    return fmt::format("{} {}", storage_name(each.storage), escaped(each.name, true));
  };
  for (const auto& [key, description] : statements) {
    fmt::format_to(out, "\nstatement {} {}\n", key.second, escaped(key.first, false));
    for (const ResultColumn& each : description.columns) {
      fmt::format_to(out, "column {} {} {} {}\n", nulls[static_cast<std::size_t>(each.null)],
                     type(each.type), escaped(each.why, true), escaped(each.name, false));
    }
    for (const ParameterUse& each : description.parameters) {
      fmt::format_to(out, "parameter {} {} {}\n",
                     !each.used      ? "unused"
                     : each.not_null ? "not-null"
                                     : "used",
                     type(each.type), escaped(each.column, false));
    }
    for (const std::string& each : description.scans) {
      fmt::format_to(out, "scan {}\n", escaped(each, false));
    }
    if (description.star) text += "star\n";
  }
  return text;
}

Result<LockFile> LockFile::parse(std::string_view text, const std::string& path) {
  return Parser().run(text, path);
}

}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
