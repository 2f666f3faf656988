#include "katana/base/system/alternate_stack.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

namespace katana {
namespace {

// The largest frame of the kernel (AVX-512, AMX) takes 11 KiB, the unwinder and the report 8 KiB.
constexpr std::size_t stack_bytes = 64 * 1024;

std::size_t page_bytes() noexcept { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

}  // namespace

int stack_signal() noexcept { return SIGRTMAX - 3; }

AlternateStack::AlternateStack() noexcept {
  stack_t present{};
  if (::sigaltstack(nullptr, &present) != 0) return;
  if ((present.ss_flags & SS_DISABLE) == 0) {
    set_ = true;
    return;
  }
  const std::size_t guard = page_bytes();
  void* const memory = ::mmap(nullptr, guard + stack_bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;
  stack_t mine{};
  mine.ss_sp = static_cast<char*>(memory) + guard;
  mine.ss_size = stack_bytes;
  // Without the guard a handler that needs more room would write to other memory.
  if (::mprotect(memory, guard, PROT_NONE) != 0 || ::sigaltstack(&mine, nullptr) != 0) {
    ::munmap(memory, guard + stack_bytes);
    return;
  }
  memory_ = memory;
  set_ = true;
}

AlternateStack::~AlternateStack() {
  if (memory_ == nullptr) return;
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  ::sigaltstack(&none, nullptr);
  ::munmap(memory_, page_bytes() + stack_bytes);
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
