#include "katana/app/waiting_profile.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "katana/http/server/live_coroutines.hpp"
#include "katana/http/server/reactor_probe.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/net/reactor/timeout.hpp"

namespace katana::app {
namespace {

// The time for which the profile waits for the last samples.
constexpr Duration patience = seconds(1);
// A profile that is to end early ends within this time.
constexpr Duration pause_max = milliseconds(20);

// One reactor. Its samples are read only when its last walk is over.
struct Sampled {
  ReactorWaiting found = {};
  std::shared_ptr<server::WaitWalk> walk = {};  // the last one
};

class Builder {
 public:
  Builder(profile::Profile& profile, std::int64_t period_ns) noexcept
      : profile_(profile), period_ns_(period_ns) {}

  void add(const ReactorWaiting& reactor) {
    const auto& nodes = reactor.samples->nodes();
    std::vector<std::size_t> places;  // of the nodes
    places.reserve(nodes.size());
    for (const server::WaitSamples::Node& node : nodes) {
      places.push_back(
          place_of({server::short_name(node.where.function_name()),
                    std::string(server::short_path(node.where.file_name())), node.where.line()}));
    }
    std::int64_t count = 0;
    for (std::size_t index = 0; index < nodes.size(); ++index) {
      if (nodes[index].count == 0) continue;
      count += nodes[index].count;
      add_stack(nodes, places, index);
    }
    profile_.lost += reactor.samples->lost();
    // A missed sample would have had as many stacks as the others.
    if (reactor.taken > 0) {
      profile_.lost += reactor.missed * static_cast<std::uint64_t>(count) / reactor.taken;
    }
  }

 private:
  void add_stack(const std::vector<server::WaitSamples::Node>& nodes,
                 const std::vector<std::size_t>& places, std::size_t index) {
    const server::WaitSamples::Node& node = nodes[index];
    profile::Found found;
    found.count = node.count;
    found.ns = node.count * period_ns_;
    if (node.route != nullptr) found.labels.route = *node.route;
    if (!node.awaits.empty()) found.places.push_back(place_of({std::string(node.awaits), "", 0}));
    for (; index != server::WaitSamples::no_parent; index = nodes[index].parent) {
      found.places.push_back(places[index]);
    }
    profile_.found.push_back(std::move(found));
  }
  // A place has the function as its symbol, and a number instead of an address.
  std::size_t place_of(profile::Line line) {
    const auto [place, is_new] = places_.try_emplace(
        std::tuple(line.function, line.file, line.line), profile_.places.size());
    if (is_new) {
      profile::Place& made = profile_.places.emplace_back();
      made.address = profile_.places.size();
      made.lines.push_back(std::move(line));
    }
    return place->second;
  }

  profile::Profile& profile_;
  const std::int64_t period_ns_;
  std::map<std::tuple<std::string, std::string, std::uint32_t>, std::size_t> places_;
};

// Begins a sample of each reactor. One that has not ended its last one misses this.
void begin_walks(server::Observability& observability, std::vector<Sampled>& reactors) {
  const auto statuses = observability.ask_reactors();
  for (std::size_t index = 0; index < std::min(statuses.size(), reactors.size()); ++index) {
    Sampled& each = reactors[index];
    if (each.walk != nullptr && !each.walk->is_over()) {
      ++each.found.missed;
      continue;
    }
    auto walk = std::make_shared<server::WaitWalk>(each.found.samples);
    if (!statuses[index]->begin(walk)) continue;
    each.walk = std::move(walk);
    ++each.found.taken;
  }
}

Task<WaitingSamples> sample(server::Observability& observability, WaitingOptions options) {
  const auto began = std::chrono::system_clock::now().time_since_epoch();
  const Duration period = seconds(1) / options.hertz;
  std::vector<Sampled> reactors(observability.ask_reactors().size());
  const auto now = [] { return net::Reactor::current()->now(); };
  const Instant first = now();
  const Instant end = first + options.length;
  bool is_over_early = false;
  for (Instant due = first; due < end && !is_over_early;) {
    begin_walks(observability, reactors);
    for (due = due + period; now() < std::min(due, end) && !is_over_early;) {
      co_await net::sleep_for(std::min(pause_max, std::min(due, end) - now()));
      is_over_early = options.is_over_early && options.is_over_early();
    }
    // This reactor was too busy to begin samples of any.
    for (; due < end && now() >= due + period; due = due + period) {
      for (Sampled& each : reactors) ++each.found.missed;
    }
  }
  WaitingSamples samples;
  samples.began_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(began).count();
  samples.took_ns = (now() - first).ns;
  samples.period_ns = period.ns;
  std::vector<std::shared_ptr<server::ReactorWalk>> last;
  for (const Sampled& each : reactors) {
    if (each.walk != nullptr) last.push_back(each.walk);
  }
  (void)co_await net::with_timeout(server::walk_ends(std::move(last)), patience);
  for (Sampled& each : reactors) {
    if (each.walk == nullptr || !each.walk->is_over() || !each.walk->is_listed()) {
      ++samples.silent;
    } else {
      samples.reactors.push_back(std::move(each.found));
    }
  }
  co_return samples;
}

}  // namespace

Task<WaitingSamples> sample_waiting(server::Observability& observability, WaitingOptions options) {
  return sample(observability, std::move(options));
}

profile::Profile profile_of(const WaitingSamples& samples, const std::string& program) {
  profile::Profile profile;
  profile.kind = profile::Kind::waiting;
  profile.program = program;
  profile.began_ns = samples.began_ns;
  profile.took_ns = samples.took_ns;
  profile.period_ns = samples.period_ns;
  profile.threads_left_out = samples.silent;
  Builder builder(profile, samples.period_ns);
  for (const ReactorWaiting& each : samples.reactors) builder.add(each);
  return profile;
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
