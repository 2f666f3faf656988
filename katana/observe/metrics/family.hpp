// Family: the series of one name, their common data, and the text in front of their values.
//
// Owns       its series: cells or a value each, and their pre-rendered text. Series are never
//            removed: a handle stays valid as long as the Registry.
// Thread     any; its own mutex. Handles do not take it.
// Allocates  when a series is resolved for the first time.
// Fails      resolve() returns an Error that names the family. It fails for a wrong number of
//            values, a value longer than label_bytes_max, and too many series. with() returns the
//            overflow series instead.
// Invariant  the text of series `n`, line `l` never changes once it exists.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/observe/metrics/buckets.hpp"
#include "katana/observe/metrics/instruments.hpp"

namespace katana::metrics {

// Kinds of instruments. observed_counter: its value is read at each scrape.
enum class Kind : std::uint8_t { counter, gauge, observed_counter, histogram, log_histogram };
// "counter", "gauge", "histogram": the kind for a scraper.
std::string_view kind_name(Kind kind) noexcept;

inline constexpr std::size_t name_bytes_max = 200;       // of a metric
inline constexpr std::size_t help_bytes_max = 1000;      // of Description::help
inline constexpr std::size_t labels_max = 16;            // of one metric
inline constexpr std::size_t label_name_bytes_max = 64;  // of one label
inline constexpr std::size_t label_bytes_max = 256;      // of a label's value
// The label value of the series for all others that had no room: `{method="_overflow"}`.
inline constexpr std::string_view overflow_value = "_overflow";

// The description of a family. The same description again gives the same family.
struct Description {
  std::string name = {};  // [a-zA-Z_:][a-zA-Z0-9_:]*; of a counter with or without "_total"
  std::string help = {};  // one sentence; required
  std::vector<std::string> labels = {};  // names: [a-zA-Z_][a-zA-Z0-9_]*, not "le", not "__…"
  std::string unit = {};                 // a base unit that the name ends with: "seconds", "bytes"
  std::size_t series_max = 0;            // 0: the registry's
  // A log histogram keeps a trace for each exposed bucket of a series, in 48 bytes.
  bool exemplars = false;
  // False: exporters alone have the family, and /metrics has not.
  bool is_exposed = true;

  // Whether both give the same family: the last two are as the first that asked wanted.
  bool operator==(const Description& other) const {
    return name == other.name && help == other.help && labels == other.labels &&
           unit == other.unit && series_max == other.series_max;
  }
};

// How a log-linear histogram is exposed: its whole numbers divided by `divisor`. It divides,
// because 63 / 1e9 is 6.3e-08 and 63 * 1e-9 is not.
struct LogShape {
  LogBuckets buckets = LogBuckets();  // precision and largest value
  double divisor = 1e9;               // nanoseconds in, seconds out
  // The exposed buckets: those of these values, in counted units. Empty: the buckets that end a
  // power of two.
  std::vector<std::uint64_t> told = {};

  bool operator==(const LogShape&) const = default;
};

class Registry;

namespace detail {

class FamilyState {
 public:
  // Follows the value of a label. It is no byte of UTF-8, and therefore in no value.
  static constexpr char separator = '\xff';

  FamilyState(Kind kind, Description description);
  ~FamilyState();
  FamilyState(const FamilyState&) = delete;
  FamilyState& operator=(const FamilyState&) = delete;

  void set_bounds(Bounds bounds);
  void set_shape(const LogShape& shape);

  Kind kind() const noexcept { return kind_; }
  // Without "_total".
  const Description& description() const noexcept { return description_; }
  const std::optional<Bounds>& bounds() const noexcept { return bounds_; }
  const std::optional<LogShape>& shape() const noexcept { return shape_; }

  Result<std::uint32_t> resolve(std::span<const std::string_view> values);
  // Returns the overflow series where resolve() would fail, and sets `overflowed`. Nothing when the
  // process has no cells left even for that.
  std::optional<std::uint32_t> resolve_or_overflow(std::span<const std::string_view> values,
                                                   bool& overflowed);

  Counter counter(std::uint32_t series);
  std::atomic<double>& value(std::uint32_t series);
  Histogram histogram(std::uint32_t series);
  LogHistogram log_histogram(std::uint32_t series);

  // ---- read by the exposition, under lock()
  std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }
  std::size_t series_count() const noexcept { return cells_.size(); }
  std::size_t lines_per_series() const noexcept { return lines_per_series_; }
  // The text before the first series: HELP and TYPE, and UNIT of OpenMetrics.
  const std::string& head(bool open_metrics) const noexcept { return heads_[open_metrics ? 1 : 0]; }
  // The text before the value: `name{label="value"} `.
  std::string_view text(std::size_t series, std::size_t line) const noexcept {
    const std::size_t index = series * lines_per_series_ + line;
    const std::size_t begin = index == 0 ? 0 : text_ends_[index - 1];
    return {text_.data() + begin, text_ends_[index] - begin};
  }
  // The values of its labels, escaped as in its text, each followed by `separator`.
  std::string_view label_values(std::size_t series) const noexcept { return *keys_[series]; }
  const cells::Range& cells(std::size_t series) const noexcept { return cells_[series]; }
  double value_of(std::size_t series) const noexcept {
    return values_[series].load(std::memory_order_relaxed);
  }
  // The exposed buckets, by the index of the last bucket that each includes.
  const std::vector<std::size_t>& told_buckets() const noexcept { return told_; }
  // Null: the family keeps none.
  const SeriesExemplars* exemplars(std::size_t series) const noexcept {
    return exemplars_.empty() ? nullptr : exemplars_[series].get();
  }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>()(text);
    }
  };

  Result<std::uint32_t> find_or_add(std::span<const std::string_view> values, bool overflow);
  Result<std::uint32_t> add(std::string key, std::span<const std::string_view> values);
  void render(std::span<const std::string_view> values);
  std::size_t cells_per_series() const noexcept;

  const Kind kind_;
  const Description description_;
  const std::array<std::string, 2> heads_;
  std::optional<Bounds> bounds_;
  std::optional<LogShape> shape_;
  std::vector<std::string> le_;  // texts of the exposed bounds, without +Inf
  std::vector<std::size_t> told_;
  std::size_t lines_per_series_ = 1;

  std::mutex mutex_;  // guards the next members
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> by_values_;
  std::vector<const std::string*> keys_;  // of by_values_, by series
  std::vector<cells::Range> cells_;
  std::deque<std::atomic<double>> values_;                   // of gauges; never moved
  std::vector<std::unique_ptr<SeriesExemplars>> exemplars_;  // by series; empty: none are kept
  std::string text_;
  std::vector<std::size_t> text_ends_;
};

[[gnu::cold]] void count_overflow(Registry& registry, const FamilyState& family);

}  // namespace detail

// A family of series that differ in the values of its labels. Copy it freely.
template <class Instrument>
class Family {
 public:
  // The series of these values, in the order of the labels; made when it is new. Bytes that are not
  // UTF-8 become U+FFFD. Values longer than label_bytes_max and series beyond the limit are Errors.
  Result<Instrument> resolve(std::span<const std::string_view> values) const {
    auto series = state_->resolve(values);
    if (!series) return std::unexpected(series.error());
    return make(*series);
  }
  Result<Instrument> resolve(std::initializer_list<std::string_view> values) const {
    return resolve(std::span(values.begin(), values.size()));
  }
  // For values that come from a client: never fails. Values that resolve() would refuse are counted
  // in one series, whose labels are all "_overflow", and in katana_metrics_overflowed_total.
  // REQUIRES as many values as there are labels.
  template <class... Values>
  Instrument with(const Values&... values) const {
    const std::array<std::string_view, sizeof...(values)> all{std::string_view(values)...};
    bool overflowed = false;
    const auto series = state_->resolve_or_overflow(all, overflowed);
    if (overflowed) detail::count_overflow(*registry_, *state_);
    return series ? make(*series) : Instrument();
  }

 private:
  friend class Registry;
  Family(detail::FamilyState& state, Registry& registry) noexcept
      : state_(&state), registry_(&registry) {}
  Instrument make(std::uint32_t series) const;

  detail::FamilyState* state_;
  Registry* registry_;
};

template <>
inline Counter Family<Counter>::make(std::uint32_t series) const {
  return state_->counter(series);
}
template <>
inline Gauge Family<Gauge>::make(std::uint32_t series) const {
  return Gauge(state_->value(series));
}
template <>
inline ObservedCounter Family<ObservedCounter>::make(std::uint32_t series) const {
  return ObservedCounter(state_->value(series));
}
template <>
inline Histogram Family<Histogram>::make(std::uint32_t series) const {
  return state_->histogram(series);
}
template <>
inline LogHistogram Family<LogHistogram>::make(std::uint32_t series) const {
  return state_->log_histogram(series);
}

}  // namespace katana::metrics

// SPDX-License-Identifier: Apache-2.0
