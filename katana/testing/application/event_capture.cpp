#include "katana/testing/application/event_capture.hpp"

#include <algorithm>
#include <string_view>

namespace katana::testing {
namespace {

// Parses the output of append_event().
CapturedEvent parse(std::string_view octets) {
  CapturedEvent event;
  bool has_data = false;
  while (!octets.empty()) {
    const std::size_t end = std::min(octets.find('\n'), octets.size());
    const std::string_view line = octets.substr(0, end);
    octets.remove_prefix(std::min(end + 1, octets.size()));
    if (line.starts_with("id: ")) event.id = line.substr(4);
    if (line.starts_with("event: ")) event.name = line.substr(7);
    if (!line.starts_with("data: ")) continue;
    if (has_data) event.data += '\n';
    event.data += line.substr(6);
    has_data = true;
  }
  return event;
}

}  // namespace

std::vector<CapturedEvent> EventCapture::events() const {
  std::vector<CapturedEvent> events;
  for (const auto& octets : topic_.kept_from(published_before_ + 1)) {
    events.push_back(parse(*octets));
  }
  return events;
}

std::uint64_t EventCapture::missed() const {
  const std::uint64_t published = topic_.statistics().published - published_before_;
  return published - topic_.kept_from(published_before_ + 1).size();
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
