#include "katana/observe/otlp/metrics.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <span>
#include <utility>

#include "katana/observe/otlp/export_message.hpp"

namespace katana::otlp {
namespace {

using metrics::Kind;
using metrics::detail::FamilyState;

// AggregationTemporality.
constexpr std::uint64_t delta = 1;
constexpr std::uint64_t cumulative = 2;

bool is_histogram(Kind kind) noexcept {
  return kind == Kind::histogram || kind == Kind::log_histogram;
}

// The UCUM unit for a base unit of Prometheus.
Bytes unit_of(const metrics::Description& description) noexcept {
  const Bytes unit = description.unit;
  if (unit == "seconds" || description.name.ends_with("_seconds")) return "s";
  if (unit == "bytes" || description.name.ends_with("_bytes")) return "By";
  if (unit == "ratio" || description.name.ends_with("_ratio")) return "1";
  return {};
}

// A label's value without the escapes of the text format.
std::string unescaped(Bytes text) {
  std::string value;
  value.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      value += text[at];
      continue;
    }
    ++at;
    value += text[at] == 'n' ? '\n' : text[at];
  }
  return value;
}

void add_integer_attribute(ProtobufWriter& out, std::uint32_t number, Bytes key, Bytes digits) {
  std::uint64_t value = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (failure != std::errc() || end != digits.data() + digits.size()) {
    return add_text_attribute(out, number, key, digits);
  }
  const std::size_t attribute = out.begin(number);
  out.string(1, key);
  const std::size_t any = out.begin(2);
  out.varint(3, value, true);
  out.end(any);
  out.end(attribute);
}

// `standard`: of the family; null: its labels are attributes by their names.
void add_attributes(const FamilyState& family, std::size_t series, std::uint32_t number,
                    const metrics::StandardMetric* standard, ProtobufWriter& out) {
  Bytes values = family.label_values(series);
  const auto& labels = family.description().labels;
  if (!labels.empty() && values.starts_with(metrics::overflow_value)) {
    // The name in the specification of metrics.
    const std::size_t attribute = out.begin(number);
    out.string(1, "otel.metric.overflow");
    const std::size_t any = out.begin(2);
    out.varint(2, 1, true);
    out.end(any);
    return out.end(attribute);
  }
  for (std::size_t index = 0; index < labels.size(); ++index) {
    const std::size_t end = values.find(FamilyState::separator);
    const std::string value = unescaped(values.substr(0, end));
    values.remove_prefix(end + 1);
    if (standard == nullptr) {
      add_text_attribute(out, number, labels[index], value);
    } else if (!value.empty()) {
      const metrics::StandardLabel& label = standard->labels[index];
      label.is_integer ? add_integer_attribute(out, number, label.name, value)
                       : add_text_attribute(out, number, label.name, value);
    }
  }
}

// Packed fields of a point.
void add_fixed(ProtobufWriter& out, std::uint32_t number, std::span<const std::uint64_t> values) {
  out.bytes(number, {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

// An exponential histogram's positive buckets, and their width.
struct Exponential {
  int scale = 0;
  std::int64_t offset = 0;
  std::vector<std::uint64_t> counts;
};

// The index of the bucket (2^(i/2^scale), 2^((i+1)/2^scale)] that contains the value.
std::int64_t exponential_index(double value, int scale) noexcept {
  return static_cast<std::int64_t>(std::ceil(std::ldexp(std::log2(value), scale))) - 1;
}

// Each of our buckets is counted at its middle: both kinds are about as wide. Values above the
// largest one are counted there. Bucket 0 holds zero.
Exponential exponential_of(const metrics::LogShape& shape, std::span<const std::uint64_t> counts) {
  Exponential made;
  const std::size_t last = counts.size() - 1;
  const auto middle = [&](std::size_t bucket) {
    const std::uint64_t lower = shape.buckets.lower(bucket);
    const std::uint64_t upper = bucket == last ? lower : shape.buckets.upper(bucket);
    return (static_cast<double>(lower) + static_cast<double>(upper)) / 2 / shape.divisor;
  };
  const auto is_there = [](std::uint64_t count) { return count > 0; };
  const auto first = std::ranges::find_if(counts.subspan(1), is_there);
  if (first == counts.end()) return made;
  const auto lowest = static_cast<std::size_t>(first - counts.begin());
  std::size_t highest = last;
  while (counts[highest] == 0) --highest;
  made.scale = static_cast<int>(shape.buckets.precision_bits());
  std::int64_t from = exponential_index(middle(lowest), made.scale);
  std::int64_t to = exponential_index(middle(highest), made.scale);
  while (to - from >= static_cast<std::int64_t>(MetricsEncoder::exponential_buckets_max)) {
    from >>= 1;
    to >>= 1;
    --made.scale;
  }
  made.offset = from;
  made.counts.assign(static_cast<std::size_t>(to - from + 1), 0);
  for (std::size_t bucket = lowest; bucket <= highest; ++bucket) {
    if (counts[bucket] == 0) continue;
    const std::int64_t index = exponential_index(middle(bucket), made.scale);
    made.counts[static_cast<std::size_t>(std::clamp(index, from, to) - from)] += counts[bucket];
  }
  return made;
}

std::uint64_t zigzag(std::int64_t value) noexcept {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}

void add_exponential(const metrics::LogShape& shape, std::span<const std::uint64_t> counts,
                     ProtobufWriter& out) {
  const Exponential made = exponential_of(shape, counts);
  out.varint(6, zigzag(made.scale));
  out.fixed64(7, counts.front());
  const std::size_t positive = out.begin(8);
  out.varint(1, zigzag(made.offset));
  if (!made.counts.empty()) {
    const std::size_t packed = out.begin(2);
    for (const std::uint64_t count : made.counts) out.raw_varint(count);
    out.end(packed);
  }
  out.end(positive);
}

// With the bounds of /metrics.
void add_explicit(const FamilyState& family, std::span<const std::uint64_t> counts,
                  ProtobufWriter& out) {
  std::vector<std::uint64_t> told;
  std::vector<std::uint64_t> bounds;
  std::uint64_t count = 0;
  std::size_t next = 0;
  const auto& ends = family.told_buckets();
  for (std::size_t bucket = 0; bucket < counts.size(); ++bucket) {
    count += counts[bucket];
    if (next == ends.size() || bucket != ends[next]) continue;
    ++next;
    told.push_back(std::exchange(count, 0));
    const double bound =
        family.kind() == Kind::histogram
            ? family.bounds()->values()[bucket]
            : static_cast<double>(family.shape()->buckets.upper(bucket)) / family.shape()->divisor;
    bounds.push_back(std::bit_cast<std::uint64_t>(bound));
  }
  told.push_back(count);
  add_fixed(out, 6, told);
  add_fixed(out, 7, bounds);
}

// The exemplars of a point, as field `number`. `from_ns`: those before it are left out.
void add_exemplars(const metrics::detail::SeriesExemplars& exemplars, std::size_t buckets,
                   std::uint32_t number, std::uint64_t from_ns, ProtobufWriter& out) {
  for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
    const auto exemplar = exemplars.get(bucket);
    if (!exemplar) continue;
    const auto at_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(exemplar->at_ns, 0));
    if (at_ns < from_ns) continue;
    const std::size_t message = out.begin(number);
    out.fixed64(2, at_ns);
    out.number(3, exemplar->value, true);
    out.id(4, exemplar->span);
    out.id(5, exemplar->trace_high, exemplar->trace_low);
    out.end(message);
  }
}

}  // namespace

// The message in progress: metrics, of which the last one is open.
class MetricsEncoder::Message {
 public:
  explicit Message(const MetricsEncoderOptions& options) : options_(options) {}

  // Adds a point of a metric, which begins with its first one.
  ProtobufWriter& point(const FamilyState& family, const metrics::StandardMetric* standard,
                        HistogramForm form, bool is_delta) {
    if (!is_open_) open(family, standard, form, is_delta);
    ++points_;
    return out_;
  }
  void end_point() {
    if (text_.size() < options_.message_bytes_max) return;
    close();
    finish();
  }
  void close() {
    if (!std::exchange(is_open_, false)) return;
    out_.end(data_);
    out_.end(metric_);
  }
  void finish() {
    if (points_ == 0) return;
    const std::uint32_t number = this->number();
    done_.push_back({std::exchange(text_, {}), std::exchange(points_, 0), number});
  }
  std::uint32_t number() const noexcept { return static_cast<std::uint32_t>(done_.size()); }
  std::vector<MetricsMessage> take() { return std::move(done_); }

 private:
  void open(const FamilyState& family, const metrics::StandardMetric* standard, HistogramForm form,
            bool is_delta) {
    is_open_ = true;
    metric_ = out_.begin(2);
    out_.string(1, standard != nullptr ? standard->name : Bytes(family.description().name));
    out_.string(2, family.description().help);
    out_.string(3, unit_of(family.description()));
    const bool is_exponential =
        family.kind() == Kind::log_histogram && form == HistogramForm::exponential;
    switch (family.kind()) {
      case Kind::gauge: data_ = out_.begin(5); break;
      case Kind::counter:
      case Kind::observed_counter: data_ = out_.begin(7); break;
      case Kind::histogram:
      case Kind::log_histogram: data_ = out_.begin(is_exponential ? 10 : 9); break;
    }
    if (family.kind() == Kind::gauge) return;
    out_.varint(2, is_delta ? delta : cumulative);
    if (!is_histogram(family.kind())) out_.varint(3, 1);  // it is monotonic
  }

  const MetricsEncoderOptions& options_;
  std::vector<MetricsMessage> done_;
  std::string text_;
  ProtobufWriter out_{text_};
  std::size_t points_ = 0;
  std::size_t metric_ = 0;
  std::size_t data_ = 0;
  bool is_open_ = false;
};

bool MetricsEncoder::is_delta(Kind kind) const noexcept {
  switch (options_.temporality) {
    case Temporality::cumulative: return false;
    case Temporality::delta: return kind != Kind::gauge;
    case Temporality::low_memory: return kind != Kind::gauge && kind != Kind::observed_counter;
  }
  return false;
}

std::vector<MetricsMessage> MetricsEncoder::collect(metrics::Registry& registry,
                                                    std::uint64_t now_ns) {
  collected_ns_ = now_ns;
  Message message(options_);
  const auto families = registry.families();
  known_.resize(families.size());
  for (std::size_t index = 0; index < families.size(); ++index) {
    collect_family(*families[index], known_[index], message);
  }
  message.finish();
  return message.take();
}

void MetricsEncoder::collect_family(FamilyState& family, std::vector<Series>& known,
                                    Message& message) {
  const bool wants_delta = is_delta(family.kind());
  standard_ = metrics::find_standard(family.description().name);
  for (std::size_t series = 0;; ++series) {
    const auto lock = family.lock();
    if (series == family.series_count()) break;
    read(family, series);
    if (wants_delta) {
      if (known.size() <= series) known.resize(series + 1);
      if (!subtract(known[series])) continue;
      known[series].message = message.number();
    }
    add_point(family, series, wants_delta ? &known[series] : nullptr, message);
    message.end_point();
  }
  message.close();
}

void MetricsEncoder::read(const FamilyState& family, std::size_t series) {
  const metrics::cells::Range& cells = family.cells(series);
  now_.sum = 0;
  now_.counts.clear();
  switch (family.kind()) {
    case Kind::gauge:
    case Kind::observed_counter: now_.sum = family.value_of(series); return;
    case Kind::counter: now_.counts.push_back(metrics::cells::Reading().sum(cells)); return;
    case Kind::histogram:
    case Kind::log_histogram: break;
  }
  now_.counts.resize(cells.count - 1);
  const metrics::cells::Reading reading;
  reading.sums(cells, 1, now_.counts);
  now_.sum = family.kind() == Kind::histogram
                 ? reading.sum_double(cells)
                 : static_cast<double>(reading.sum(cells)) / family.shape()->divisor;
}

// Replaces the present figures by the difference to the committed ones. False: no difference.
bool MetricsEncoder::subtract(Series& known) {
  known.collected = now_;
  known.committed.counts.resize(now_.counts.size());
  now_.sum -= known.committed.sum;
  bool is_new = now_.sum > 0;
  for (std::size_t index = 0; index < now_.counts.size(); ++index) {
    now_.counts[index] -= known.committed.counts[index];
    is_new = is_new || now_.counts[index] > 0;
  }
  return is_new;
}

void MetricsEncoder::commit(const MetricsMessage& message) {
  exemplars_from_ns_ = collected_ns_;
  for (auto& family : known_) {
    for (Series& series : family) {
      if (series.message != message.number) continue;
      series.committed = series.collected;
      series.committed_ns = collected_ns_;
    }
  }
}

// `known`: for a delta; null: no delta.
void MetricsEncoder::add_point(const FamilyState& family, std::size_t series, const Series* known,
                               Message& message) const {
  ProtobufWriter& out = message.point(family, standard_, options_.histograms, known != nullptr);
  const bool has_committed = known != nullptr && known->committed_ns != 0;
  const std::uint64_t began = has_committed ? known->committed_ns : options_.started_ns;
  const bool is_exponential =
      family.kind() == Kind::log_histogram && options_.histograms == HistogramForm::exponential;
  const std::size_t point = out.begin(1);
  if (family.kind() != Kind::gauge) out.fixed64(2, began);
  out.fixed64(3, collected_ns_);
  if (!is_histogram(family.kind())) {
    add_attributes(family, series, 7, standard_, out);
    if (family.kind() == Kind::counter) {
      out.fixed64(6, now_.counts.front(), true);
    } else {
      out.number(4, now_.sum, true);
    }
    return out.end(point);
  }
  add_attributes(family, series, is_exponential ? 1 : 9, standard_, out);
  std::uint64_t count = 0;
  for (const std::uint64_t each : now_.counts) count += each;
  out.fixed64(4, count, true);
  out.number(5, now_.sum, true);
  if (is_exponential) {
    add_exponential(*family.shape(), now_.counts, out);
  } else {
    add_explicit(family, now_.counts, out);
  }
  if (const auto* const exemplars = family.exemplars(series)) {
    add_exemplars(*exemplars, family.told_buckets().size() + 1, is_exponential ? 11 : 8,
                  exemplars_from_ns_, out);
  }
  out.end(point);
}

}  // namespace katana::otlp

// SPDX-License-Identifier: Apache-2.0
