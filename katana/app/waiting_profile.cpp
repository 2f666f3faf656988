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
#include "katana/http/server/wait_samples.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/net/reactor/timeout.hpp"

namespace katana::app {
namespace {

// The time for which the profile waits for the last samples.
constexpr Duration patience = seconds(1);

// One reactor. Its samples are read only when its last walk is over.
struct Sampled {
  std::shared_ptr<server::WaitSamples> samples = std::make_shared<server::WaitSamples>();
  std::shared_ptr<server::WaitWalk> walk = {};  // the last one
  std::uint64_t missed = 0;                     // samples that the reactor was too busy for
};

class Builder {
 public:
  Builder(profile::Profile& profile, std::int64_t period_ns) noexcept
      : profile_(profile), period_ns_(period_ns) {}

  void add(const server::WaitSamples& samples) {
    const auto& nodes = samples.nodes();
    for (const server::WaitSamples::Node& node : nodes) {
      if (node.count == 0) continue;
      profile::Found found;
      found.count = node.count;
      found.ns = node.count * period_ns_;
      if (node.route != nullptr) found.labels.route = *node.route;
      if (!node.awaits.empty()) found.places.push_back(place_of({std::string(node.awaits), "", 0}));
      for (const auto* each = &node;; each = &nodes[each->parent]) {
        found.places.push_back(place_of(
            {server::short_name(each->where.function_name()),
             std::string(server::short_path(each->where.file_name())), each->where.line()}));
        if (each->parent == server::WaitSamples::no_parent) break;
      }
      profile_.found.push_back(std::move(found));
    }
    profile_.lost += samples.lost();
  }

 private:
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

Task<profile::Profile> sample(server::Observability& observability, WaitingProfileOptions options) {
  const auto began = std::chrono::system_clock::now().time_since_epoch();
  const Duration period = seconds(1) / options.hertz;
  std::vector<Sampled> reactors(observability.ask_reactors().size());
  Instant now = net::Reactor::current()->now();
  const Instant first = now;
  const Instant end = first + options.length;
  while (now < end && !(options.is_over_early && options.is_over_early())) {
    const auto statuses = observability.ask_reactors();
    for (std::size_t index = 0; index < std::min(statuses.size(), reactors.size()); ++index) {
      Sampled& each = reactors[index];
      if (each.walk != nullptr && !each.walk->is_over()) {
        ++each.missed;
        continue;
      }
      auto walk = std::make_shared<server::WaitWalk>(each.samples);
      if (statuses[index]->begin(walk)) each.walk = std::move(walk);
    }
    co_await net::sleep_for(std::min(period, end - now));
    now = net::Reactor::current()->now();
  }
  std::vector<std::shared_ptr<server::ReactorWalk>> last;
  for (const Sampled& each : reactors) {
    if (each.walk != nullptr) last.push_back(each.walk);
  }
  (void)co_await net::with_timeout(server::walk_ends(std::move(last)), patience);
  profile::Profile profile;
  profile.kind = profile::Kind::waiting;
  profile.program = std::move(options.program);
  profile.began_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(began).count();
  profile.took_ns = (now - first).ns;
  profile.period_ns = period.ns;
  Builder builder(profile, period.ns);
  for (const Sampled& each : reactors) {
    if (each.walk == nullptr || !each.walk->is_over() || !each.walk->is_listed()) {
      ++profile.threads_left_out;
      continue;
    }
    builder.add(*each.samples);
    profile.lost += each.missed;
  }
  co_return profile;
}

}  // namespace

Task<profile::Profile> profile_waiting(server::Observability& observability,
                                       WaitingProfileOptions options) {
  return sample(observability, std::move(options));
}

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
