// fault_in(): the fault that a reader of a format finds in some bytes, for tests.
//
// Thread     any.
// Fails      the test, when the reader's answer and its findings disagree.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>

#include "katana/base/text/bytes.hpp"
#include "katana/data/container/findings.hpp"

namespace katana::container {

// The fault that `read` finds; empty: none. It gets the bytes and the findings. The bytes are at
// the end of a block of memory, where AddressSanitizer sees a read beyond them.
template <class Read>
std::string fault_in(Bytes octets, const Read& read) {
  const auto block = std::make_unique<char[]>(octets.size());
  if (!octets.empty()) std::memcpy(block.get(), octets.data(), octets.size());
  Findings findings;
  const bool good = read(Bytes(block.get(), octets.size()), findings);
  EXPECT_EQ(good, findings.empty());
  return good ? "" : std::string(findings.error().message());
}

}  // namespace katana::container

// SPDX-License-Identifier: Apache-2.0
