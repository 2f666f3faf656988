#include "katana/base/values/secret_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace katana {
namespace {

constexpr std::size_t secret_file_bytes_max = 64 * 1024;

}  // namespace

Bytes without_blanks_around(Bytes text) noexcept {
  constexpr Bytes blanks = " \t\r\n";
  while (!text.empty() && blanks.find(text.front()) != Bytes::npos) text.remove_prefix(1);
  while (!text.empty() && blanks.find(text.back()) != Bytes::npos) text.remove_suffix(1);
  return text;
}

Result<std::string> read_file_of_secrets(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return fail(errno == EACCES ? Code::permission_denied : Code::not_found,
                fmt::format("'{}' cannot be read: {}", path, std::strerror(errno)));
  }
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (text.size() > secret_file_bytes_max) {
    erase_secret(text);
    return fail(Code::out_of_range,
                fmt::format("'{}' has more than {} bytes, which no credentials have", path,
                            secret_file_bytes_max));
  }
  return text;
}

Result<SecretText> read_secret_file(const std::string& path) {
  auto text = read_file_of_secrets(path);
  if (!text) return std::unexpected(text.error());
  SecretText secret(without_blanks_around(*text));
  erase_secret(*text);
  if (secret.empty()) return fail(Code::invalid_argument, fmt::format("'{}' is empty", path));
  return secret;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
