#include "katana/observe/metrics/family.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "katana/base/system/check.hpp"
#include "katana/base/text/format.hpp"
#include "katana/observe/metrics/text_format.hpp"

namespace katana::metrics {

std::string_view kind_name(Kind kind) noexcept {
  switch (kind) {
    case Kind::counter:
    case Kind::observed_counter: return "counter";
    case Kind::gauge: return "gauge";
    case Kind::histogram:
    case Kind::log_histogram: return "histogram";
  }
  return "unknown";
}

namespace detail {
namespace {

bool has_value(Kind kind) noexcept { return kind == Kind::gauge || kind == Kind::observed_counter; }

std::string key_of(std::span<const std::string_view> values) {
  std::string key;
  for (const std::string_view value : values) {
    append_label_value(key, value);
    key += FamilyState::separator;
  }
  return key;
}

std::vector<std::size_t> told_buckets_of(const LogShape& shape) {
  if (shape.told.empty()) return shape.buckets.octave_ends();
  std::vector<std::size_t> told;
  for (const std::uint64_t value : shape.told) told.push_back(shape.buckets.find(value));
  std::ranges::sort(told);
  told.erase(std::ranges::unique(told).begin(), told.end());
  // The last bucket holds values without a bound, which +Inf counts.
  if (!told.empty() && told.back() + 1 == shape.buckets.bucket_count()) told.pop_back();
  return told;
}

std::string head_of(Kind kind, const Description& description, bool open_metrics) {
  const bool is_counter = kind == Kind::counter || kind == Kind::observed_counter;
  // In text 0.0.4 a family has the name of its samples.
  const std::string name = description.name + (is_counter && !open_metrics ? "_total" : "");
  std::string head = fmt::format("# HELP {} ", name);
  append_help(head, description.help, open_metrics);
  head += fmt::format("\n# TYPE {} {}\n", name, kind_name(kind));
  if (open_metrics && !description.unit.empty()) {
    head += fmt::format("# UNIT {} {}\n", name, description.unit);
  }
  return head;
}

}  // namespace

FamilyState::FamilyState(Kind kind, Description description)
    : kind_(kind),
      description_(std::move(description)),
      heads_{head_of(kind, description_, false), head_of(kind, description_, true)} {}

FamilyState::~FamilyState() {
  if (has_value(kind_)) return;
  for (const cells::Range& range : cells_) cells::give(range);
}

void FamilyState::set_bounds(Bounds bounds) {
  bounds_ = std::move(bounds);
  for (std::size_t index = 0; index < bounds_->values().size(); ++index) {
    le_.push_back(canonical_number(bounds_->values()[index]));
    told_.push_back(index);
  }
  lines_per_series_ = le_.size() + 3;  // plus +Inf, _sum, _count
}

void FamilyState::set_shape(const LogShape& shape) {
  shape_ = shape;
  told_ = told_buckets_of(shape);
  for (const std::size_t index : told_) {
    const auto upper = static_cast<double>(shape.buckets.upper(index));
    le_.push_back(canonical_number(upper / shape.divisor));
  }
  lines_per_series_ = le_.size() + 3;
}

std::size_t FamilyState::cells_per_series() const noexcept {
  if (kind_ == Kind::histogram) return bounds_->bucket_count() + 1;
  if (kind_ == Kind::log_histogram) return shape_->buckets.bucket_count() + 1;
  return 1;
}

Result<std::uint32_t> FamilyState::resolve(std::span<const std::string_view> values) {
  if (values.size() != description_.labels.size()) {
    return fail(Code::invalid_argument,
                fmt::format("metric '{}' has {} labels ({}) and was given {} values",
                            description_.name, description_.labels.size(),
                            fmt::join(description_.labels, ", "), values.size()));
  }
  for (std::size_t index = 0; index < values.size(); ++index) {
    if (values[index].size() > label_bytes_max) {
      return fail(Code::invalid_argument,
                  fmt::format("metric '{}': the value of label '{}' has {} bytes, and {} are the "
                              "most: label by a class or a pattern, not by what a client sent",
                              description_.name, description_.labels[index], values[index].size(),
                              label_bytes_max));
    }
  }
  return find_or_add(values, false);
}

std::optional<std::uint32_t> FamilyState::resolve_or_overflow(
    std::span<const std::string_view> values, bool& overflowed) {
  KATANA_REQUIRE(values.size() == description_.labels.size());
  if (auto series = resolve(values)) return *series;
  overflowed = true;
  const std::vector<std::string_view> names(values.size(), overflow_value);
  if (const auto series = find_or_add(names, true)) return *series;
  return std::nullopt;
}

Result<std::uint32_t> FamilyState::find_or_add(std::span<const std::string_view> values,
                                               bool overflow) {
  std::string key = key_of(values);
  const std::lock_guard lock(mutex_);
  if (const auto found = by_values_.find(key); found != by_values_.end()) return found->second;
  if (!overflow && cells_.size() >= description_.series_max) {
    return fail(
        Code::resource_exhausted,
        fmt::format("metric '{}' has {} series, which is its limit: raise series_max, or "
                    "give its labels ({}) fewer values",
                    description_.name, cells_.size(), fmt::join(description_.labels, ", ")));
  }
  return add(std::move(key), values);
}

Result<std::uint32_t> FamilyState::add(std::string key, std::span<const std::string_view> values) {
  cells::Range range;
  if (has_value(kind_)) {
    values_.emplace_back(0.0);
  } else {
    auto taken =
        cells::take(cells_per_series(),
                    kind_ == Kind::histogram ? cells::First::holds_double : cells::First::count);
    if (!taken) {
      return std::unexpected(taken.error().within(fmt::format("metric '{}'", description_.name)));
    }
    range = *taken;
  }
  const auto series = static_cast<std::uint32_t>(cells_.size());
  cells_.push_back(range);
  if (description_.exemplars && kind_ == Kind::log_histogram) {
    exemplars_.push_back(std::make_unique<SeriesExemplars>(told_, shape_->divisor));
  }
  keys_.push_back(&by_values_.emplace(std::move(key), series).first->first);
  render(values);
  return series;
}

void FamilyState::render(std::span<const std::string_view> values) {
  std::string labels;
  for (std::size_t index = 0; index < values.size(); ++index) {
    if (index > 0) labels += ',';
    labels += description_.labels[index];
    labels += "=\"";
    append_label_value(labels, values[index]);
    labels += '"';
  }
  const auto line = [&](std::string_view suffix, std::string_view le) {
    text_ += description_.name;
    text_ += suffix;
    if (!labels.empty() || !le.empty()) {
      text_ += '{';
      text_ += labels;
      if (!le.empty())
        fmt::format_to(std::back_inserter(text_), "{}le=\"{}\"", labels.empty() ? "" : ",", le);
      text_ += '}';
    }
    text_ += ' ';
    text_ends_.push_back(text_.size());
  };
  if (lines_per_series_ == 1) {
    line(kind_ == Kind::gauge ? "" : "_total", "");
    return;
  }
  for (const std::string& le : le_) line("_bucket", le);
  line("_bucket", "+Inf");
  line("_sum", "");
  line("_count", "");
}

Counter FamilyState::counter(std::uint32_t series) {
  const std::lock_guard lock(mutex_);
  return Counter(cells_[series]);
}

std::atomic<double>& FamilyState::value(std::uint32_t series) {
  const std::lock_guard lock(mutex_);
  return values_[series];
}

Histogram FamilyState::histogram(std::uint32_t series) {
  const std::lock_guard lock(mutex_);
  return {cells_[series], *bounds_};
}

LogHistogram FamilyState::log_histogram(std::uint32_t series) {
  const std::lock_guard lock(mutex_);
  return {cells_[series], shape_->buckets, exemplars_.empty() ? nullptr : exemplars_[series].get()};
}

}  // namespace detail
}  // namespace katana::metrics

// SPDX-License-Identifier: Apache-2.0
