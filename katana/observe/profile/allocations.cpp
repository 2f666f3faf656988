#include "katana/observe/profile/allocations.hpp"

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <mutex>
#include <new>
#include <optional>
#include <unordered_map>
#include <utility>

#include "katana/observe/crash/stack.hpp"
#include "katana/observe/profile/collector.hpp"
#include "katana/observe/profile/label.hpp"

namespace katana::profile::allocations {

using detail::watch, detail::watch_allocations, detail::watch_frees, detail::watch_probe;

namespace {

// Counts of watched allocations by a hash of their address: most frees need no lock.
constexpr std::size_t filter_size = 65'536;

struct Session {
  explicit Session(const AllocationOptions& given)
      : options(given), collector(Duration{static_cast<std::int64_t>(given.interval_bytes)}) {}

  struct Watched {
    Collector::Amount* amount;  // of its stack
    Collector::Amount part;     // of it
  };
  const AllocationOptions options;
  Collector collector;
  std::unordered_map<void*, Watched> watched;
  std::uint64_t lost = 0;  // samples
};

constinit std::array<std::atomic<std::uint32_t>, filter_size> filter{};
constinit std::atomic<std::size_t> interval_bytes{1};
constinit std::atomic<std::uint32_t> number{0};  // of the present profile
std::mutex mutex;                                // of the session
std::optional<Session> session;

// The part of a thread. A thread that takes its first sample has no number.
struct Thread {
  std::int64_t bytes_left = 0;  // until its next sample
  std::uint64_t random = 0;     // 0: not begun
  std::uint32_t number = 0;     // of the profile that bytes_left is of
  bool is_inside = false;       // of a hook, which must not enter another
  bool was_probed = false;
};
constinit thread_local Thread here{};

class Inside {
 public:
  Inside() noexcept { here.is_inside = true; }
  ~Inside() { here.is_inside = false; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
};

std::size_t place_of(const void* memory) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  return (address * 0x9e3779b97f4a7c15u) >> 48;
}
static_assert(filter_size == std::size_t{1} << 16);

// Bytes until the next sample: exponentially distributed, so that no pattern of allocations is
// missed.
std::int64_t draw(std::size_t mean) noexcept {
  if (here.random == 0) here.random = reinterpret_cast<std::uintptr_t>(&here) | 1;
  here.random ^= here.random << 13;
  here.random ^= here.random >> 7;
  here.random ^= here.random << 17;
  const double share = static_cast<double>((here.random >> 11) + 1) * 0x1p-53;  // (0, 1]
  return static_cast<std::int64_t>(-std::log(share) * static_cast<double>(mean)) + 1;
}

// The allocations that a sampled one of this size stands for.
Collector::Amount amount_of(std::size_t bytes, std::size_t mean) noexcept {
  const double size = static_cast<double>(bytes);
  const double chance = 1 - std::exp(-size / static_cast<double>(mean));
  const double count = chance > 0 ? 1 / chance : 1;
  return {.count = std::llround(count), .ns = std::llround(count * size)};
}

// Leaves out the frames of the hooks.
void begin_at(crash::Stack& stack, const void* caller) noexcept {
  const auto begin = stack.addresses.begin();
  const auto end = begin + static_cast<std::ptrdiff_t>(stack.count);
  // The stack has the last byte of each call instruction.
  const auto found = std::find(begin, end, reinterpret_cast<std::uintptr_t>(caller) - 1);
  if (found == end) return;
  std::copy(found, end, begin);
  stack.count = static_cast<std::size_t>(end - found);
}

[[gnu::noinline]] void take_sample(void* memory, std::size_t bytes, const void* caller) noexcept {
  Sample sample;
  crash::capture_calls(sample.stack);
  begin_at(sample.stack, caller);
  label(sample);
  const std::lock_guard lock(mutex);
  if (!session) return;
  try {
    const auto part = amount_of(bytes, session->options.interval_bytes);
    const bool is_watched = session->options.kind == Kind::growth;
    if (is_watched && session->watched.size() >= watched_max) {
      ++session->lost;
      return;
    }
    Collector::Amount* const amount = session->collector.add(::gettid(), sample, part);
    if (amount == nullptr || !is_watched) return;
    session->watched.insert_or_assign(memory, Session::Watched{amount, part});
    filter[place_of(memory)].fetch_add(1, std::memory_order_relaxed);
  } catch (const std::bad_alloc&) {
    ++session->lost;
  }
}

}  // namespace

void detail::on_allocation(void* memory, std::size_t bytes, const void* caller) noexcept {
  here.was_probed = true;
  if (here.is_inside || (watch.load(std::memory_order_relaxed) & watch_allocations) == 0) return;
  const std::uint32_t present = number.load(std::memory_order_relaxed);
  if (here.number != present) {
    here.number = present;
    here.bytes_left = draw(interval_bytes.load(std::memory_order_relaxed));
  }
  here.bytes_left -= static_cast<std::int64_t>(bytes);
  if (here.bytes_left > 0) [[likely]]
    return;
  here.bytes_left = draw(interval_bytes.load(std::memory_order_relaxed));
  const Inside inside;
  take_sample(memory, bytes, caller);
}

void detail::on_free(void* memory) noexcept {
  if (here.is_inside || filter[place_of(memory)].load(std::memory_order_relaxed) == 0) [[likely]]
    return;
  const Inside inside;
  const std::lock_guard lock(mutex);
  if (!session) return;
  const auto found = session->watched.find(memory);
  if (found == session->watched.end()) return;
  const Session::Watched& watched = found->second;
  watched.amount->count -= watched.part.count;
  watched.amount->ns -= watched.part.ns;
  session->watched.erase(found);
  filter[place_of(memory)].fetch_sub(1, std::memory_order_relaxed);
}

// Calls the operator as any code does. A call by name is not removed by the compiler.
bool are_hooked() noexcept {
  here.was_probed = false;
  watch.fetch_or(watch_probe);
  void* const memory = ::operator new(1, std::nothrow);
  ::operator delete(memory);
  watch.fetch_and(~watch_probe);
  return here.was_probed;
}

Result<void> begin(const AllocationOptions& options) {
  crash::prepare_unwinder();
  const Inside inside;
  const std::lock_guard lock(mutex);
  if (session) return fail(Code::already_exists, "profile: another one is being made");
  session.emplace(options);
  interval_bytes.store(options.interval_bytes, std::memory_order_relaxed);
  number.fetch_add(1, std::memory_order_relaxed);
  watch.fetch_or(options.kind == Kind::growth ? watch_allocations | watch_frees
                                              : watch_allocations);
  return {};
}

Profile end() {
  watch.store(0);
  const Inside inside;
  const std::lock_guard lock(mutex);
  if (!session) return {};
  Profile profile = session->collector.profile(session->options.kind, session->lost);
  for (const auto& [memory, watched] : session->watched) {
    filter[place_of(memory)].store(0, std::memory_order_relaxed);
  }
  session.reset();
  return profile;
}

}  // namespace katana::profile::allocations

// SPDX-License-Identifier: Apache-2.0
