// The stack of a thread as addresses, and the module that each address is in, from a signal
// handler.
//
// The unwinder is that of the C++ runtime (_Unwind_Backtrace): it reads .eh_frame, which every
// program has, so nothing need be compiled with frame pointers. Since GCC 12 and glibc 2.35 it
// finds its tables by _dl_find_object(), which takes no lock and is safe in a signal handler. With
// an older C library it takes the lock of the dynamic linker.
//
// Thread     any; in a signal handler. prepare_unwinder() is called before, outside of one.
// Allocates  never, after prepare_unwinder().
// Fails      a damaged stack can make a fault, which ends capture_stack(). The frames that were
//            found before stay.
// Invariant  at most frames_max frames.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "katana/base/text/bytes.hpp"

namespace katana::crash {

inline constexpr std::size_t frames_max = 64;  // of a thread

// The calls of a thread.
struct Stack {
  // The innermost first: where the thread was, then the calls, each the last byte of its call
  // instruction.
  std::array<std::uintptr_t, frames_max> addresses{};
  std::size_t count = 0;
  bool cut = false;  // there are more
};

// Loads and binds what the unwinder needs, and remembers the path of the program.
void prepare_unwinder() noexcept;

// `context`: the ucontext_t of the signal handler. The frames of the handler are left out.
void capture_stack(Stack& stack, void* context) noexcept;

// The calls of the calling thread from the caller of this function on, outside of a signal handler.
void capture_calls(Stack& stack) noexcept;

// A loaded file: the program, or a library.
struct Module {
  Bytes path;                // valid as long as it is loaded
  Bytes build_id;            // bytes of its GNU build ID; empty: it has none
  std::uintptr_t bias = 0;   // an address minus this is the address within the file
  std::uintptr_t begin = 0;  // of its memory
  std::uintptr_t end = 0;
};

// False: the address is in no module.
bool find_module(std::uintptr_t address, Module& module) noexcept;

// Calls `step`, and returns false if it made a fault: the handler of the fault calls
// leave_guarded(), which returns to here. No destructors run then.
bool guarded(void (*step)(void* argument), void* argument) noexcept;
bool is_guarded() noexcept;  // of the calling thread
[[noreturn]] void leave_guarded() noexcept;

}  // namespace katana::crash

// SPDX-License-Identifier: Apache-2.0
