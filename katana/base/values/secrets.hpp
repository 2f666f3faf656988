// What secrets ask for: bytes that cannot be guessed, a comparison whose time tells nothing, and
// memory that is overwritten before it is given back.
//
// Owns       SecretText its bytes.
// Thread     any; a SecretText is a value.
// Allocates  SecretText once for each of its texts, from the heap.
// Fails      never: without the kernel's random numbers the process ends.
// Invariant  a SecretText leaves no copy in memory that it gave back.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "katana/base/system/hints.hpp"
#include "katana/base/text/bytes.hpp"

namespace katana {

// The kernel's (getrandom(2)); nothing of them is kept, so a process that forks does not give
// bytes twice.
void fill_random(std::span<char> octets);
std::string random_octets(std::size_t count);

// The time depends on the sizes alone, which are no secret.
bool equal_in_constant_time(Bytes a, Bytes b) noexcept;

// Overwritten so that no optimisation leaves it out.
void erase_secret(std::span<char> octets) noexcept;
inline void erase_secret(std::string& text) noexcept {
  erase_secret(std::span(text.data(), text.size()));
  text.clear();
}

// A password, a key, a token. Not copied by accident; compared in constant time; never printed.
class SecretText {
 public:
  SecretText() = default;
  explicit SecretText(Bytes octets);
  SecretText(SecretText&& other) noexcept;
  SecretText& operator=(SecretText&& other) noexcept;
  ~SecretText() { erase(); }

  // The bytes, for as long as it lives and is not changed.
  Bytes reveal() const noexcept KATANA_VIEW { return {octets_.get(), size_}; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  // On purpose: another one with the same bytes.
  SecretText copy() const { return SecretText(reveal()); }
  // Overwrites them: empty from then on.
  void erase() noexcept;

  friend bool operator==(const SecretText& a, const SecretText& b) noexcept {
    return equal_in_constant_time(a.reveal(), b.reveal());
  }

 private:
  std::unique_ptr<char[]> octets_;
  std::size_t size_ = 0;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
