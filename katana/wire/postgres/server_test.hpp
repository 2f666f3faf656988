// Messages of a PostgreSQL server for tests of the machines, and the server of SCRAM.
//
// Thread     any.
// Allocates  yes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "katana/base/crypto/digest.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/base64.hpp"
#include "katana/wire/postgres/refusal.hpp"

namespace katana::postgres::test {

// The random bytes of a client.
inline constexpr Bytes nonce = "0123456789abcdefgh";

// A number with the most significant byte first.
inline std::string number(std::uint32_t value, std::size_t size) {
  std::string made(size, '\0');
  for (std::size_t at = size; at-- > 0; value >>= 8) made[at] = static_cast<char>(value);
  return made;
}

inline std::string message(char type, Bytes body) {
  return std::string(1, type) + number(static_cast<std::uint32_t>(body.size() + 4), 4) +
         std::string(body);
}

inline std::string zero_ended(Bytes bytes) { return std::string(bytes) + '\0'; }

inline std::string report(char type, Bytes severity, Bytes sqlstate, Bytes words = "words") {
  return message(type, zero_ended("S" + std::string(severity)) +
                           zero_ended("V" + std::string(severity)) +
                           zero_ended("C" + std::string(sqlstate)) +
                           zero_ended("M" + std::string(words)) + std::string(1, '\0'));
}
inline std::string error(Bytes sqlstate) { return report('E', "ERROR", sqlstate); }
inline std::string ready(char transaction = 'I') { return message('Z', Bytes(&transaction, 1)); }
inline std::string complete(Bytes tag) { return message('C', zero_ended(tag)); }
inline std::string setting(Bytes name, Bytes value) {
  return message('S', zero_ended(name) + zero_ended(value));
}
inline std::string notification(Bytes channel, Bytes payload) {
  return message('A', number(7, 4) + zero_ended(channel) + zero_ended(payload));
}
// A description of so many columns of int4.
inline std::string columns(std::uint16_t count) {
  std::string body = number(count, 2);
  for (int at = 0; at < count; ++at) {
    body += zero_ended("c") + number(0, 4) + number(0, 2) + number(23, 4) + number(4, 2) +
            number(0xffff'ffff, 4) + number(0, 2);
  }
  return message('T', body);
}
// A row whose columns all have this value.
inline std::string row(std::uint16_t count, Bytes value) {
  std::string body = number(count, 2);
  for (int at = 0; at < count; ++at) {
    body += number(static_cast<std::uint32_t>(value.size()), 4) + std::string(value);
  }
  return message('D', body);
}

// The line of a log of events.
inline std::string refused(Refusal why) { return "refused: " + std::string(text_of(why)) + "\n"; }

// The server of SCRAM-SHA-256, written apart from the client of this module (RFC 5802 §3).
class ScramServer {
 public:
  ScramServer(Bytes password, Bytes salt, std::uint32_t iterations)
      : salt_(salt), iterations_(iterations), salted_(32, '\0') {
    crypto::pbkdf2(crypto::Hash::sha256, password, salt, iterations, salted_);
  }

  // The client's first message -> the server's.
  std::string challenge(Bytes client_first) {
    const std::size_t bare = client_first.find("n=");
    header_ = client_first.substr(0, bare);
    client_first_bare_ = client_first.substr(bare);
    nonce_ = client_first_bare_.substr(client_first_bare_.find("r=") + 2) + "server+nonce";
    server_first_ =
        "r=" + nonce_ + ",s=" + encode_base64(salt_) + ",i=" + std::to_string(iterations_);
    return server_first_;
  }
  // The client's last message -> the server's, or nothing if the proof or the binding is wrong.
  std::string signature(Bytes client_final, Bytes binding = "") const {
    const std::size_t end = client_final.rfind(",p=");
    if (end == Bytes::npos) return "";
    const std::string without_proof(client_final.substr(0, end));
    if (without_proof != "c=" + encode_base64(header_ + std::string(binding)) + ",r=" + nonce_) {
      return "";
    }
    const std::string all = client_first_bare_ + "," + server_first_ + "," + without_proof;
    const std::string client_key = mac(salted_, "Client Key");
    const std::string stored(crypto::sha256(client_key).bytes());
    std::string proof = mac(stored, all);
    for (std::size_t at = 0; at < proof.size(); ++at) {
      proof[at] = static_cast<char>(proof[at] ^ client_key[at]);
    }
    if (encode_base64(proof) != client_final.substr(end + 3)) return "";
    return "v=" + encode_base64(mac(mac(salted_, "Server Key"), all));
  }
  const std::string& header() const { return header_; }

 private:
  static std::string mac(Bytes key, Bytes text) {
    return std::string(crypto::Hmac(crypto::Hash::sha256, key).of(text).bytes());
  }

  std::string salt_;
  std::uint32_t iterations_;
  std::string salted_;
  std::string header_;
  std::string client_first_bare_;
  std::string nonce_;
  std::string server_first_;
};

// Takes all that is written, up to a limit.
class Sink {
 public:
  explicit Sink(std::size_t limit = SIZE_MAX) : limit_(limit) {}
  bool takes(std::size_t bytes) const { return bytes <= limit_ - text.size(); }
  void write(Bytes bytes) { text += bytes; }

  std::string text;

 private:
  std::size_t limit_;
};

}  // namespace katana::postgres::test

// SPDX-License-Identifier: Apache-2.0
