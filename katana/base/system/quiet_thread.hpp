// quiet_thread(): starts a std::thread that blocks the signals of the program. They then reach the
// thread that waits for them, such as a server's run(). The new thread still gets the signals of
// its own crash, and of a call that a sandbox refuses (SIGSYS). It also gets the signal that asks
// for its stack, and it has an alternate stack (alternate_stack.hpp).
//
// Owns       nothing: the caller owns the thread, and joins or detaches it.
// Thread     any; the mask of the calling thread is as before when it returns.
// Allocates  as std::thread does.
// Fails      throws std::system_error when the system has no thread, as std::thread does.
#pragma once

#include <pthread.h>

#include <csignal>
#include <thread>
#include <utility>

#include "katana/base/system/alternate_stack.hpp"

namespace katana {

template <class Run>
std::thread quiet_thread(Run run) {
  struct Mask {
    Mask() {
      sigset_t all;
      sigfillset(&all);
      for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS})
        sigdelset(&all, signal);
      sigdelset(&all, stack_signal());
      pthread_sigmask(SIG_SETMASK, &all, &before);
    }
    ~Mask() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
    sigset_t before;
  };
  const Mask mask;
  return std::thread([run = std::move(run)]() mutable {
    const AlternateStack stack;
    run();
  });
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
