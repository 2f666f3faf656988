// TestFile: an open file without a name, with content that a test gives it.
//
// Owns       the file; a test sees the references to it.
// Thread     one.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "katana/base/memory/retained.hpp"
#include "katana/base/values/file_part.hpp"

namespace katana {

class TestFile : public Retained {
 public:
  explicit TestFile(std::string_view content)
      : Retained([](Retained& file) noexcept { ++static_cast<TestFile&>(file).released; }),
        file_(std::tmpfile()) {
    EXPECT_NE(file_, nullptr);
    descriptor = ::fileno(file_);
    EXPECT_EQ(::write(descriptor, content.data(), content.size()),
              static_cast<ssize_t>(content.size()));
    size = content.size();
  }
  ~TestFile() { std::fclose(file_); }

  FilePart all() { return {this, 0, size}; }
  FilePart part(std::uint64_t offset, std::uint64_t count) { return {this, offset, count}; }
  void cut(std::size_t bytes) { EXPECT_EQ(::ftruncate(descriptor, static_cast<off_t>(bytes)), 0); }

  std::size_t size = 0;
  int released = 0;

 private:
  std::FILE* file_;
};

// Content in which every place can be told from the others.
inline std::string numbered_lines(std::size_t bytes) {
  std::string text;
  for (std::size_t line = 0; text.size() < bytes; ++line) text += std::to_string(line) + "\n";
  text.resize(bytes);
  return text;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
