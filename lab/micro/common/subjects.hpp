// Subjects: the calls and the services of both micro_common and e2e_benchmarks.
//
// Owns       nothing; numbered_services() returns its services.
// Thread     any, but for evict_caches(): one.
// Allocates  when services are made, and 32 MiB for evict_caches().
// Fails      as micro::expect does.
// Invariant  a call adds to a member, so that its work can be checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "katana/base/registry/registry.hpp"
#include "lab/micro/micro.hpp"

namespace common_bench {

// ---- calls ----

struct Counter {
  virtual std::uint64_t add(std::uint64_t amount) = 0;

 protected:
  ~Counter() = default;
};
// Knows no interface.
struct PlainCounter {
  std::uint64_t sum = 0;
  [[gnu::noinline]] std::uint64_t add(std::uint64_t amount) { return sum += amount; }
  std::uint64_t add_inlined(std::uint64_t amount) { return sum += amount; }
};
struct VirtualCounter final : Counter {
  std::uint64_t sum = 0;
  std::uint64_t add(std::uint64_t amount) override { return sum += amount; }
};
struct AdaptedCounter final : Counter {
  explicit AdaptedCounter(PlainCounter& of) : counter(of) {}
  std::uint64_t add(std::uint64_t amount) override { return counter.add_inlined(amount); }
  PlainCounter& counter;
};

// The compiler must not know the target of the pointer, or it would call directly.
template <class T>
T* hidden(T* pointer) noexcept {
  asm volatile("" : "+r"(pointer));
  return pointer;
}

// ---- lookups ----

inline constexpr std::size_t service_count = 100;
template <std::size_t number>
struct Service {
  std::uint64_t value = number;
};
using Wanted = Service<42>;

template <class Use>
void for_each_service(Use use) {
  [&use]<std::size_t... number>(std::index_sequence<number...>) {
    (use.template operator()<Service<number>>(), ...);
  }(std::make_index_sequence<service_count>());
}

inline std::unique_ptr<katana::registry::Services> numbered_services() {
  katana::registry::Registry registry;
  for_each_service([&]<class T>() { registry.singleton<T>([] { return std::make_unique<T>(); }); });
  auto sealed = std::move(registry).seal();
  micro::expect(sealed.has_value(), "seal");
  return std::move(*sealed);
}

// The caches hold something else then.
inline void evict_caches() {
  static std::vector<std::uint64_t> other(4 << 20);
  for (std::size_t at = 0; at < other.size(); at += 8) ++other[at];
  micro::use(other);
}

}  // namespace common_bench

// SPDX-License-Identifier: Apache-2.0
