// AlternateStack: the stack on which a thread handles the signal of its own crash. Without one a
// thread whose stack is full has no place for the handler, and ends without a report.
//
// quiet_thread() gives each thread one. Threads that others start have none: their stack overflow
// ends the process without a report.
//
// Owns       the memory: 64 KiB and a guard page, mapped, of which untouched pages cost nothing.
// Thread     its own: made and destroyed on the thread that it serves.
// Allocates  by mmap(2).
// Fails      is_set() is false: there is no memory. The thread then has no alternate stack.
// Invariant  a thread that already has one, such as that of a sanitizer, keeps it.
#pragma once

namespace katana {

// The signal that asks a thread for its stack, for the crash report of another thread. A real-time
// signal near the end of the range, which neither the C library nor KATANA uses otherwise.
int stack_signal() noexcept;

class AlternateStack {
 public:
  AlternateStack() noexcept;
  ~AlternateStack();
  AlternateStack(const AlternateStack&) = delete;
  AlternateStack& operator=(const AlternateStack&) = delete;

  bool is_set() const noexcept { return set_; }  // the thread has one, this or another
  // Leaves the stack to the thread for as long as the process lives: for the main thread.
  void keep() noexcept { memory_ = nullptr; }

 private:
  void* memory_ = nullptr;  // null: the thread had one, or there is none
  bool set_ = false;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
