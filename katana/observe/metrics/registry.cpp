#include "katana/observe/metrics/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "katana/base/text/utf8.hpp"
#include "katana/observe/metrics/text_format.hpp"

namespace katana::metrics {
namespace {

constexpr std::string_view total = "_total";

std::unexpected<Error> refuse(const Description& description, std::string_view what) {
  return fail(Code::invalid_argument, fmt::format("metric '{}': {}", description.name, what));
}

Result<void> check_name(Kind kind, const Description& description) {
  const std::string& name = description.name;
  if (!is_metric_name(name) || name.size() > name_bytes_max) {
    return refuse(description,
                  fmt::format("a name is 1 to {} letters, digits, '_' or ':', and does not begin "
                              "with a digit",
                              name_bytes_max));
  }
  // The suffix of a counter was removed before.
  for (const std::string_view suffix :
       {"_total", "_created", "_bucket", "_sum", "_count", "_info"}) {
    const bool of_gauge = kind == Kind::gauge && suffix == "_info";
    if (name.ends_with(suffix) && !of_gauge) {
      return refuse(description, fmt::format("a {} may not end with '{}', which says that it is "
                                             "something else: choose another name",
                                             kind_name(kind), suffix));
    }
  }
  if (!description.unit.empty()) {
    if (!is_label_name(description.unit) || !name.ends_with("_" + description.unit)) {
      return refuse(description, fmt::format("its unit is '{}', so its name must end with '_{}'",
                                             description.unit, description.unit));
    }
  }
  return {};
}

Result<void> check_labels(Kind kind, const Description& description) {
  const auto& labels = description.labels;
  if (labels.size() > labels_max) {
    return refuse(description,
                  fmt::format("{} labels, and {} are the most", labels.size(), labels_max));
  }
  const bool buckets = kind == Kind::histogram || kind == Kind::log_histogram;
  for (auto label = labels.begin(); label != labels.end(); ++label) {
    if (!is_label_name(*label) || label->size() > label_name_bytes_max) {
      return refuse(description,
                    fmt::format("label '{}' is not 1 to {} letters, digits or '_', or begins with "
                                "a digit or '__'",
                                *label, label_name_bytes_max));
    }
    if (buckets && *label == "le") {
      return refuse(description, "label 'le' is the histogram's own: choose another name");
    }
    if (std::find(labels.begin(), label, *label) != label) {
      return refuse(description, fmt::format("label '{}' is there twice", *label));
    }
  }
  return {};
}

Result<void> check(Kind kind, const Description& description) {
  if (auto named = check_name(kind, description); !named) return named;
  if (description.help.empty() || description.help.size() > help_bytes_max ||
      !is_utf8(description.help)) {
    return refuse(description, fmt::format("help is 1 to {} bytes of UTF-8: say in a sentence what "
                                           "is counted",
                                           help_bytes_max));
  }
  return check_labels(kind, description);
}

// Every name that a family's samples may have, in either format.
std::vector<std::string> sample_names(Kind kind, const std::string& name) {
  std::vector<std::string> names{name};
  if (kind == Kind::counter || kind == Kind::observed_counter) names.push_back(name + "_total");
  if (kind == Kind::histogram || kind == Kind::log_histogram) {
    for (const auto* suffix : {"_bucket", "_sum", "_count"}) names.push_back(name + suffix);
  }
  if (kind != Kind::gauge) names.push_back(name + "_created");
  return names;
}

bool same(const detail::FamilyState& family, Kind kind, const Description& description,
          const std::optional<Bounds>& bounds, const std::optional<LogShape>& shape) {
  if (family.kind() != kind || family.description() != description) return false;
  if (bounds.has_value() && !std::ranges::equal(bounds->values(), family.bounds()->values())) {
    return false;
  }
  return shape == family.shape();
}

}  // namespace

Registry::Registry(const RegistryOptions& options) : options_(options) {
  auto made = add(Kind::counter,
                  {.name = "katana_metrics_overflowed",
                   .help = "Resolutions of series that got the overflow series of a metric: the "
                           "metric had its most series, or a label value was too long.",
                   .labels = {"metric"},
                   .unit = {},
                   .series_max = SIZE_MAX},
                  {}, {});
  overflowed_ = *made;
}

Registry::~Registry() = default;

Result<detail::FamilyState*> Registry::add(Kind kind, Description description,
                                           std::optional<Bounds> bounds,
                                           std::optional<LogShape> shape) {
  const bool is_counter = kind == Kind::counter || kind == Kind::observed_counter;
  if (is_counter && description.name.ends_with(total)) {
    description.name.resize(description.name.size() - total.size());
  }
  if (description.series_max == 0) description.series_max = options_.series_per_family_max;
  if (auto good = check(kind, description); !good) return std::unexpected(good.error());

  const std::lock_guard lock(mutex_);
  const std::vector<std::string> names = sample_names(kind, description.name);
  for (const std::string& name : names) {
    const auto found = by_sample_name_.find(name);
    if (found == by_sample_name_.end()) continue;
    detail::FamilyState& other = *found->second;
    if (same(other, kind, description, bounds, shape)) return &other;
    return fail(
        Code::already_exists,
        fmt::format("metric '{}' ({}) is registered as {} '{}' with labels ({}), help '{}': choose "
                    "another name, or give the same description in both places",
                    description.name, kind_name(kind), kind_name(other.kind()),
                    other.description().name, fmt::join(other.description().labels, ", "),
                    other.description().help));
  }
  auto& family =
      families_.emplace_back(std::make_unique<detail::FamilyState>(kind, std::move(description)));
  if (bounds) family->set_bounds(*std::move(bounds));
  if (shape) family->set_shape(*shape);
  for (const std::string& name : names) by_sample_name_.emplace(name, family.get());
  return family.get();
}

void detail::count_overflow(Registry& registry, const FamilyState& family) {
  const std::array<std::string_view, 1> name{family.description().name};
  // Without a cell for it the process has run out of cells, and nothing can be counted any more.
  if (const auto series = registry.overflowed_->resolve(name)) {
    registry.overflowed_->counter(*series).add();
  }
}

template <class Instrument>
Result<Family<Instrument>> Registry::add_family(Kind kind, Description description,
                                                std::optional<Bounds> bounds,
                                                std::optional<LogShape> shape) {
  auto family = add(kind, std::move(description), std::move(bounds), std::move(shape));
  if (!family) return std::unexpected(family.error());
  return Family<Instrument>(**family, *this);
}

Result<Family<Counter>> Registry::counters(Description description) {
  return add_family<Counter>(Kind::counter, std::move(description));
}

Result<Family<Gauge>> Registry::gauges(Description description) {
  return add_family<Gauge>(Kind::gauge, std::move(description));
}

Result<Family<ObservedCounter>> Registry::observed_counters(Description description) {
  return add_family<ObservedCounter>(Kind::observed_counter, std::move(description));
}

Result<Family<Histogram>> Registry::histograms(Description description,
                                               std::vector<double> bounds) {
  auto made = Bounds::make(std::move(bounds));
  if (!made) {
    return std::unexpected(made.error().within(fmt::format("metric '{}'", description.name)));
  }
  return add_family<Histogram>(Kind::histogram, std::move(description), *std::move(made));
}

Result<Family<LogHistogram>> Registry::log_histograms(Description description,
                                                      const LogShape& shape) {
  if (!std::isfinite(shape.divisor) || shape.divisor <= 0) {
    return refuse(description,
                  fmt::format("its divisor is {}: give a number above zero, as 1e9 for "
                              "nanoseconds in and seconds out",
                              shape.divisor));
  }
  return add_family<LogHistogram>(Kind::log_histogram, std::move(description), {}, shape);
}

Result<Counter> Registry::counter(std::string name, std::string help) {
  auto family = counters({.name = std::move(name), .help = std::move(help)});
  if (!family) return std::unexpected(family.error());
  return family->resolve({});
}

Result<Gauge> Registry::gauge(std::string name, std::string help) {
  auto family = gauges({.name = std::move(name), .help = std::move(help)});
  if (!family) return std::unexpected(family.error());
  return family->resolve({});
}

Result<Histogram> Registry::histogram(std::string name, std::string help,
                                      std::vector<double> bounds) {
  auto family = histograms({.name = std::move(name), .help = std::move(help)}, std::move(bounds));
  if (!family) return std::unexpected(family.error());
  return family->resolve({});
}

Result<LogHistogram> Registry::log_histogram(std::string name, std::string help,
                                             const LogShape& shape) {
  auto family = log_histograms({.name = std::move(name), .help = std::move(help)}, shape);
  if (!family) return std::unexpected(family.error());
  return family->resolve({});
}

void Registry::before_scrape(std::function<void()> refresh) {
  const std::lock_guard lock(refresh_mutex_);
  refreshers_.push_back(std::move(refresh));
}

void Registry::refresh() {
  const std::lock_guard lock(refresh_mutex_);
  for (const auto& refresher : refreshers_) refresher();
}

void Registry::ask_before_scrape(std::function<void()> ask) {
  const std::lock_guard lock(refresh_mutex_);
  askers_.push_back(std::move(ask));
}

void Registry::ask() {
  const std::lock_guard lock(refresh_mutex_);
  for (const auto& asker : askers_) asker();
}

void Registry::stop_refreshing() {
  const std::lock_guard lock(refresh_mutex_);
  refreshers_.clear();
  askers_.clear();
}

std::vector<detail::FamilyState*> Registry::families() const {
  const std::lock_guard lock(mutex_);
  std::vector<detail::FamilyState*> all;
  all.reserve(families_.size());
  for (const auto& each : families_) all.push_back(each.get());
  return all;
}

std::optional<LogSnapshot> Registry::sum_of(std::string_view name, std::string_view except) const {
  std::optional<LogSnapshot> sum;
  for (detail::FamilyState* const each : families()) {
    detail::FamilyState& state = *each;
    if (state.kind() != Kind::log_histogram || state.description().name != name) continue;
    std::vector<std::uint32_t> wanted;
    {
      const auto lock = state.lock();
      for (std::uint32_t series = 0; series < state.series_count(); ++series) {
        const bool excepted = !except.empty() && state.text(series, 0).contains(except);
        if (!excepted) wanted.push_back(series);
      }
    }
    for (const std::uint32_t series : wanted) {
      const LogSnapshot one = state.log_histogram(series).snapshot();
      if (sum) {
        *sum += one;
      } else {
        sum = one;
      }
    }
  }
  return sum;
}

}  // namespace katana::metrics

// SPDX-License-Identifier: Apache-2.0
