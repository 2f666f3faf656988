// katana_sql_checker: `katana sql check FILE --stamp FILE` alone. It checks the repository's own
// programs while they are built, so no build of one waits for the program katana or for CLI11.
#include <cstdio>
#include <exception>
#include <span>
#include <string_view>

#include "katana_tool/sql/run.hpp"

int main(int count, char** arguments) {
  const std::span<char*> words(arguments, count > 0 ? static_cast<std::size_t>(count) : 0);
  if (words.size() != 6 || std::string_view(words[1]) != "sql" ||
      std::string_view(words[2]) != "check" || std::string_view(words[4]) != "--stamp") {
    std::fputs("usage: katana_sql_checker sql check FILE --stamp FILE\n", stderr);
    return 2;
  }
  try {
    katana::tool::sql::RunOptions options;
    options.targets = {words[3]};
    options.stamp = words[5];
    return katana::tool::sql::run_check(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "katana sql check: %s\n", error.what());
    return 2;
  }
}

// SPDX-License-Identifier: Apache-2.0
