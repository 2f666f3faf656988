// compile(): the output of the compiler for a few lines, for tests of code that must not compile.
//
// Thread     one.
// Fails      compiler() is empty where there is none; a test is then skipped.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "katana/base/system/source_tree_test.hpp"

namespace katana {

inline const std::string& compiler() {
  static const std::string found = [] {
    std::vector<std::string> names = {"g++-12", "clang++-19", "c++"};
    if (const char* const given = std::getenv("CXX")) names.insert(names.begin(), given);
    for (const std::string& name : names) {
      if (std::system((name + " --version >/dev/null 2>&1").c_str()) == 0) return name;
    }
    return std::string();
  }();
  return found;
}

struct Compiled {
  bool good;
  std::string output;
};

// The name of a compiler that finds views which outlive their object (KATANA_VIEW); empty: none.
inline std::string lifetime_compiler() {
  const std::string name = "clang++-19";
  return std::system((name + " --version >/dev/null 2>&1").c_str()) == 0 ? name : "";
}

// REQUIRES that there is that compiler. Checks the source without making anything of it.
inline Compiled compile(const std::string& source, const std::string& by = compiler()) {
  std::array<char, 64> path = {"/tmp/katana_compiler_test_XXXXXX.cpp"};
  const int fd = mkstemps(path.data(), 4);
  EXPECT_GE(fd, 0);
  EXPECT_EQ(write(fd, source.data(), source.size()), static_cast<ssize_t>(source.size()));
  close(fd);
  const std::string command =
      by + " -std=c++23 -fsyntax-only -I" + in_tree("") + " " + path.data() + " 2>&1";
  FILE* const pipe = popen(command.c_str(), "r");
  std::string output;
  std::array<char, 4096> piece;
  while (const std::size_t count = std::fread(piece.data(), 1, piece.size(), pipe)) {
    output.append(piece.data(), count);
  }
  const bool good = pclose(pipe) == 0;
  unlink(path.data());
  return {good, output};
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
