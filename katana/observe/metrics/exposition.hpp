// Exposition: a registry as text for a scraper, in pieces of the caller's size.
//
//   Exposition exposition(registry, Format::prometheus);
//   while (!exposition.done()) sink.write({piece, exposition.fill(piece)});
//
// Owns       its place in the registry, and the histogram that it is writing.
// Borrows    the Registry, which must outlive it.
// Thread     one; counting and registering go on meanwhile.
// Allocates  little: its memory does not grow with the number of series.
// Fails      never. A piece smaller than piece_bytes_min is the caller's mistake.
// Invariant  the text of a histogram is of one moment: buckets rise, and +Inf equals _count.
//            Different series may be of different moments.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "katana/observe/metrics/registry.hpp"

namespace katana::metrics {

// Prometheus text 0.0.4, or OpenMetrics 1.0.
enum class Format : std::uint8_t { prometheus, open_metrics };

// Content-Type of Format::prometheus.
inline constexpr std::string_view prometheus_content_type =
    "text/plain; version=0.0.4; charset=utf-8";
// Content-Type of Format::open_metrics.
inline constexpr std::string_view open_metrics_content_type =
    "application/openmetrics-text; version=1.0.0; charset=utf-8";
// The value of the header Content-Type.
constexpr std::string_view content_type(Format format) noexcept {
  return format == Format::prometheus ? prometheus_content_type : open_metrics_content_type;
}
// OpenMetrics when an Accept field prefers it to plain text, as Prometheus does; otherwise text.
Format choose_format(std::string_view accept) noexcept;

class Exposition {
 public:
  // More than the longest line that the limits of family.hpp permit.
  static constexpr std::size_t piece_bytes_min = 16 * 1024;

  // Refreshes the registry.
  Exposition(Registry& registry, Format format);

  // Fills the front of `out` with whole lines and returns the number of bytes; 0 only when done()
  // is true. REQUIRES out.size() ≥ piece_bytes_min.
  std::size_t fill(std::span<char> out);
  bool done() const noexcept { return done_; }

 private:
  class Piece;

  void begin_family();
  bool fill_family(detail::FamilyState& family, Piece& piece);
  bool fill_values(const detail::FamilyState& family, std::size_t end, Piece& piece);
  bool fill_histogram(const detail::FamilyState& family, Piece& piece);
  void snap_histogram(const detail::FamilyState& family);

  std::vector<detail::FamilyState*> families_;  // as they were at the beginning
  const Format format_;
  bool at_end_ = false;  // head_ is the text behind the last family
  bool done_ = false;
  std::size_t family_ = 0;
  std::size_t series_ = 0;
  std::size_t line_ = 0;
  bool begun_ = false;               // the family's HELP and TYPE are written
  std::string_view head_;            // … and this is their text
  std::vector<std::uint64_t> told_;  // cumulative, as they are written
  double sum_ = 0;
};

// Appends all of it to any object with append(std::string_view): Text, std::string.
template <class Sink>
void write_exposition(Registry& registry, Format format, Sink& sink) {
  std::vector<char> piece(Exposition::piece_bytes_min);
  Exposition exposition(registry, format);
  while (!exposition.done()) {
    sink.append(std::string_view(piece.data(), exposition.fill(piece)));
  }
}

}  // namespace katana::metrics

// SPDX-License-Identifier: Apache-2.0
