#include "katana/identity/passwords/totp.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "katana/base/system/check.hpp"
#include "katana/base/values/secrets.hpp"

namespace katana::passwords {
namespace {

constexpr Bytes alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

// RFC 4226 §5.3.
std::string code_of(const crypto::Hmac& hmac, std::int64_t step, unsigned digits) {
  std::string counter;
  for (int shift = 56; shift >= 0; shift -= 8) {
    counter.push_back(static_cast<char>(static_cast<std::uint64_t>(step) >> shift));
  }
  const crypto::Mac mac = hmac.of(counter);
  const Bytes octets = mac.bytes();
  const auto at = [&](std::size_t index) {
    return std::uint32_t{static_cast<unsigned char>(octets[index])};
  };
  const std::size_t offset = at(octets.size() - 1) & 15;
  const std::uint32_t truncated =
      (at(offset) & 0x7f) << 24 | at(offset + 1) << 16 | at(offset + 2) << 8 | at(offset + 3);
  std::uint32_t modulus = 1;
  for (unsigned count = 0; count < digits; ++count) modulus *= 10;
  return fmt::format("{:0{}}", truncated % modulus, digits);
}

void require(const TotpOptions& options) {
  KATANA_REQUIRE(options.digits >= 6 && options.digits <= 8 && options.period_s > 0 &&
                 options.window <= 10);
}

// RFC 3986 §2.1: all but the unreserved.
std::string percent_encoded(Bytes text) {
  std::string encoded;
  for (const char c : text) {
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                          (c >= 'A' && c <= 'Z') || Bytes("-._~").find(c) != Bytes::npos;
    if (is_plain) {
      encoded.push_back(c);
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

const char* name_of(crypto::Hash hash) noexcept {
  switch (hash) {
    case crypto::Hash::sha256: return "SHA256";
    case crypto::Hash::sha384: return "SHA384";
    case crypto::Hash::sha512: return "SHA512";
    case crypto::Hash::sha1: break;
  }
  return "SHA1";
}

}  // namespace

std::string totp(Bytes secret, std::int64_t now_s, const TotpOptions& options) {
  require(options);
  return code_of(crypto::Hmac(options.hash, secret), now_s / options.period_s, options.digits);
}

std::optional<std::int64_t> verify_totp(Bytes secret, Bytes code, std::int64_t now_s,
                                        std::int64_t last_step, const TotpOptions& options) {
  require(options);
  const crypto::Hmac hmac(options.hash, secret);
  const std::int64_t present = now_s / options.period_s;
  const auto window = static_cast<std::int64_t>(options.window);
  std::optional<std::int64_t> found;
  // Compares all steps. The duration then does not reveal the right one.
  for (std::int64_t step = present - window; step <= present + window; ++step) {
    const bool right = equal_in_constant_time(code_of(hmac, step, options.digits), code);
    if (right && step > last_step && step >= 0) found = step;
  }
  return found;
}

// verify_totp() never returns a step that is more than two windows behind the latest one.
bool UsedSteps::use(Bytes account, std::int64_t step, const TotpOptions& options) {
  const std::lock_guard lock(mutex_);
  latest_ = std::max(latest_, step);
  const auto found = steps_.find(account);
  if (found != steps_.end()) {
    if (step <= found->second) return false;
    found->second = step;
    return true;
  }
  const std::int64_t over = latest_ - 2 * static_cast<std::int64_t>(options.window);
  if (step < over) return false;
  if (steps_.size() >= accounts_max_) {
    std::erase_if(steps_, [over](const auto& each) { return each.second < over; });
  }
  if (steps_.size() >= accounts_max_) return false;
  steps_.emplace(account, step);
  return true;
}

std::string totp_uri(Bytes issuer, Bytes account, Bytes secret, const TotpOptions& options) {
  const std::string by = percent_encoded(issuer);
  return fmt::format("otpauth://totp/{}:{}?secret={}&issuer={}&algorithm={}&digits={}&period={}",
                     by, percent_encoded(account), encode_base32(secret), by, name_of(options.hash),
                     options.digits, options.period_s);
}

std::string encode_base32(Bytes octets) {
  std::string text;
  std::uint32_t group{};
  unsigned bits = 0;
  for (const char octet : octets) {
    group = (group << 8 | static_cast<unsigned char>(octet)) & 0xffff;
    for (bits += 8; bits >= 5; bits -= 5) text.push_back(alphabet[group >> (bits - 5) & 31]);
  }
  if (bits != 0) text.push_back(alphabet[group << (5 - bits) & 31]);
  return text;
}

std::optional<std::string> decode_base32(Bytes text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string octets;
  std::uint32_t group{};
  unsigned bits = 0;
  for (const char c : text) {
    const char capital = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    const std::size_t value = alphabet.find(capital);
    if (value == Bytes::npos) return std::nullopt;
    group = (group << 5 | static_cast<std::uint32_t>(value)) & 0xffff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    octets.push_back(static_cast<char>(group >> bits));
  }
  return octets;
}

}  // namespace katana::passwords

// SPDX-License-Identifier: Apache-2.0
