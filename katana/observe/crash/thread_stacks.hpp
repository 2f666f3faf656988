// ThreadStacks: the stacks of the other threads of a process that crashes. Each is asked by a
// signal, and answers from its handler.
//
// Thread     the one that crashed; the handler any.
// Allocates  never.
// Fails      a thread that blocks the signal, or does not run in time, has no stack: its line says
//            so.
// Invariant  it waits at most answer_wait_max for a thread, and all_wait_max for all threads.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstddef>

#include "katana/base/values/instant.hpp"
#include "katana/observe/crash/facts.hpp"
#include "katana/observe/crash/stack.hpp"

namespace katana::crash {

inline constexpr Duration answer_wait_max = milliseconds(250);  // of one thread
inline constexpr Duration all_wait_max = seconds(3);            // of all together

// The answer of a thread.
struct ThreadState {
  Stack stack;      // where it was
  ThreadText text;  // its route, request and further facts
};

// Sets the handler of stack_signal(); false if the program uses the signal otherwise.
bool watch_stack_signal() noexcept;
// Sets the function that the handler calls when a timer sends the signal (timer_create(2)), instead
// of an answer: for profiles. It runs in the handler. One for the process; null: none.
using OnTimer = void (*)(const siginfo_t& info, void* context) noexcept;
void set_on_timer(OnTimer on_timer) noexcept;  // a later call replaces the function
// Fills the state of the calling thread. `context`: of its signal handler.
void capture_thread(ThreadState& state, void* context) noexcept;

// Calls `on_thread` for each thread but the calling one; null: it has not answered.
using OnThread = void (*)(pid_t thread, const ThreadState* state);
// Blocks for as long as the threads take.
void ask_other_threads(OnThread on_thread) noexcept;

// Writes the name of a thread to `name`, and returns its length; 0: it has ended.
std::size_t name_of_thread(pid_t thread, char (&name)[16]) noexcept;

}  // namespace katana::crash

// SPDX-License-Identifier: Apache-2.0
