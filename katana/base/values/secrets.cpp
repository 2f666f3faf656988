#include "katana/base/values/secrets.hpp"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "katana/base/system/check.hpp"

namespace katana {

void fill_random(std::span<char> octets) {
  while (!octets.empty()) {
    const ssize_t given = ::getrandom(octets.data(), octets.size(), 0);
    KATANA_CHECK(given > 0 || errno == EINTR);
    octets = octets.subspan(given > 0 ? static_cast<std::size_t>(given) : 0);
  }
}

std::string random_octets(std::size_t count) {
  std::string octets(count, '\0');
  fill_random(octets);
  return octets;
}

bool equal_in_constant_time(Bytes a, Bytes b) noexcept {
  if (a.size() != b.size()) return false;
  unsigned char difference = 0;
  for (std::size_t index = 0; index < a.size(); ++index) {
    difference |= static_cast<unsigned char>(a[index] ^ b[index]);
    // Hides from the compiler that the answer may be known before the end.
    asm volatile("" : "+r"(difference));
  }
  return difference == 0;
}

void erase_secret(std::span<char> octets) noexcept {
  ::explicit_bzero(octets.data(), octets.size());
}

SecretText::SecretText(Bytes octets)
    : octets_(octets.empty() ? nullptr : std::make_unique<char[]>(octets.size())),
      size_(octets.size()) {
  std::copy(octets.begin(), octets.end(), octets_.get());
}

SecretText::SecretText(SecretText&& other) noexcept
    : octets_(std::move(other.octets_)), size_(std::exchange(other.size_, 0)) {}

SecretText& SecretText::operator=(SecretText&& other) noexcept {
  if (this == &other) return *this;
  erase();
  octets_ = std::move(other.octets_);
  size_ = std::exchange(other.size_, 0);
  return *this;
}

void SecretText::erase() noexcept {
  if (octets_ != nullptr) erase_secret(std::span(octets_.get(), size_));
  octets_.reset();
  size_ = 0;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
