#include "katana/stores/database/postgres/target/password_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace katana::database::postgres::target {
namespace {

// The text behind a field and its ':', if the field is "*" or this value.
std::optional<Bytes> behind_field(Bytes line, Bytes value) {
  if (line.starts_with("*:")) return line.substr(2);
  std::size_t at = 0;
  for (const char wanted : value) {
    if (at < line.size() && line[at] == '\\') ++at;
    if (at >= line.size() || line[at] != wanted) return std::nullopt;
    ++at;
  }
  if (at >= line.size() || line[at] != ':') return std::nullopt;
  return line.substr(at + 1);
}

SecretText unescaped(Bytes field) {
  std::string password;
  password.reserve(field.size());  // no growth leaves a copy behind
  for (std::size_t at = 0; at < field.size() && field[at] != ':'; ++at) {
    if (field[at] == '\\' && at + 1 < field.size()) ++at;
    password += field[at];
  }
  SecretText made(password);
  erase_secret(password);
  return made;
}

}  // namespace

std::optional<SecretText> find_password(Bytes content, const PasswordQuestion& question) {
  const std::string port = std::to_string(question.port);
  const std::array<Bytes, 4> values = {question.host, port, question.database, question.user};
  while (!content.empty()) {
    const std::size_t end = std::min(content.find('\n'), content.size());
    Bytes line = content.substr(0, end);
    content.remove_prefix(std::min(end + 1, content.size()));
    while (line.ends_with('\r')) line.remove_suffix(1);
    if (line.starts_with('#') || line.find('\0') != Bytes::npos) continue;
    std::optional<Bytes> rest = line;
    for (const Bytes value : values) {
      if (rest) rest = behind_field(*rest, value);
    }
    if (rest) return unescaped(*rest);
  }
  return std::nullopt;
}

std::string password_file_problem(const SourceFile& file, const std::string& path) {
  if (file.state == SourceFile::State::missing) return {};
  const auto not_used = [&](std::string_view why) {
    return fmt::format("password file '{}' is not used: {}", path, why);
  };
  if (!file.is_plain) return not_used("it is no plain file");
  if (!file.is_private) return not_used("others have access to it (chmod 0600 it)");
  if (file.state == SourceFile::State::too_large) return not_used("it is larger than 1 MiB");
  if (file.state == SourceFile::State::unreadable) return not_used("it cannot be read");
  return {};
}

}  // namespace katana::database::postgres::target

// SPDX-License-Identifier: Apache-2.0
