#include "katana/observe/profile/folded.hpp"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "katana/observe/profile/call_tree.hpp"

namespace katana::profile {
namespace {

constexpr const char* rest_of_route = ";(left out)";

void add_name(std::string& line, const std::string& name) {
  for (const char each : name) {
    const auto code = static_cast<unsigned char>(each);
    line += each == ';' ? ':' : code < 0x20 || code == 0x7f ? '?' : each;
  }
}

}  // namespace

std::string to_folded_within(const Profile& profile, std::size_t bytes_max) {
  std::vector<std::vector<std::string>> names;  // of the places
  for (const Place& place : profile.places) names.push_back(names_of(profile, place));
  std::map<std::string, std::int64_t> lines;
  std::size_t bytes = 0;
  for (const Found* const each : most_frequent_first(profile)) {
    const Found& found = *each;
    std::string line;
    add_name(line, route_name_of(found.labels));
    const std::size_t route_size = line.size();
    for (auto place = found.places.rbegin(); place != found.places.rend(); ++place) {
      for (auto name = names[*place].rbegin(); name != names[*place].rend(); ++name) {
        line += ';';
        add_name(line, *name);
      }
    }
    if (!lines.contains(line)) {
      if (bytes + line.size() > bytes_max)
        line.replace(route_size, std::string::npos, rest_of_route);
      bytes += line.size();
    }
    lines[line] += found.count;
  }
  std::string text;
  for (const auto& [line, count] : lines) text += fmt::format("{} {}\n", line, count);
  return text;
}

std::string to_folded(const Profile& profile) {
  return to_folded_within(profile, folded_bytes_max);
}

}  // namespace katana::profile

// SPDX-License-Identifier: Apache-2.0
