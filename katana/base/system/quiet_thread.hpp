// quiet_thread(): a std::thread that the signals of the program are not delivered to, so that they
// reach the thread that waits for them, as a server's run() does. The thread
// still takes a crash that it causes, and a call that a sandbox refuses (SIGSYS).
//
// Owns       the thread is the caller's, who joins or detaches it.
// Thread     any; the mask of the calling thread is as before when it returns.
// Allocates  what a thread needs.
// Fails      throws std::system_error when the system has no thread, as std::thread does.
#pragma once

#include <pthread.h>

#include <csignal>
#include <thread>
#include <utility>

namespace katana {

template <class Run>
std::thread quiet_thread(Run run) {
  struct Mask {
    Mask() {
      sigset_t all;
      sigfillset(&all);
      for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS})
        sigdelset(&all, signal);
      pthread_sigmask(SIG_SETMASK, &all, &before);
    }
    ~Mask() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }
    sigset_t before;
  };
  const Mask mask;
  return std::thread(std::move(run));
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
