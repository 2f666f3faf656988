// Helpers for secrets: random bytes, a comparison in constant time, and memory that is overwritten
// before it is released.
//
// Owns       SecretText its bytes.
// Thread     any; a SecretText is a value.
// Allocates  SecretText once for each of its texts, from the heap.
// Fails      never: without the kernel's random numbers the process ends.
// Invariant  a SecretText leaves no copy in memory that it released.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "katana/base/system/hints.hpp"
#include "katana/base/text/bytes.hpp"

namespace katana {

// Random bytes of the kernel (getrandom(2)). None are buffered: a process that forks does not
// return the same bytes twice.
void fill_random(std::span<char> octets);
std::string random_octets(std::size_t count);

// Compares two texts. The time depends only on the sizes, which are not secret.
bool equal_in_constant_time(Bytes a, Bytes b) noexcept;

// Overwrites the bytes in a way that the optimiser does not remove.
void erase_secret(std::span<char> octets) noexcept;
inline void erase_secret(std::string& text) noexcept {
  erase_secret(std::span(text.data(), text.size()));
  text.clear();
}

// A password, a key or a token. It is not copied by accident, and never printed. Comparison takes
// constant time.
class SecretText {
 public:
  SecretText() = default;
  explicit SecretText(Bytes octets);
  SecretText(SecretText&& other) noexcept;
  SecretText& operator=(SecretText&& other) noexcept;
  ~SecretText() { erase(); }

  // A view of the bytes, valid while the object lives and is not changed.
  Bytes reveal() const noexcept KATANA_VIEW { return {octets_.get(), size_}; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  // An explicit copy with the same bytes.
  SecretText copy() const { return SecretText(reveal()); }
  // Overwrites the bytes; the text is empty then.
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
