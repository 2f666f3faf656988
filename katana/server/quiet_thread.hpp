// start_quiet_thread(): a thread that no signal is delivered to: they are for who waits for them.
//
// Owns       the thread is the caller's, who joins it.
// Thread     any; the mask of the calling thread is as before when it returns.
// Allocates  what a thread needs.
// Fails      Code::resource_exhausted with `purpose` and what the system said.
#pragma once

#include <fmt/format.h>
#include <pthread.h>

#include <csignal>
#include <system_error>
#include <thread>
#include <utility>

#include "katana/base/result.hpp"

namespace katana::server {

// `purpose` ends the sentence "there is no thread to …".
template <class Run>
Result<std::thread> start_quiet_thread(const char* purpose, Run run) {
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, SIGSYS);  // a call that a sandbox refuses fails; where it is blocked, it ends us
  pthread_sigmask(SIG_SETMASK, &all, &before);
  Result<std::thread> started = [&]() -> Result<std::thread> {
    try {
      return std::thread(std::move(run));
    } catch (const std::system_error& failure) {
      return fail(Code::resource_exhausted,
                  fmt::format("there is no thread to {}: {}", purpose, failure.what()));
    }
  }();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
