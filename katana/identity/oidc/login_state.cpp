#include "katana/identity/oidc/login_state.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/base/crypto/digest.hpp"
#include "katana/base/values/base64.hpp"
#include "katana/base/values/secrets.hpp"
#include "katana/data/container/message_pack_read.hpp"
#include "katana/data/container/message_pack_write.hpp"

namespace katana::oidc {
namespace {

constexpr Bytes use = "katana oidc state v1";
constexpr std::size_t state_text_bytes_max = 4096;

}  // namespace

Result<StateSealer> StateSealer::make(std::span<const std::string> secrets,
                                      const std::string& client) {
  if (secrets.empty() || secrets.size() > secrets_max) {
    return fail(Code::invalid_argument,
                fmt::format("secrets: there are {}, and there have to be 1 to {}", secrets.size(),
                            secrets_max));
  }
  StateSealer sealer;
  for (const std::string& secret : secrets) {
    if (secret.size() < secret_bytes_min) {
      return fail(Code::invalid_argument,
                  fmt::format("secrets: one has {} bytes, and needs {}: openssl rand -base64 32",
                              secret.size(), secret_bytes_min));
    }
    const SecretText key =
        crypto::hkdf(crypto::Hash::sha256, secret, client, use, crypto::Aead::key_bytes);
    sealer.keys_.emplace_back(key.reveal());
  }
  return sealer;
}

std::string StateSealer::seal(const LoginState& state) const {
  return encode_base64url(keys_.front().seal(container::to_message_pack(state), use));
}

std::optional<LoginState> StateSealer::open(Bytes text, std::int64_t now_s) const {
  if (text.size() > state_text_bytes_max) return std::nullopt;
  const std::optional<std::string> sealed = decode_base64url(text);
  if (!sealed) return std::nullopt;
  for (const crypto::Aead& key : keys_) {
    const std::optional<std::string> opened = key.open(*sealed, use);
    if (!opened) continue;
    auto state = container::read_message_pack<LoginState>(*opened);
    if (!state || state->expires_s < now_s) return std::nullopt;
    return *std::move(state);
  }
  return std::nullopt;
}

// "//host" and "/\host" are other sites to a browser, which also drops tabs and line ends.
bool is_local_path(Bytes path) noexcept {
  if (path.empty() || path.size() > return_to_bytes_max || path.front() != '/') return false;
  if (path.starts_with("//")) return false;
  return std::ranges::all_of(path, [](char c) { return c > ' ' && c < '\x7f' && c != '\\'; });
}

}  // namespace katana::oidc

// SPDX-License-Identifier: Apache-2.0
