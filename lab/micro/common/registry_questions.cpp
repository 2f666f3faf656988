// A lookup in a registry of 100 services, and a call of the result.
#include <array>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <typeindex>
#include <unordered_map>
#include <utility>

#include "katana/base/registry/registry.hpp"
#include "questions.hpp"
#include "subjects.hpp"

namespace common_bench {
namespace {

using katana::registry::Registry;
using katana::registry::Services;
using katana::registry::Slot;

constexpr std::uint64_t lookups = 4'000'000;

// The usual alternative: a map by type, its values as they are.
struct TypeMap {
  std::unordered_map<std::type_index, void*> services;
  mutable std::shared_mutex mutex;

  template <class T>
  T& get() const {
    return *static_cast<T*>(services.find(typeid(T))->second);
  }
  template <class T>
  T& get_locked() const {
    const std::shared_lock lock(mutex);
    return get<T>();
  }
};

struct Fixture {
  Fixture() : services(numbered_services()) {
    for_each_service([&]<class T>() { map.services[typeid(T)] = &services->get<T>(); });
  }
  std::unique_ptr<Services> services;
  TypeMap map;
};

// The compiler must not keep the result of the lookup: memory could have changed.
template <class Look>
micro::Sample look_up(micro::Suite& suite, Look look) {
  return timed(suite, lookups, [&look] {
    const Wanted& found = look();
    micro::use(found);
  });
}

void ask_warm(micro::Suite& suite, Fixture& fixture) {
  const Services& services = *fixture.services;
  const Slot<Wanted> slot = *services.slot<Wanted>();
  Wanted* pointer = &services.get<Wanted>();
  micro::expect(&services.get(slot) == pointer && &fixture.map.get<Wanted>() == pointer, "lookup");
  const auto* const warm = suite.ask(
      {"lookup, warm: ns", "ns"},
      {{"katana, by type",
        [&] { return look_up(suite, [&]() -> Wanted& { return services.get<Wanted>(); }); }},
       {"katana, by slot",
        [&] { return look_up(suite, [&]() -> Wanted& { return services.get(slot); }); }},
       {"unordered_map<type_index>",
        [&] { return look_up(suite, [&]() -> Wanted& { return fixture.map.get<Wanted>(); }); }},
       {"a pointer", [&] { return look_up(suite, [&]() -> Wanted& { return *pointer; }); }}});
  suite.target("warm lookup by type <= 2 ns", warm, "katana, by type", 2.0, micro::at_most);
  suite.target("warm lookup by slot <= 2 ns", warm, "katana, by slot", 2.0, micro::at_most);
}

// Two threads look up at once; each one's processor time counts.
template <class Look>
micro::Sample look_up_on_two(micro::Suite& suite, Look look) {
  std::array<micro::Sample, 2> samples;
  {
    std::jthread other([&] { samples[1] = look_up(suite, look); });
    samples[0] = look_up(suite, look);
  }
  return {(samples[0].value + samples[1].value) / 2, samples[0].instructions};
}

void ask_concurrent(micro::Suite& suite, Fixture& fixture) {
  const Services& services = *fixture.services;
  const Slot<Wanted> slot = *services.slot<Wanted>();
  const auto* const both = suite.ask(
      {"lookup, two threads at once: ns", "ns"},
      {{"katana, by type",
        [&] { return look_up_on_two(suite, [&]() -> Wanted& { return services.get<Wanted>(); }); }},
       {"katana, by slot",
        [&] { return look_up_on_two(suite, [&]() -> Wanted& { return services.get(slot); }); }},
       {"unordered_map, shared_mutex", [&] {
          return look_up_on_two(suite,
                                [&]() -> Wanted& { return fixture.map.get_locked<Wanted>(); });
        }}});
  suite.target("concurrent lookup by type <= 3 ns", both, "katana, by type", 3.0, micro::at_most);
  suite.target("concurrent lookup by slot <= 3 ns", both, "katana, by slot", 3.0, micro::at_most);
}

// Every service once, after the caches were filled with something else.
template <class LookAll>
micro::Sample look_up_cold(micro::Suite& suite, LookAll look_all) {
  const std::uint64_t rounds = suite.operations(12);
  std::int64_t ticks = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    evict_caches();
    const std::uint64_t begin = micro::ticks();
    look_all();
    ticks += static_cast<std::int64_t>(micro::ticks() - begin);
  }
  return {static_cast<double>(ticks) * micro::ns_per_tick() /
          static_cast<double>(rounds * service_count)};
}

void ask_cold(micro::Suite& suite, Fixture& fixture) {
  const Services& services = *fixture.services;
  suite.ask({"lookup of 100 services, caches cold: ns each", "ns"},
            {{"katana, by type",
              [&] {
                return look_up_cold(suite, [&] {
                  for_each_service([&]<class T>() { micro::use(services.get<T>()); });
                });
              }},
             {"unordered_map<type_index>", [&] {
                return look_up_cold(suite, [&] {
                  for_each_service([&]<class T>() { micro::use(fixture.map.get<T>()); });
                });
              }}});
}

}  // namespace

void ask_registry(micro::Suite& suite) {
  Fixture fixture;
  ask_warm(suite, fixture);
  ask_concurrent(suite, fixture);
  ask_cold(suite, fixture);
}

void ask_calls(micro::Suite& suite) {
  Registry registry;
  registry.singleton<PlainCounter>([] { return std::make_unique<PlainCounter>(); });
  registry.singleton<Counter>(
      [](PlainCounter& of) { return std::make_unique<AdaptedCounter>(of); });
  registry.singleton<VirtualCounter>([] { return std::make_unique<VirtualCounter>(); });
  const auto sealed = std::move(registry).seal();
  micro::expect(sealed.has_value(), "seal");
  PlainCounter& plain = (*sealed)->get<PlainCounter>();
  Counter* const of_virtual = hidden(static_cast<Counter*>(&(*sealed)->get<VirtualCounter>()));
  Counter* const of_adapter = hidden(&(*sealed)->get<Counter>());
  const auto count = [&suite](auto add) {
    const std::uint64_t before = add(0);
    const micro::Sample sample = timed(suite, lookups, [&add] { micro::use(add(1)); });
    micro::expect(add(0) - before == suite.operations(lookups), "calls");
    return sample;
  };
  const auto* const calls = suite.ask(
      {"a call that adds to a member: ns", "ns"},
      {{"direct", [&] { return count([&](std::uint64_t n) { return plain.add(n); }); }},
       {"virtual", [&] { return count([&](std::uint64_t n) { return of_virtual->add(n); }); }},
       {"adapter", [&] { return count([&](std::uint64_t n) { return of_adapter->add(n); }); }},
       {"direct and virtual", [&] {
          return count([&](std::uint64_t n) { return of_virtual->add(plain.add(n) * 0 + n); });
        }}});
  suite.target("an adapter <= the call itself and one virtual call", calls, "adapter",
               "direct and virtual", 1.0, micro::at_most);
}

}  // namespace common_bench

// SPDX-License-Identifier: Apache-2.0
