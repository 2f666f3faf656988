// FilterProgram: a seccomp filter, instruction by instruction. It sees the number of a system call
// and its arguments as values, but not the memory that they point to.
//
// Every line is a jump of at most a few instructions: nothing has to be laid out twice. Kernels
// since 5.11 remember which numbers are allowed whatever the arguments. They run nothing for them.
//
// Owns       its instructions.
// Thread     a value.
// Allocates  yes.
// Fails      install() with the kernel's reason.
// Invariant  a call of another architecture ends the process.
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "katana/base/system/result.hpp"

namespace katana::sandbox {

class FilterProgram {
 public:
  FilterProgram();

  // `action` is one of SECCOMP_RET_….
  void answer(long call, std::uint32_t action);
  // A test of the low half of an argument. If it passes the call gets `then`, else `otherwise`. The
  // kernel reads the high half of no argument of the calls here.
  struct Test {
    unsigned argument = 0;                        // 0 to 5
    std::uint32_t mask = ~0u;                     // of the argument, before it is compared
    std::initializer_list<std::uint32_t> one_of;  // values
  };
  void answer_if(long call, const Test& test, std::uint32_t then, std::uint32_t otherwise);
  // The same for two arguments at once; for other values the next instructions decide.
  void answer_both(long call, const Test& first, const Test& second, std::uint32_t action);
  void answer_all_else(std::uint32_t action);

  // Installs the filter for all threads of the process. Needs no rights: no_new_privs is set.
  Result<void> install();
  const std::vector<sock_filter>& instructions() const noexcept { return instructions_; }

 private:
  void load(std::size_t offset);
  void emit_test(const Test& test, std::uint8_t otherwise);
  void emit(std::uint16_t code, std::uint32_t value, std::uint8_t yes = 0, std::uint8_t no = 0);

  std::vector<sock_filter> instructions_;
};

}  // namespace katana::sandbox

// SPDX-License-Identifier: Apache-2.0
