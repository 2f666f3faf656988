#include "katana/http/server/crash_facts.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <string>

#include "katana/base/system/monotonic_clock.hpp"
#include "katana/observe/crash/report_writer.hpp"

namespace katana::server {
namespace {

// The lists outlive their threads: a request can end when its thread has ended.
constinit std::array<RequestInFlight*, 256> first_requests{};
constinit std::atomic<std::size_t> first_requests_taken{0};
constinit thread_local RequestInFlight** own_first = nullptr;

RequestInFlight** first_of_thread() noexcept {
  if (own_first != nullptr) [[likely]]
    return own_first;
  const std::size_t place = first_requests_taken.fetch_add(1, std::memory_order_relaxed);
  if (place >= first_requests.size()) return nullptr;
  return own_first = &first_requests[place];
}

}  // namespace

RequestInFlight::RequestInFlight(const Activity& activity, Instant began) noexcept
    : activity_(activity), began_(began) {
  RequestInFlight** const first = first_of_thread();
  if (first == nullptr) return;
  next_ = *first;
  link_ = first;
  if (next_ != nullptr) next_->link_ = &next_;
  // A handler on this thread finds the object complete.
  std::atomic_signal_fence(std::memory_order_release);
  *first = this;
}

RequestInFlight::~RequestInFlight() {
  if (link_ == nullptr) return;
  *link_ = next_;
  if (next_ != nullptr) next_->link_ = link_;
  // The memory is used for something else only after this.
  std::atomic_signal_fence(std::memory_order_release);
}

void tell_requests_in_flight(crash::ThreadText& text) noexcept {
  if (own_first == nullptr) return;
  const Instant now = monotonic_now();
  std::size_t count = 0;
  for (const RequestInFlight* each = *own_first; each != nullptr; each = each->next_) {
    // A list that was damaged may lead in a circle.
    if (++count > 1'000'000) break;
    if (count > in_flight_told_max) continue;
    text.add("in-flight age-ms=");
    text.add_number(std::max<std::int64_t>((now - each->began_).count_ms(), 0));
    text.add(" request=");
    text.add(each->activity_.name.empty() ? Bytes("-") : each->activity_.name.substr(0, 128));
    text.add(" on ");
    const std::string* const route = each->activity_.site;
    text.add(route != nullptr ? Bytes(*route).substr(0, 128) : Bytes("-"));
    text.end_line();
  }
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
