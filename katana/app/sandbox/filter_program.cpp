#include "katana/app/sandbox/filter_program.hpp"

#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <system_error>

namespace katana::sandbox {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t architecture = 0;
#endif

// Both architectures have the low half of a 64-bit argument first.
constexpr std::size_t argument_at(unsigned index) {
  return offsetof(seccomp_data, args) + index * sizeof(std::uint64_t);
}

}  // namespace

FilterProgram::FilterProgram() {
  load(offsetof(seccomp_data, arch));
  emit(BPF_JMP | BPF_JEQ | BPF_K, architecture, 1, 0);
  emit(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  load(offsetof(seccomp_data, nr));
}

void FilterProgram::load(std::size_t offset) {
  emit(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}

void FilterProgram::emit(std::uint16_t code, std::uint32_t value, std::uint8_t yes,
                         std::uint8_t no) {
  instructions_.push_back({code, yes, no, value});
}

void FilterProgram::answer(long call, std::uint32_t action) {
  emit(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, 1);
  emit(BPF_RET | BPF_K, action);
}

// The number is lost when the argument is loaded, but nothing behind is reached with it.
void FilterProgram::answer_if(long call, const Test& test, std::uint32_t then,
                              std::uint32_t otherwise) {
  const auto values = static_cast<std::uint8_t>(test.one_of.size());
  emit(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0,
       static_cast<std::uint8_t>(values + 4));
  load(argument_at(test.argument));
  emit(BPF_ALU | BPF_AND | BPF_K, test.mask);
  std::uint8_t left = values;
  for (const std::uint32_t value : test.one_of) {
    emit(BPF_JMP | BPF_JEQ | BPF_K, value, left, 0);
    --left;
  }
  emit(BPF_RET | BPF_K, otherwise);
  emit(BPF_RET | BPF_K, then);
}

// A passed test goes on with the next instruction. A failed one skips `otherwise` instructions.
void FilterProgram::emit_test(const Test& test, std::uint8_t otherwise) {
  load(argument_at(test.argument));
  emit(BPF_ALU | BPF_AND | BPF_K, test.mask);
  auto left = static_cast<std::uint8_t>(test.one_of.size());
  for (const std::uint32_t value : test.one_of) {
    emit(BPF_JMP | BPF_JEQ | BPF_K, value, left, 0);
    --left;
  }
  emit(BPF_JMP | BPF_JA, otherwise);
}

void FilterProgram::answer_both(long call, const Test& first, const Test& second,
                                std::uint32_t action) {
  const auto size_of = [](const Test& test) { return test.one_of.size() + 3; };
  const auto behind_second = static_cast<std::uint8_t>(1);
  const auto behind_first = static_cast<std::uint8_t>(size_of(second) + behind_second);
  emit(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0,
       static_cast<std::uint8_t>(size_of(first) + behind_first));
  emit_test(first, behind_first);
  emit_test(second, behind_second);
  emit(BPF_RET | BPF_K, action);
  load(offsetof(seccomp_data, nr));
}

void FilterProgram::answer_all_else(std::uint32_t action) { emit(BPF_RET | BPF_K, action); }

Result<void> FilterProgram::install() {
  if (architecture == 0) {
    return fail(Code::unsupported, "system calls are filtered on x86-64 and aarch64 only");
  }
  const sock_fprog program{static_cast<unsigned short>(instructions_.size()), instructions_.data()};
  const auto reason = [] { return std::generic_category().message(errno); };
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return fail(Code::unsupported, fmt::format("set no_new_privs: {}", reason()));
  }
  // SPEC_ALLOW: kernels before 5.16 would otherwise turn speculation off for every process with a
  // filter, which is for those that run code of others.
  constexpr unsigned flags = SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW;
  const long result = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
  if (result == 0) return {};
  if (result > 0) {
    return fail(Code::unsupported,
                fmt::format("filter system calls: thread {} already has a filter", result));
  }
  return fail(Code::unsupported,
              fmt::format("filter system calls (seccomp, Linux 4.17): {}", reason()));
}

}  // namespace katana::sandbox

// SPDX-License-Identifier: Apache-2.0
