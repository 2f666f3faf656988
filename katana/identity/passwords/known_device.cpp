#include "katana/identity/passwords/known_device.hpp"

#include <fmt/format.h>

#include "katana/base/values/base64.hpp"
#include "katana/base/values/secrets.hpp"

namespace katana::passwords {
namespace {

constexpr std::size_t name_bytes = 16;
constexpr std::size_t token_bytes = name_bytes + 32;

std::string signed_text(Bytes name, Bytes account) {
  std::string text = "katana known device 1 ";
  return text.append(name).append(account);
}

}  // namespace

Result<KnownDevices> KnownDevices::make(std::span<const std::string> secrets) {
  if (secrets.size() > secrets_max) {
    return fail(Code::invalid_argument,
                fmt::format("known devices: there are {} secrets, and there may be {}",
                            secrets.size(), secrets_max));
  }
  KnownDevices devices;
  for (const std::string& secret : secrets) {
    if (secret.size() < secret_bytes_min) {
      return fail(Code::invalid_argument,
                  fmt::format("known devices: a secret has {} bytes, and needs {}: openssl rand "
                              "-base64 32",
                              secret.size(), secret_bytes_min));
    }
    devices.keys_.emplace_back(crypto::Hash::sha256, secret);
  }
  if (secrets.empty()) devices.keys_.emplace_back(crypto::Hash::sha256, random_octets(32));
  return devices;
}

std::string KnownDevices::token(Bytes account) const {
  const std::string name = random_octets(name_bytes);
  const crypto::Mac mac = keys_.front().of(signed_text(name, account));
  return encode_base64url(name + std::string(mac.bytes()));
}

std::string KnownDevices::find(Bytes token, Bytes account) const {
  if (token.size() != token_bytes / 3 * 4) return {};
  const auto octets = decode_base64url(token);
  if (!octets || octets->size() != token_bytes) return {};
  const Bytes name = Bytes(*octets).substr(0, name_bytes);
  const std::string text = signed_text(name, account);
  for (const crypto::Hmac& key : keys_) {
    if (key.matches(text, Bytes(*octets).substr(name_bytes))) return std::string(name);
  }
  return {};
}

}  // namespace katana::passwords

// SPDX-License-Identifier: Apache-2.0
