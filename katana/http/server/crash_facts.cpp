#include "katana/http/server/crash_facts.hpp"

#include <algorithm>
#include <string>

#include "katana/base/system/monotonic_clock.hpp"
#include "katana/http/server/requests_in_flight.hpp"
#include "katana/observe/crash/report_writer.hpp"

namespace katana::server {
void tell_requests_in_flight(crash::ThreadText& text) noexcept {
  auto* const requests = ThreadLists<RequestInFlight>::known();
  if (requests == nullptr) return;
  const Instant now = monotonic_now();
  std::size_t count = 0;
  requests->for_each([&](const RequestInFlight& each) {
    // A list that was damaged may lead in a circle.
    if (++count > 1'000'000) return false;
    if (count > in_flight_told_max) return true;
    const Activity& activity = each.activity();
    text.add("in-flight age-ms=");
    text.add_number(std::max<std::int64_t>((now - each.began()).count_ms(), 0));
    text.add(" request=");
    text.add(activity.name.empty() ? Bytes("-") : activity.name.substr(0, 128));
    text.add(" on ");
    text.add(activity.site != nullptr ? Bytes(*activity.site).substr(0, 128) : Bytes("-"));
    text.end_line();
    return true;
  });
  if (count <= in_flight_told_max) return;
  text.add("in-flight and ");
  text.add_number(static_cast<std::int64_t>(count - in_flight_told_max));
  text.add(" more");
  text.end_line();
}

ReactorFacts::ReactorFacts(const net::Reactor& reactor, std::size_t number) noexcept
    : reactor_(reactor), number_(number) {
  crash::add_section(*this);
}

ReactorFacts::~ReactorFacts() { crash::remove_section(*this); }

// Its fields change meanwhile: the numbers are those of about now.
void ReactorFacts::write(crash::ReportWriter& report) noexcept {
  const std::string* const site = reactor_.site();
  const Instant since = reactor_.busy_since();
  report.word("reactor ");
  report.number(static_cast<std::int64_t>(number_));
  report.field("busy-ms", since == never ? 0 : (monotonic_now() - since).count_ms());
  report.field("connections", reactor_.links_open());
  report.field("tasks", static_cast<std::int64_t>(reactor_.tasks().size()));
  report.word(" on ");
  report.value(site != nullptr ? Bytes(*site) : Bytes("-"));
  report.end_line();
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
