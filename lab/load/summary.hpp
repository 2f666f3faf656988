// Text for people: durations with three digits, and the result of a run.
//
// Thread: functions of their arguments. Allocates: the text.
#pragma once

#include <string>

#include "lab/load/json_report.hpp"

namespace katana::load {

std::string short_duration(std::int64_t ns);  // "1.23 ms"
std::string short_count(double count);        // "12.3 k"
std::string short_bytes(double bytes);        // "1.2 MiB"
std::string summary(const ReportInput& input);

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
