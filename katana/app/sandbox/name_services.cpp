#include "katana/app/sandbox/name_services.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace katana::sandbox {
namespace {

constexpr std::string_view blanks = " \t\r";

// The next word of a line, or "[…]" as a whole; empty at its end.
std::string_view take_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
  const std::size_t end = line.starts_with('[') ? line.find(']') : line.find_first_of(blanks);
  const std::string_view word =
      line.substr(0, line.starts_with('[') && end != line.npos ? end + 1 : end);
  line.remove_prefix(word.size());
  return word;
}

bool is_looked_up(std::string_view database) {
  constexpr std::string_view known[] = {"hosts:", "services:", "passwd:", "group:"};
  return std::ranges::find(known, database) != std::end(known);
}

}  // namespace

std::vector<std::string> name_services_in(std::string_view nsswitch) {
  std::vector<std::string> names;
  while (!nsswitch.empty()) {
    std::string_view line = nsswitch.substr(0, nsswitch.find('\n'));
    nsswitch.remove_prefix(std::min(line.size() + 1, nsswitch.size()));
    line = line.substr(0, line.find('#'));
    if (!is_looked_up(take_word(line))) continue;
    for (auto word = take_word(line); !word.empty(); word = take_word(line)) {
      if (word.starts_with('[') || word.find('/') != word.npos) continue;
      if (std::ranges::find(names, word) == names.end()) names.emplace_back(word);
    }
  }
  return names;
}

void load_name_services() {
  std::ifstream file("/etc/nsswitch.conf", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (const std::string& each : name_services_in(text)) {
    // Stays open. "files" and "dns" are in the C library itself: no library is found for them.
    (void)::dlopen(("libnss_" + each + ".so.2").c_str(), RTLD_NOW);
  }
}

}  // namespace katana::sandbox

// SPDX-License-Identifier: Apache-2.0
