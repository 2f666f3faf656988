#include "katana/identity/passwords/password_form.hpp"

#include <argon2.h>
#include <fmt/format.h>

#include <charconv>

#include "katana/base/values/base64.hpp"

namespace katana::passwords {
namespace {

constexpr std::size_t salt_bytes_min = 8;
constexpr std::size_t hash_bytes_min = 16;
constexpr std::size_t octets_max = 64;

std::string unpadded(Bytes octets) {
  std::string text = encode_base64(octets);
  while (text.ends_with('=')) text.pop_back();
  return text;
}
std::optional<std::string> decoded(Bytes text, std::size_t bytes_min) {
  if (text.ends_with('=')) return std::nullopt;
  std::string padded(text);
  padded.append((4 - padded.size() % 4) % 4, '=');
  auto octets = decode_base64(padded);
  if (!octets || octets->size() < bytes_min || octets->size() > octets_max) return std::nullopt;
  return octets;
}

// Removes `prefix` and a number from the front; false: the text does not begin with them.
bool take_number(Bytes& text, Bytes prefix, std::uint32_t& number) noexcept {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || text[0] == '0') return false;  // no cost is 0
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

}  // namespace

bool is_possible(const HashCost& cost) noexcept {
  return cost.passes >= 1 && cost.passes <= passes_max && cost.lanes >= 1 &&
         cost.lanes <= lanes_max && cost.memory_kib >= 8 * cost.lanes &&
         cost.memory_kib <= memory_kib_max;
}

std::optional<PasswordForm> PasswordForm::parse(Bytes text) {
  PasswordForm form;
  if (!take_number(text, "$argon2id$v=19$m=", form.cost.memory_kib) ||
      !take_number(text, ",t=", form.cost.passes) || !take_number(text, ",p=", form.cost.lanes) ||
      !text.starts_with('$') || !is_possible(form.cost)) {
    return std::nullopt;
  }
  text.remove_prefix(1);
  const std::size_t end = text.find('$');
  if (end == Bytes::npos) return std::nullopt;
  auto salt = decoded(text.substr(0, end), salt_bytes_min);
  auto hash = decoded(text.substr(end + 1), hash_bytes_min);
  if (!salt || !hash) return std::nullopt;
  form.salt = *std::move(salt);
  form.hash = *std::move(hash);
  return form;
}

std::string PasswordForm::write() const {
  return fmt::format("$argon2id$v=19$m={},t={},p={}${}${}", cost.memory_kib, cost.passes,
                     cost.lanes, unpadded(salt), unpadded(hash));
}

Result<std::string> argon2id(Bytes password, Bytes salt, const HashCost& cost,
                             std::size_t hash_bytes) {
  std::string hash(hash_bytes, '\0');
  const int outcome =
      argon2id_hash_raw(cost.passes, cost.memory_kib, cost.lanes, password.data(), password.size(),
                        salt.data(), salt.size(), hash.data(), hash.size());
  if (outcome == ARGON2_OK) return hash;
  return fail(outcome == ARGON2_MEMORY_ALLOCATION_ERROR ? Code::resource_exhausted : Code::internal,
              fmt::format("argon2id of {} KiB, {} passes and {} lanes: {}", cost.memory_kib,
                          cost.passes, cost.lanes, argon2_error_message(outcome)));
}

}  // namespace katana::passwords

// SPDX-License-Identifier: Apache-2.0
