// start_quiet_thread(): quiet_thread() with a Result.
//
// Owns       the caller owns the thread and joins it.
// Thread     any; the mask of the calling thread is as before when it returns.
// Allocates  what a thread needs.
// Fails      Code::resource_exhausted with `purpose` and the error of the system.
#pragma once

#include <fmt/format.h>

#include <system_error>
#include <thread>
#include <utility>

#include "katana/base/system/quiet_thread.hpp"
#include "katana/base/system/result.hpp"

namespace katana::server {

// `purpose` ends the sentence "there is no thread to …".
template <class Run>
Result<std::thread> start_quiet_thread(const char* purpose, Run run) {
  try {
    return quiet_thread(std::move(run));
  } catch (const std::system_error& failure) {
    return fail(Code::resource_exhausted,
                fmt::format("there is no thread to {}: {}", purpose, failure.what()));
  }
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
