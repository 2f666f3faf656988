#include "katana/observe/metrics/exposition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "katana/base/system/check.hpp"
#include "katana/base/text/format.hpp"
#include "katana/observe/metrics/text_format.hpp"

namespace katana::metrics {
namespace {

// The series that are written under one hold of the locks: some tens of microseconds.
constexpr std::size_t batch_series = 512;

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// The weight of "…;q=0.5", in thousandths (RFC 9110 §12.4.2); 1000 without one.
int weight_of(std::string_view item) {
  while (!item.empty()) {
    const std::size_t end = std::min(item.find(';'), item.size());
    const std::string_view part = trim(item.substr(0, end));
    item.remove_prefix(std::min(end + 1, item.size()));
    if (!part.starts_with("q=") && !part.starts_with("Q=")) continue;
    double weight = 0;
    const auto read = std::from_chars(part.data() + 2, part.data() + part.size(), weight);
    return read.ec == std::errc() ? static_cast<int>(std::clamp(weight, 0.0, 1.0) * 1000) : 0;
  }
  return 1000;
}

bool same_ignoring_case(std::string_view text, std::string_view lower) {
  return std::ranges::equal(text, lower, [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
}

// `# {trace_id="…",span_id="…"} value seconds`, with the space in front of it.
constexpr std::size_t exemplar_bytes_max = 160;
char* write_exemplar(char* out, const Exemplar& exemplar) noexcept {
  out = fmt::format_to(out, " # {{trace_id=\"{:016x}{:016x}\",span_id=\"{:016x}\"}} ",
                       exemplar.trace_high, exemplar.trace_low, exemplar.span);
  out = write_value(out, exemplar.value);
  constexpr std::int64_t ms_ns = 1'000'000, second_ms = 1'000;
  const std::int64_t at_ms = exemplar.at_ns / ms_ns;
  return fmt::format_to(out, " {}.{:03}", at_ms / second_ms, at_ms % second_ms);
}

bool is_open_metrics_1(std::string_view item) {
  const std::size_t version = item.find("version=");
  return version == std::string_view::npos || item.substr(version + 8).starts_with("1.0") ||
         item.substr(version + 8).starts_with("0.0.1");
}

}  // namespace

Format choose_format(std::string_view accept) noexcept {
  int text = -1, open_metrics = -1;
  while (!accept.empty()) {
    const std::size_t end = std::min(accept.find(','), accept.size());
    const std::string_view item = trim(accept.substr(0, end));
    accept.remove_prefix(std::min(end + 1, accept.size()));
    const std::string_view type = trim(item.substr(0, item.find(';')));
    if (same_ignoring_case(type, "application/openmetrics-text")) {
      if (is_open_metrics_1(item)) open_metrics = std::max(open_metrics, weight_of(item));
    } else if (same_ignoring_case(type, "text/plain")) {
      text = std::max(text, weight_of(item));
    }
  }
  return open_metrics > 0 && open_metrics >= text ? Format::open_metrics : Format::prometheus;
}

// The rest of the caller's piece.
class Exposition::Piece {
 public:
  explicit Piece(std::span<char> out) noexcept
      : begin_(out.data()), at_(begin_), end_(begin_ + out.size()) {}
  bool has_capacity(std::size_t bytes) const noexcept {
    return static_cast<std::size_t>(end_ - at_) >= bytes;
  }
  std::size_t size() const noexcept { return static_cast<std::size_t>(at_ - begin_); }
  void append(std::string_view text) noexcept {
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
  }
  template <class Value>
  void end_line(Value value) noexcept {
    at_ = write_value(at_, value);
    *at_++ = '\n';
  }
  // False, and nothing is written: no room.
  template <class Value>
  bool line(std::string_view text, Value value) noexcept {
    if (!has_capacity(text.size() + value_bytes_max + 1)) return false;
    append(text);
    end_line(value);
    return true;
  }
  // A line of a bucket, and the exemplar behind its value.
  bool line(std::string_view text, std::uint64_t value, const Exemplar& exemplar) noexcept {
    if (!has_capacity(text.size() + value_bytes_max + exemplar_bytes_max + 1)) return false;
    append(text);
    at_ = write_exemplar(write_value(at_, value), exemplar);
    *at_++ = '\n';
    return true;
  }

 private:
  char* const begin_;
  char* at_;
  char* const end_;
};

Exposition::Exposition(Registry& registry, Format format) : format_(format) {
  registry.refresh();
  families_ = registry.families();
  std::erase_if(families_,
                [](const detail::FamilyState* each) { return !each->description().is_exposed; });
  begin_family();
}

// The head of the next family that has series; the head of the end when there is none.
void Exposition::begin_family() {
  series_ = line_ = 0;
  begun_ = false;
  for (; family_ < families_.size(); ++family_) {
    const auto lock = families_[family_]->lock();
    if (families_[family_]->series_count() > 0) break;
  }
  const bool open_metrics = format_ == Format::open_metrics;
  at_end_ = family_ == families_.size();
  if (!at_end_) {
    head_ = families_[family_]->head(open_metrics);
  } else {
    head_ = open_metrics ? "# EOF\n" : "";
  }
}

std::size_t Exposition::fill(std::span<char> out) {
  KATANA_REQUIRE(out.size() >= piece_bytes_min);
  Piece piece(out);
  while (!done_) {
    if (!begun_) {
      if (!piece.has_capacity(head_.size())) break;
      piece.append(head_);
      begun_ = true;
      done_ = at_end_;
      if (done_) break;
    }
    if (!fill_family(*families_[family_], piece)) break;
    ++family_;
    begin_family();
  }
  return piece.size();
}

// False: no room for the rest.
bool Exposition::fill_family(detail::FamilyState& family, Piece& piece) {
  for (;;) {
    const auto lock = family.lock();
    const std::size_t count = family.series_count();
    if (series_ == count) return true;
    if (family.lines_per_series() > 1) {
      if (!fill_histogram(family, piece)) return false;
    } else if (!fill_values(family, std::min(count, series_ + batch_series), piece)) {
      return false;
    }
  }
}

bool Exposition::fill_values(const detail::FamilyState& family, std::size_t end, Piece& piece) {
  if (family.kind() != Kind::counter) {
    for (; series_ < end; ++series_) {
      if (!piece.line(family.text(series_, 0), family.value_of(series_))) return false;
    }
    return true;
  }
  const cells::Reading reading;
  for (; series_ < end; ++series_) {
    if (!piece.line(family.text(series_, 0), reading.sum(family.cells(series_)))) return false;
  }
  return true;
}

// Reads all buckets under one lock: the cells between two boundaries that are told are one sum.
void Exposition::snap_histogram(const detail::FamilyState& family) {
  const cells::Range& cells = family.cells(series_);
  const std::size_t buckets = cells.count - 1;
  told_.assign(family.told_buckets().size() + 1, 0);
  const cells::Reading reading;
  std::uint64_t total = 0;
  std::size_t begin = 0;
  for (std::size_t told = 0; told < told_.size(); ++told) {
    const bool is_last = told + 1 == told_.size();
    const std::size_t end = is_last ? buckets : family.told_buckets()[told] + 1;
    total += reading.sum_of(cells, 1 + begin, end - begin);
    told_[told] = total;
    begin = end;
  }
  sum_ = family.kind() == Kind::histogram
             ? reading.sum_double(cells)
             : static_cast<double>(reading.sum(cells)) / family.shape()->divisor;
}

bool Exposition::fill_histogram(const detail::FamilyState& family, Piece& piece) {
  if (line_ == 0) snap_histogram(family);
  const detail::SeriesExemplars* const exemplars =
      format_ == Format::open_metrics ? family.exemplars(series_) : nullptr;
  for (; line_ < family.lines_per_series(); ++line_) {
    const std::string_view text = family.text(series_, line_);
    const std::size_t buckets = told_.size();
    const auto exemplar =
        exemplars != nullptr && line_ < buckets ? exemplars->get(line_) : std::nullopt;
    const bool written = exemplar           ? piece.line(text, told_[line_], *exemplar)
                         : line_ < buckets  ? piece.line(text, told_[line_])
                         : line_ == buckets ? piece.line(text, sum_)
                                            : piece.line(text, told_.back());
    if (!written) return false;
  }
  line_ = 0;
  ++series_;
  return true;
}

}  // namespace katana::metrics

// SPDX-License-Identifier: Apache-2.0
