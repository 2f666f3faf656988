// Invariant: a report is refused, or has a signal, and no text in it has control characters. A
// report that was cut has no more threads and records than the whole one.
#include <cstddef>
#include <cstdint>
#include <string>

#include "katana/base/system/check.hpp"
#include "katana/observe/crash/report.hpp"
#include "katana/observe/crash/report_name.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace katana;
  using namespace katana::crash;
  const Bytes input(reinterpret_cast<const char*>(data), size);
  (void)is_report_name(input, "notes");
  const auto report = parse_report(input);
  if (!report) return 0;
  KATANA_CHECK(report->signal != 0);
  for (const ReportedThread& thread : report->threads) {
    KATANA_CHECK(thread.name.find('\n') == std::string::npos);
    for (const Frame& frame : thread.frames) {
      KATANA_CHECK(frame.build_id.find_first_not_of("0123456789abcdef") == std::string::npos);
      KATANA_CHECK(frame.path.find('\n') == std::string::npos);
    }
  }
  for (const char each : summary_of(*report)) {
    KATANA_CHECK(static_cast<unsigned char>(each) >= 0x20 && each != 0x7f);
  }
  (void)top_frames_of(*report, 5);
  if (const auto cut = parse_report(input.substr(0, size / 2))) {
    KATANA_CHECK(cut->threads.size() <= report->threads.size());
    KATANA_CHECK(cut->records.size() <= report->records.size());
  }
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
