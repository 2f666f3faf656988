// in_tree(): where a file of the source tree is, for tests that read it.
//
// Thread     any.
// Fails      expect_drawn() fails the test when the file has another text than was drawn from the
//            code; with KATANA_UPDATE in the environment it writes the file.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

namespace katana {

extern const char* const source_dir;  // cmake/source_dir.cpp.in

// `path` begins at the root: "docs/README.md".
inline std::string in_tree(std::string_view path) {
  return std::string(source_dir) + "/" + std::string(path);
}

inline void expect_drawn(std::string_view path, const std::string& drawn) {
  const std::string file = in_tree(path);
  if (std::getenv("KATANA_UPDATE") != nullptr) std::ofstream(file) << drawn;
  std::ostringstream found;
  found << std::ifstream(file).rdbuf();
  EXPECT_EQ(found.str(), drawn) << file
                                << " is not what the code says: run this test with KATANA_UPDATE=1";
}

}  // namespace katana
