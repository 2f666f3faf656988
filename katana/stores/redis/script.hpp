// Script: Lua that runs in the server as one step: no other command runs meanwhile.
//
//   static const redis::Script take("return redis.call('DECRBY', KEYS[1], ARGV[1])");
//   auto left = co_await redis.run(take, 1, "stock:7", 2);
//
// The client sends the digest. A server that is new or was restarted does not know it: the client
// then sends the text, in the same call.
//
// Owns       its text, and the digest in hexadecimal.
// Thread     any; it does not change.
#pragma once

#include <string>
#include <utility>

#include "katana/base/text/bytes.hpp"
#include "katana/base/values/sha1.hpp"

namespace katana::redis {

class Script {
 public:
  explicit Script(std::string text) : text_(std::move(text)) {
    static constexpr char digits[] = "0123456789abcdef";
    for (const std::uint8_t octet : sha1(text_)) {
      digest_ += digits[octet >> 4];
      digest_ += digits[octet & 15];
    }
  }

  // The Lua source, as EVAL takes it.
  const std::string& text() const noexcept { return text_; }
  // 40 digits.
  Bytes digest() const noexcept { return digest_; }

 private:
  std::string text_;
  std::string digest_;
};

}  // namespace katana::redis

// SPDX-License-Identifier: Apache-2.0
