// The reports of a program in its folder, for its next start.
//
// A report that take_new_reports() has given is made read-only (0400): it is new while it is not.
//
// Thread     any; not in a signal handler.
// Allocates  yes.
// Fails      with the folder or the file, and the reason.
// Invariant  files with other names stay as they are. A report that another process is writing is
//            left for later.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "katana/base/system/result.hpp"

namespace katana::crash {

// A report that was not told before.
struct NewReport {
  std::string path;     // of the file
  std::string summary;  // summary_of(), or why it cannot be read
  std::string frames;   // top_frames_of()
};

// The new reports of the program, the oldest first. Removes all but the newest `keep` reports.
Result<std::vector<NewReport>> take_new_reports(const std::string& folder,
                                                const std::string& program, std::size_t keep);
// The number of reports of the program.
std::size_t count_reports(const std::string& folder, const std::string& program);

}  // namespace katana::crash

// SPDX-License-Identifier: Apache-2.0
