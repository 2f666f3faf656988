// Crash reports, for programs without Application, which installs them itself.
//
// Links      observe/crash
#pragma once

#include "katana/observe/crash/crash.hpp"
#include "katana/observe/crash/recent_records.hpp"
#include "katana/observe/crash/report_files.hpp"
#include "katana/observe/crash/report_writer.hpp"

// SPDX-License-Identifier: Apache-2.0
