// RecentRecords: an output of the log that keeps the last records as text, for the crash report.
//
//   options.sinks.push_back(crash::recent_records());
//
// Owns       static memory: 64 records of 512 bytes; longer records are cut. All logs share it.
// Thread     the log's writers; write_recent_records() a signal handler.
// Allocates  as a sink does.
// Fails      never: a record that is replaced while it is read is left out.
#pragma once

#include <cstddef>

#include "katana/base/text/bytes.hpp"
#include "katana/observe/log/sink.hpp"

namespace katana::crash {

class ReportWriter;

inline constexpr std::size_t recent_records_max = 64;  // of all logs together

// The records of this logger are left out: an access log would leave no place for others.
inline constexpr Bytes left_out_logger = "access";

// The sink for Options::sinks of a Log.
log::SinkOptions recent_records();
// A line "record …" for each, the oldest first.
void write_recent_records(ReportWriter& report) noexcept;

}  // namespace katana::crash

// SPDX-License-Identifier: Apache-2.0
