#include "katana/wire/postgres/scram.hpp"

#include <algorithm>
#include <optional>

#include "katana/base/crypto/digest.hpp"
#include "katana/base/system/check.hpp"
#include "katana/base/values/base64.hpp"

namespace katana::postgres {
namespace {

using crypto::Hash;
using crypto::Hmac;

// Base64 of a SHA-256.
constexpr std::size_t signature_text_bytes = base64_text_bytes(32);

// Puts texts one behind the other into memory that is large enough for all of them.
class Joiner {
 public:
  explicit Joiner(std::span<char> to) noexcept : to_(to) {}
  Joiner& add(Bytes text) noexcept {
    KATANA_CHECK(text.size() <= to_.size() - size_);
    std::ranges::copy(text, to_.begin() + static_cast<std::ptrdiff_t>(size_));
    size_ += text.size();
    return *this;
  }
  Joiner& add_base64(Bytes octets) noexcept {
    size_ += encode_base64(octets, to_.subspan(size_)).size();
    return *this;
  }
  Bytes text() const noexcept { return {to_.data(), size_}; }

 private:
  std::span<char> to_;
  std::size_t size_ = 0;
};

// The header of RFC 5802 §7, which has no authzid.
Bytes gs2_header(BindingFlag flag) noexcept {
  switch (flag) {
    case BindingFlag::unsupported: return "n,,";
    case BindingFlag::not_offered: return "y,,";
    case BindingFlag::bound: break;
  }
  return "p=tls-server-end-point,,";
}

// Takes "NAME=value" and the comma behind it. Nothing: the message does not begin with it.
std::optional<Bytes> take_attribute(Bytes& message, char name) noexcept {
  if (message.size() < 2 || message[0] != name || message[1] != '=') return std::nullopt;
  message.remove_prefix(2);
  const std::size_t end = std::min(message.find(','), message.size());
  const Bytes value = message.substr(0, end);
  message.remove_prefix(std::min(end + 1, message.size()));
  return value;
}

// RFC 5802 §7, printable: no comma, no blank.
bool is_nonce(Bytes text) noexcept {
  return !text.empty() && std::ranges::all_of(text, [](char octet) {
    return octet > ' ' && octet <= '~' && octet != ',';
  });
}

// RFC 5802 §7, posit-number. 0: it is none, or has more than nine digits.
std::uint32_t iterations_of(Bytes text) noexcept {
  if (text.empty() || text.size() > 9 || text.front() == '0') return 0;
  std::uint32_t number = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '9') return 0;
    number = number * 10 + static_cast<std::uint32_t>(digit - '0');
  }
  return number;
}

void copy_to(Bytes from, std::array<char, 32>& to) noexcept {
  KATANA_CHECK(from.size() == to.size());
  std::ranges::copy(from, to.begin());
}

}  // namespace

ScramKeys derive_scram_keys(Bytes password, const ScramChallenge& challenge) {
  std::array<char, 32> salted;
  crypto::pbkdf2(Hash::sha256, password, challenge.salt, challenge.iterations, salted);
  const Hmac hmac(Hash::sha256, Bytes(salted.data(), salted.size()));
  ScramKeys keys;
  copy_to(hmac.of("Client Key").bytes(), keys.client_);
  copy_to(hmac.of("Server Key").bytes(), keys.server_);
  erase_secret(salted);
  return keys;
}

ScramProof prove_scram(const ScramKeys& keys, Bytes messages) {
  ScramProof made;
  const crypto::Sha256 stored_key = crypto::sha256(keys.client());
  const crypto::Mac client_signature = Hmac(Hash::sha256, stored_key.bytes()).of(messages);
  std::ranges::transform(keys.client(), client_signature.bytes(), made.proof.begin(),
                         [](char a, char b) { return static_cast<char>(a ^ b); });
  copy_to(Hmac(Hash::sha256, keys.server()).of(messages).bytes(), made.signature);
  return made;
}

Scram::Scram(Bytes nonce, BindingFlag flag, Bytes binding) noexcept : flag_(flag) {
  KATANA_REQUIRE(nonce.size() == scram_nonce_bytes);
  KATANA_REQUIRE(binding.size() <= binding_.size());
  KATANA_REQUIRE(binding.empty() == (flag != BindingFlag::bound));
  encode_base64(nonce, nonce_);
  std::ranges::copy(binding, binding_.begin());
  binding_size_ = binding.size();
}

Bytes Scram::write_first(std::span<char> to) const noexcept {
  // PostgreSQL takes the user of the start, and ignores the name here.
  return Joiner(to).add(gs2_header(flag_)).add("n=,r=").add(nonce()).text();
}

Refusal Scram::read_challenge(Bytes message, const Limits& limits) noexcept {
  if (message.size() > server_first_.size()) return Refusal::bad_scram;
  Bytes rest = message;
  const std::optional<Bytes> server_nonce = take_attribute(rest, 'r');
  const std::optional<Bytes> salt = take_attribute(rest, 's');
  const std::optional<Bytes> iterations = take_attribute(rest, 'i');
  if (!server_nonce || !salt || !iterations || !rest.empty() || message.ends_with(',')) {
    return Refusal::bad_scram;
  }
  if (!is_nonce(*server_nonce)) return Refusal::bad_scram;
  if (!server_nonce->starts_with(nonce()) || server_nonce->size() == nonce_.size()) {
    return Refusal::foreign_nonce;
  }
  if (salt->empty() || salt->size() > base64_text_bytes(salt_.size())) return Refusal::bad_scram;
  std::array<char, scram_salt_bytes_max + 3> decoded;
  const std::optional<Bytes> octets = decode_base64(*salt, decoded);
  if (!octets || octets->size() > salt_.size()) return Refusal::bad_scram;
  iterations_ = iterations_of(*iterations);
  if (iterations_ == 0) return Refusal::bad_scram;
  if (iterations_ < limits.scram_iterations_min) return Refusal::too_few_iterations;
  if (iterations_ > limits.scram_iterations_max) return Refusal::too_many_iterations;
  std::ranges::copy(*octets, salt_.begin());
  salt_size_ = octets->size();
  std::ranges::copy(message, server_first_.begin());
  server_first_size_ = message.size();
  server_nonce_size_ = server_nonce->size();
  return Refusal::none;
}

Bytes Scram::write_proof(const ScramKeys& keys, std::span<char> to) noexcept {
  KATANA_REQUIRE(server_first_size_ > 0);
  std::array<char, 24 + scram_binding_bytes_max> binding;
  const Bytes bound =
      Joiner(binding).add(gs2_header(flag_)).add({binding_.data(), binding_size_}).text();
  Joiner final_message(to);
  final_message.add("c=").add_base64(bound).add(",r=");
  final_message.add(server_first().substr(2, server_nonce_size_));

  std::array<char, 64 + scram_server_first_max + scram_message_bytes_max> memory;
  const Bytes signed_text = Joiner(memory)
                                .add("n=,r=")
                                .add(nonce())
                                .add(",")
                                .add(server_first())
                                .add(",")
                                .add(final_message.text())
                                .text();
  const ScramProof proven = prove_scram(keys, signed_text);
  signature_ = proven.signature;
  is_proven_ = true;
  return final_message.add(",p=").add_base64({proven.proof.data(), proven.proof.size()}).text();
}

Refusal Scram::verify(Bytes message) const noexcept {
  KATANA_REQUIRE(is_proven_);
  if (message.starts_with("e=")) return Refusal::scram_error;
  const bool has_comma = message.ends_with(',');
  const std::optional<Bytes> text = take_attribute(message, 'v');
  if (!text || !message.empty() || has_comma || text->size() != signature_text_bytes) {
    return Refusal::bad_scram;
  }
  std::array<char, 36> decoded;
  const std::optional<Bytes> signature = decode_base64(*text, decoded);
  if (!signature || signature->size() != signature_.size()) return Refusal::bad_scram;
  const Bytes expected(signature_.data(), signature_.size());
  return equal_in_constant_time(*signature, expected) ? Refusal::none : Refusal::wrong_signature;
}

}  // namespace katana::postgres

// SPDX-License-Identifier: Apache-2.0
