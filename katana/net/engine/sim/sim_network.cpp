#include "katana/net/engine/sim/sim_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <utility>

#include "katana/base/system/check.hpp"
#include "katana/base/text/format.hpp"
#include "katana/net/engine/sim/sim_connection.hpp"

namespace katana::engine {
namespace {

// Not zero: an unset Instant then lies in the past.
constexpr Instant start{seconds(1'000).ns};
constexpr std::int64_t wall_clock_start_s = 1'767'225'600;

// No process has so many descriptors.
constexpr int simulated_first = 1 << 30;

// The interval after which a client repeats a handshake without an answer.
constexpr Duration unanswered_retry = seconds(1);

constexpr std::uint64_t fnv_prime = 0x100000001b3;

std::uint64_t mixed(std::uint64_t digest, std::uint64_t value) {
  for (int shift = 0; shift < 64; shift += 8) {
    digest = (digest ^ ((value >> shift) & 0xff)) * fnv_prime;
  }
  return digest;
}

std::int64_t since_start_us(Instant at) { return (at - start).ns / 1'000; }

}  // namespace

SimNetwork::SimNetwork(std::uint64_t seed, const SimFaults& faults, std::size_t trace_lines_max)
    : seed_(seed),
      faults_(faults),
      random_(seed),
      now_(start),
      topology_(*this),
      trace_lines_max_(trace_lines_max) {}

std::int64_t SimNetwork::wall_clock_s() const noexcept {
  return wall_clock_start_s + (now_ - start).ns / 1'000'000'000;
}

std::int64_t SimNetwork::wall_clock_s(SimAddress host) const {
  const Duration skew = topology_.clock_skew(host);
  return wall_clock_start_s + (now_ - start + skew).ns / 1'000'000'000;
}

SimNetwork::EventKey SimNetwork::at(Instant when, Action action) {
  const EventKey key{std::max(when, now_), ++event_number_};
  events_.emplace(key, std::move(action));
  return key;
}

SimNetwork::EventKey SimNetwork::timer(Duration delay, Action action) {
  const EventKey key = after(delay, std::move(action));
  timers_.insert(key);
  return key;
}

bool SimNetwork::run_next(Instant until) {
  if (events_.empty() || events_.begin()->first.at > until) {
    now_ = std::max(now_, until);
    return false;
  }
  auto event = events_.extract(events_.begin());
  timers_.erase(event.key());
  KATANA_CHECK(event.key().at >= now_);
  now_ = event.key().at;
  event.mapped()();
  return true;
}

bool SimNetwork::quiescent() const { return events_.size() == timers_.size() && !has_work(); }

bool SimNetwork::has_work() const {
  return std::ranges::any_of(hosts_, [](const SimHost* host) { return host->has_work(); });
}

bool SimNetwork::listens_on(std::uint16_t port, SimAddress address) const {
  return std::ranges::any_of(hosts_, [port, address](const SimHost* host) {
    return host->address() == address && host->listens_on(port);
  });
}

std::uint16_t SimNetwork::free_port() {
  do {
    last_port_ = last_port_ == UINT16_MAX ? 40'000 : static_cast<std::uint16_t>(last_port_ + 1);
  } while (std::ranges::any_of(
      hosts_, [this](const SimHost* host) { return host->listens_on(last_port_); }));
  return last_port_;
}

SimHost* SimNetwork::host_for(SimConnection& connection, std::uint16_t port) {
  std::vector<SimHost*> listening;
  const SimAddress address = connection.address(SimSide::server);
  std::ranges::copy_if(hosts_, std::back_inserter(listening), [port, address](const SimHost* host) {
    return host->address() == address && host->listens_on(port);
  });
  if (!listening.empty()) return listening[random_.below(listening.size())];
  connection.link_state = SimLink::closed;
  connection.reset(SimSide::server);
  return nullptr;
}

void SimNetwork::handshake(const std::shared_ptr<SimConnection>& connection, std::uint16_t port) {
  if (connection->broken(SimSide::server)) return;  // the client gave up meanwhile
  if (topology_.is_off(connection->address(SimSide::server))) {
    after(unanswered_retry, [this, connection, port] { handshake(connection, port); });
    return;
  }
  if (SimHost* const host = host_for(*connection, port)) host->on_handshake(connection, port);
}

void SimNetwork::hand_over(const std::shared_ptr<SimConnection>& connection, std::uint16_t port) {
  if (SimHost* const host = host_for(*connection, port)) host->take_over(connection, port);
}

int SimNetwork::detach(std::shared_ptr<SimConnection> connection) {
  detached_.emplace(++detached_number_, std::move(connection));
  return detached_number_;
}

std::shared_ptr<SimConnection> SimNetwork::attach(int number) {
  const auto place = detached_.find(number);
  require(place != detached_.end(), "only what detach() gave is adopted or discarded, and once");
  auto connection = std::move(place->second);
  detached_.erase(place);
  return connection;
}

void SimNetwork::make_ready(int fd, Readiness ready) {
  note("make_ready", 0, static_cast<std::uint64_t>(fd));
  Readiness& known = ready_fds_[fd];
  known = {known.read || ready.read, known.write || ready.write};
}

int SimNetwork::add_descriptor(std::function<Readiness(int fd)> ask) {
  const int fd = simulated_first + ++simulated_number_;
  simulated_.emplace(fd, std::move(ask));
  return fd;
}

Readiness SimNetwork::ready_for(int fd, Readiness wanted) const {
  if (fd >= simulated_first) {
    const auto place = simulated_.find(fd);
    const Readiness ready = place == simulated_.end() ? Readiness{} : place->second(fd);
    return {ready.read && wanted.read, ready.write && wanted.write};
  }
  const auto told = ready_fds_.find(fd);
  Readiness ready = told == ready_fds_.end() ? Readiness{} : told->second;
  if (ask_ready_) {
    const Readiness asked = ask_ready_(fd, wanted);
    ready = {ready.read || asked.read, ready.write || asked.write};
  }
  return {ready.read && wanted.read, ready.write && wanted.write};
}

void SimNetwork::clear_ready(int fd, Readiness told) {
  const auto known = ready_fds_.find(fd);
  if (known == ready_fds_.end()) return;
  known->second = {known->second.read && !told.read, known->second.write && !told.write};
  if (known->second == Readiness{}) ready_fds_.erase(known);
}

void SimNetwork::note(const char* what, std::uint64_t subject, std::uint64_t value) {
  for (const char* each = what; *each != '\0'; ++each) {
    trace_digest_ = (trace_digest_ ^ static_cast<unsigned char>(*each)) * fnv_prime;
  }
  trace_digest_ = mixed(trace_digest_, static_cast<std::uint64_t>(now_.ns));
  trace_digest_ = mixed(mixed(trace_digest_, subject), value);

  if (trace_lines_max_ == 0) return;
  if (notes_.size() < trace_lines_max_) {
    notes_.push_back({now_, what, subject, value});
    return;
  }
  notes_[note_next_] = {now_, what, subject, value};
  note_next_ = (note_next_ + 1) % trace_lines_max_;
}

std::string SimNetwork::trace() const {
  std::string text;
  for (std::size_t index = 0; index < notes_.size(); ++index) {
    const Note& each = notes_[(note_next_ + index) % notes_.size()];
    fmt::format_to(std::back_inserter(text), "{:>10} us  connection {:<4} {:<20} {}\n",
                   since_start_us(each.at), each.subject, each.what, each.value);
  }
  return text;
}

std::string SimNetwork::explain() const {
  return fmt::format("seed {} at {} us\n\nfaults\n{}\ntrace, oldest first\n{}", seed_,
                     since_start_us(now_), faults_.describe(), trace());
}

void SimNetwork::require(bool holds, const char* obligation) const {
  if (holds) return;
  fmt::print(stderr, "katana: simulation: the core must keep: {}\n{}\n", obligation, explain());
  KATANA_REQUIRE(holds);
}

}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
