// What does a cache hit cost, beside a map with a lock? How frequent are hits, beside LRU and
// TinyLFU, on synthetic traces?
#include <algorithm>
#include <array>
#include <barrier>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <list>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "katana/base/values/random.hpp"
#include "katana/net/reactor/clock_fixture_test.hpp"
#include "katana/stores/cache/cache.hpp"
#include "lab/micro/micro.hpp"

namespace bench {

using namespace katana;
using micro::Sample;

thread_local std::uint64_t heap_calls = 0;

// 200 bytes, with what its text has beside it.
struct Record {
  std::int64_t id = 0;
  std::int64_t balance = 0;
  std::array<std::int64_t, 19> columns = {};
  std::string name;
};
std::size_t katana_heap_bytes(const Record& record) { return cache::heap_bytes(record.name); }
static_assert(sizeof(Record) == 200);

Record record_of(std::int64_t id) {
  Record record;
  record.id = id;
  record.balance = id * 3;
  record.name = "ada lovelace";
  return record;
}

// The usual rival: as many shards, each a map behind a lock; with a time, as a cache has.
class LockedMap {
 public:
  using Pointer = std::shared_ptr<const Record>;

  void put(std::int64_t key, Pointer value, Instant until) {
    Shard& shard = shard_of(key);
    const std::scoped_lock lock(shard.mutex);
    shard.map[key] = {std::move(value), until};
  }
  Pointer get(std::int64_t key, Instant now) {
    Shard& shard = shard_of(key);
    const std::scoped_lock lock(shard.mutex);
    const auto found = shard.map.find(key);
    if (found == shard.map.end() || now >= found->second.until) return nullptr;
    return found->second.value;
  }

 private:
  struct Entry {
    Pointer value;
    Instant until;
  };
  struct alignas(64) Shard {
    std::mutex mutex;
    std::unordered_map<std::int64_t, Entry> map;
  };
  // Multiplied: std::hash of a number is the number.
  Shard& shard_of(std::int64_t key) {
    return shards_[static_cast<std::uint64_t>(key) * 0x9e37'79b9'7f4a'7c15 >> 59];
  }
  std::array<Shard, 32> shards_;
};

using Records = cache::Cache<std::int64_t, Record>;

constexpr std::size_t keys = 10'000;
constexpr Instant first{seconds(5).ns};

std::vector<std::int64_t> order(std::uint64_t seed) {
  Random random(seed);
  std::vector<std::int64_t> order(1 << 16);
  for (std::int64_t& key : order) key = static_cast<std::int64_t>(random.below(keys));
  return order;
}

struct Stores {
  Stores() {
    for (std::size_t key = 0; key < keys; ++key) {
      const auto id = static_cast<std::int64_t>(key);
      records.put(id, record_of(id));
      map.put(id, std::make_shared<const Record>(record_of(id)), never);
    }
    micro::expect(records.statistics().entries == keys, "all records are kept");
  }
  net::Clock clock;  // the time of who has a reactor
  Records records = *Records::make({.name = "records", .ttl = seconds(24 * 3600)});
  LockedMap map;
};

template <class Get>
Sample time_hits(std::uint64_t operations, const std::vector<std::int64_t>& asked, Get&& get) {
  std::int64_t sum = 0;
  const std::uint64_t heap_before = heap_calls;
  const Sample sample = micro::time_operations(operations, [&] {
    for (std::uint64_t count = 0; count < operations; ++count) {
      sum += get(asked[count & (asked.size() - 1)]);
    }
  });
  micro::expect(sum > 0 || operations < 10, "records were found");
  micro::expect(heap_calls == heap_before, "no call of the heap");
  micro::use(sum);
  return sample;
}

Task<std::int64_t> ask(const Records& records, const std::vector<std::int64_t>& asked,
                       std::uint64_t operations) {
  auto load = [](std::int64_t id) -> Task<Record> { co_return record_of(id); };
  std::int64_t sum = 0;
  for (std::uint64_t count = 0; count < operations; ++count) {
    const auto found = co_await records.get_or_load(asked[count & (asked.size() - 1)], load);
    sum += (*found)->balance;
  }
  co_return sum;
}

void ask_hits(micro::Suite& suite, Stores& stores) {
  const std::string question = "a hit, 200 octets";
  if (!suite.wants(question)) return;
  const auto asked = order(1);
  const std::uint64_t operations = suite.operations(4'000'000);
  const auto* answers = suite.ask(
      {question, "ns"}, {{"katana, get()",
                          [&] {
                            return time_hits(operations, asked, [&](std::int64_t key) {
                              return stores.records.get(key)->balance;
                            });
                          }},
                         {"katana, get_or_load()",
                          [&] {
                            std::int64_t sum = 0;
                            const Sample sample = micro::time_operations(operations, [&] {
                              Task<std::int64_t> task = ask(stores.records, asked, operations);
                              micro::expect(task.start(), "everything was there");
                              sum = task.result();
                            });
                            micro::use(sum);
                            return sample;
                          }},
                         {"unordered_map, mutex", [&] {
                            return time_hits(operations, asked, [&](std::int64_t key) {
                              return stores.map.get(key, stores.clock.now())->balance;
                            });
                          }}});
  suite.target(question + ": at most 60 ns", answers, "katana, get()", 60, micro::at_most);
}

// Both threads at once; operations per second of processor time of one of them.
template <class Get>
Sample rate_of_two(std::uint64_t operations, Get&& get) {
  std::array<double, 2> ns{};
  std::barrier begin(2);
  std::array<std::thread, 2> threads;
  for (std::size_t each = 0; each < threads.size(); ++each) {
    threads[each] = std::thread([&, each] {
      const net::Clock clock;
      const auto asked = order(each + 5);
      std::int64_t sum = 0;
      begin.arrive_and_wait();
      const Sample sample = micro::time_operations(operations, [&] {
        for (std::uint64_t count = 0; count < operations; ++count) {
          sum += get(asked[count & (asked.size() - 1)], clock);
        }
      });
      micro::use(sum);
      ns[each] = sample.value;
    });
  }
  for (std::thread& thread : threads) thread.join();
  return {2e9 / (ns[0] + ns[1])};
}

void ask_two_threads(micro::Suite& suite, Stores& stores) {
  const std::string question = "hits of two threads";
  if (!suite.wants(question)) return;
  const std::uint64_t operations = suite.operations(2'000'000);
  const auto* answers =
      suite.ask({question, "1/s", "higher"},
                {{"katana",
                  [&] {
                    return rate_of_two(operations, [&](std::int64_t key, const net::Clock&) {
                      return stores.records.get(key)->balance;
                    });
                  }},
                 {"unordered_map, mutex", [&] {
                    return rate_of_two(operations, [&](std::int64_t key, const net::Clock& clock) {
                      return stores.map.get(key, clock.now())->balance;
                    });
                  }}});
  suite.target(question + ": at least 1.0 x the map", answers, "katana", "unordered_map, mutex",
               1.0, micro::at_least);
}

void ask_puts(micro::Suite& suite) {
  const std::string question = "a put into a full cache";
  if (!suite.wants(question)) return;
  const auto small = *Records::make({.name = "small", .bytes_max = std::size_t{4} << 20});
  const std::uint64_t operations = suite.operations(500'000);
  std::int64_t key = 0;
  suite.ask({question, "ns"}, {{"katana", [&] {
                                  return micro::time_operations(operations, [&] {
                                    for (std::uint64_t count = 0; count < operations; ++count) {
                                      ++key;
                                      small.put(key, record_of(key));
                                    }
                                  });
                                }}});
  micro::expect(small.statistics().bytes <= small.options().bytes_max, "the bound is one");
}

// ---- how often there is a hit ----

using Trace = std::vector<std::int64_t>;

// Ranks by a power law; whose key a rank is changes with `shift`.
class Zipf {
 public:
  Zipf(std::size_t count, double exponent) : sums_(count) {
    double sum = 0;
    for (std::size_t rank = 0; rank < count; ++rank) {
      sum += 1 / std::pow(static_cast<double>(rank + 1), exponent);
      sums_[rank] = sum;
    }
  }
  std::int64_t next(Random& random) const {
    const double at = static_cast<double>(random.next() >> 11) * 0x1p-53 * sums_.back();
    return std::lower_bound(sums_.begin(), sums_.end(), at) - sums_.begin();
  }

 private:
  std::vector<double> sums_;
};

constexpr std::size_t trace_keys = 100'000;

Trace zipf(std::size_t length, double exponent) {
  const Zipf ranks(trace_keys, exponent);
  Random random(1);
  Trace trace(length);
  for (std::int64_t& key : trace) key = ranks.next(random);
  return trace;
}
// A tenth of the requests passes through ever new keys, in runs of a thousand.
Trace zipf_and_scans(std::size_t length) {
  Trace trace = zipf(length, 0.9);
  std::int64_t scanned = 1'000'000'000;
  for (std::size_t at = 0; at + 1000 < length; at += 10'000) {
    for (std::size_t count = 0; count < 1000; ++count) trace[at + count] = ++scanned;
  }
  return trace;
}
// Every other request is for a key that is used once.
Trace half_once(std::size_t length) {
  Trace trace = zipf(length, 0.9);
  for (std::size_t at = 0; at < length; at += 2) {
    trace[at] = static_cast<std::int64_t>(1'000'000'000 + at);
  }
  return trace;
}
// In a ring that is a fifth larger than the cache.
Trace ring(std::size_t length, std::size_t size) {
  Trace trace(length);
  for (std::size_t at = 0; at < length; ++at) trace[at] = static_cast<std::int64_t>(at % size);
  return trace;
}
// The popular keys change each twentieth of the time.
Trace moving(std::size_t length) {
  Trace trace = zipf(length, 1.0);
  for (std::size_t at = 0; at < length; ++at) {
    trace[at] += static_cast<std::int64_t>(at / (length / 20) * 5'000);
  }
  return trace;
}

class Lru {
 public:
  explicit Lru(std::size_t capacity) : capacity_(capacity) {}
  bool ask(std::int64_t key) {
    const auto found = places_.find(key);
    if (found != places_.end()) {
      order_.splice(order_.begin(), order_, found->second);
      return true;
    }
    order_.push_front(key);
    places_[key] = order_.begin();
    if (places_.size() > capacity_) {
      places_.erase(order_.back());
      order_.pop_back();
    }
    return false;
  }

 private:
  const std::size_t capacity_;
  std::list<std::int64_t> order_;
  std::unordered_map<std::int64_t, std::list<std::int64_t>::iterator> places_;
};

// W-TinyLFU (Einziger, Friedman, Manes 2017): a window of a hundredth and two segments for the
// rest. A sketch of four rows says which of two keys is asked for more often.
class TinyLfu {
 public:
  explicit TinyLfu(std::size_t capacity)
      : window_max_(std::max<std::size_t>(1, capacity / 100)),
        main_max_(capacity - window_max_),
        protected_max_(main_max_ / 5 * 4),
        sketch_(std::bit_ceil(capacity) * 4),
        sample_max_(capacity * 10) {}

  bool ask(std::int64_t key) {
    count(key);
    const auto found = places_.find(key);
    if (found != places_.end()) {
      use(found->second);
      return true;
    }
    window_.push_front(key);
    places_[key] = {window, window_.begin()};
    if (window_.size() > window_max_) admit();
    return false;
  }

 private:
  enum Segment : std::uint8_t { window, probation, guarded };
  struct Place {
    Segment segment;
    std::list<std::int64_t>::iterator at;
  };

  void use(Place& place) {
    std::list<std::int64_t>& from = list_of(place.segment);
    if (place.segment != probation) {
      from.splice(from.begin(), from, place.at);
      return;
    }
    guarded_.splice(guarded_.begin(), from, place.at);
    place.segment = guarded;
    if (guarded_.size() <= protected_max_) return;
    places_[guarded_.back()].segment = probation;
    probation_.splice(probation_.begin(), guarded_, std::prev(guarded_.end()));
  }
  void admit() {
    const std::int64_t candidate = window_.back();
    if (probation_.size() + guarded_.size() >= main_max_) {
      const std::int64_t victim = probation_.empty() ? guarded_.back() : probation_.back();
      if (frequency(candidate) <= frequency(victim)) {
        places_.erase(candidate);
        window_.pop_back();
        return;
      }
      (probation_.empty() ? guarded_ : probation_).pop_back();
      places_.erase(victim);
    }
    places_[candidate].segment = probation;
    probation_.splice(probation_.begin(), window_, std::prev(window_.end()));
  }
  std::list<std::int64_t>& list_of(Segment segment) {
    return segment == window ? window_ : segment == probation ? probation_ : guarded_;
  }
  std::uint8_t& cell(std::int64_t key, std::uint64_t row) {
    std::uint64_t hash =
        (static_cast<std::uint64_t>(key) + row * 0x1234'5678'9abc'def1) * 0x9e37'79b9'7f4a'7c15;
    hash ^= hash >> 29;
    hash *= 0xbf58'476d'1ce4'e5b9;
    return sketch_[(hash >> 20) & (sketch_.size() - 1)];
  }
  void count(std::int64_t key) {
    for (std::uint64_t row = 0; row < 4; ++row) {
      if (std::uint8_t& counted = cell(key, row); counted < 15) ++counted;
    }
    if (++sampled_ < sample_max_) return;
    sampled_ /= 2;
    for (std::uint8_t& counted : sketch_) counted /= 2;
  }
  unsigned frequency(std::int64_t key) {
    unsigned least = 15;
    for (std::uint64_t row = 0; row < 4; ++row) least = std::min<unsigned>(least, cell(key, row));
    return least;
  }

  const std::size_t window_max_;
  const std::size_t main_max_;
  const std::size_t protected_max_;
  std::vector<std::uint8_t> sketch_;
  const std::size_t sample_max_;
  std::size_t sampled_ = 0;
  std::list<std::int64_t> window_, probation_, guarded_;
  std::unordered_map<std::int64_t, Place> places_;
};

template <class Ask>
Sample hit_percent(const Trace& trace, Ask&& ask) {
  std::uint64_t hits = 0;
  for (const std::int64_t key : trace) hits += ask(key) ? 1 : 0;
  return {100.0 * static_cast<double>(hits) / static_cast<double>(trace.size())};
}

void ask_hit_ratio(micro::Suite& suite, const std::string& name, const Trace& trace,
                   std::size_t capacity) {
  const std::string question = "hit ratio, " + name + ", room for " + std::to_string(capacity);
  if (!suite.wants(question)) return;
  const auto* answers =
      suite.ask({question, "%", "higher"},
                {{"katana",
                  [&] {
                    const auto numbers = *cache::Cache<std::int64_t, std::int64_t>::make(
                        {.name = "numbers", .entries_max = capacity});
                    return hit_percent(trace, [&](std::int64_t key) {
                      if (numbers.get(key, first)) return true;
                      numbers.put(key, key);
                      return false;
                    });
                  }},
                 {"LRU",
                  [&] {
                    Lru lru(capacity);
                    return hit_percent(trace, [&](std::int64_t key) { return lru.ask(key); });
                  }},
                 {"W-TinyLFU",
                  [&] {
                    TinyLfu lfu(capacity);
                    return hit_percent(trace, [&](std::int64_t key) { return lfu.ask(key); });
                  }}},
                1);
  if (name.starts_with("zipf") && !name.ends_with("moves")) {  // LRU has no hit in a ring
    suite.target(question + ": at least that of LRU", answers, "katana", "LRU", 1.0,
                 micro::at_least);
  }
}

void ask_hit_ratios(micro::Suite& suite) {
  if (!suite.wants("hit ratio")) return;
  const std::size_t length = suite.operations(2'000'000);
  for (const std::size_t capacity : {1'000u, 10'000u}) {
    ask_hit_ratio(suite, "zipf 0.7", zipf(length, 0.7), capacity);
    ask_hit_ratio(suite, "zipf 0.9", zipf(length, 0.9), capacity);
    ask_hit_ratio(suite, "zipf 1.1", zipf(length, 1.1), capacity);
    ask_hit_ratio(suite, "zipf 0.9 and scans", zipf_and_scans(length), capacity);
    ask_hit_ratio(suite, "zipf 0.9, half asked once", half_once(length), capacity);
    ask_hit_ratio(suite, "ring of 1.2 times the room", ring(length, capacity + capacity / 5),
                  capacity);
    ask_hit_ratio(suite, "zipf 1.0 that moves", moving(length), capacity);
  }
}

}  // namespace bench

void* operator new(std::size_t bytes) {
  ++bench::heap_calls;
  if (void* const memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

int main(int count, char** arguments) {
  micro::Suite suite("cache", count, arguments);
  {
    bench::Stores stores;
    bench::ask_hits(suite, stores);
    bench::ask_two_threads(suite, stores);
  }
  bench::ask_puts(suite);
  bench::ask_hit_ratios(suite);
  return suite.finish();
}

// SPDX-License-Identifier: Apache-2.0
