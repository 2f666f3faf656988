#include "katana_tool/profile_symbols.hpp"

#include <charconv>
#include <utility>

#include "katana/observe/crash/report.hpp"
#include "katana_tool/symbols.hpp"

namespace katana::tool {
namespace {

crash::Frame frame_of(const profile::Profile& profile, const profile::Place& place) {
  crash::Frame frame{.address = place.address};
  if (place.module >= profile.modules.size()) return frame;
  const profile::Module& module = profile.modules[place.module];
  frame.build_id = module.build_id;
  frame.offset = place.address - module.bias;
  frame.path = module.path;
  return frame;
}

// "a.cpp:12", where the number may be missing.
profile::Line line_of(const Symbol& symbol) {
  profile::Line line{symbol.function, symbol.location, 0};
  const std::size_t colon = symbol.location.rfind(':');
  if (colon == std::string::npos) return line;
  const char* const end = symbol.location.data() + symbol.location.size();
  (void)std::from_chars(symbol.location.data() + colon + 1, end, line.line);
  line.file.resize(colon);
  return line;
}

}  // namespace

Result<std::vector<std::string>> symbolise(profile::Profile& profile,
                                           const std::string& debug_folder) {
  crash::Report report;
  report.threads.emplace_back();
  for (const profile::Place& place : profile.places) {
    report.threads.front().frames.push_back(frame_of(profile, place));
  }
  Symbols symbols(debug_folder);
  if (auto loaded = symbols.load(report); !loaded) return std::unexpected(loaded.error());
  for (std::size_t index = 0; index < profile.places.size(); ++index) {
    const auto known = symbols.at(report.threads.front().frames[index]);
    if (known.empty()) continue;
    std::vector<profile::Line>& lines = profile.places[index].lines;
    lines.clear();
    for (const Symbol& symbol : known) lines.push_back(line_of(symbol));
  }
  return symbols.problems();
}

}  // namespace katana::tool

// SPDX-License-Identifier: Apache-2.0
