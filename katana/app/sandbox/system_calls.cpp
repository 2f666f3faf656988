#include "katana/app/sandbox/system_calls.hpp"

#include <fcntl.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "katana/app/sandbox/call_lists.hpp"
#include "katana/app/sandbox/filter_program.hpp"
#include "katana/app/sandbox/name_services.hpp"
#include "katana/app/sandbox/refused_calls.hpp"

namespace katana::sandbox {
namespace {

std::uint32_t action_of(Refusal refusal) {
  switch (refusal) {
    case Refusal::error: return SECCOMP_RET_TRAP;
    case Refusal::end: return SECCOMP_RET_KILL_PROCESS;
    case Refusal::report: break;
  }
  return SECCOMP_RET_LOG;
}

// The action for new processes. The call fails with EPERM and without SIGSYS, and is therefore not
// counted. The C library blocks all signals while it makes a process, and a forced signal that is
// blocked would end this one.
std::uint32_t action_of_processes(Refusal refusal) {
  return refusal == Refusal::error ? SECCOMP_RET_ERRNO | EPERM : action_of(refusal);
}

// Constants of linux/prctl.h and fcntl.h, for systems whose headers lack them.
constexpr std::uint32_t name_memory = 0x53564d41;  // PR_SET_VMA
constexpr std::uint32_t f_setown_ex = 15;          // F_SETOWN_EX, which wants _GNU_SOURCE

// Calls that are allowed with some arguments only.
class SomeCalls {
 public:
  SomeCalls(FilterProgram& program, std::uint32_t refused) : program_(program), refused_(refused) {}

  void allow(long call, const FilterProgram::Test& test) {
    program_.answer_if(call, test, SECCOMP_RET_ALLOW, refused_);
    ++count_;
  }
  void allow_but(long call, const FilterProgram::Test& test) {
    program_.answer_if(call, test, refused_, SECCOMP_RET_ALLOW);
    ++count_;
  }
  std::size_t count() const noexcept { return count_; }

 private:
  FilterProgram& program_;
  const std::uint32_t refused_;
  std::size_t count_ = 0;
};

// A thread, and no process: the flags that glibc makes one with, and no namespace among them.
void allow_threads(FilterProgram& program, std::uint32_t refused) {
  constexpr std::uint32_t others = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                   CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
  program.answer_if(SYS_clone,
                    {.argument = 0, .mask = CLONE_THREAD | others, .one_of = {CLONE_THREAD}},
                    SECCOMP_RET_ALLOW, refused);
#ifdef __x86_64__
  program.answer(SYS_fork, refused);
  program.answer(SYS_vfork, refused);
#endif
#ifdef SYS_clone3
  // The flags of clone3() are in memory, where no filter sees them. When there seems to be no such
  // call, the C library uses clone().
  program.answer(SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
#endif
}

// A datagram socket sends to any address that a message has, and a filter does not see the address.
// Therefore only Unix sockets that are connected once can be made.
void refuse_datagrams(FilterProgram& program, std::uint32_t refused) {
  constexpr std::uint32_t type_of_socket = 0xf;  // the rest of the argument are flags
  for (const long call : {SYS_socket, SYS_socketpair}) {
    program.answer_both(call, {.argument = 0, .one_of = {std::uint32_t{AF_UNIX}}},
                        {.argument = 1,
                         .mask = type_of_socket,
                         .one_of = {std::uint32_t{SOCK_DGRAM}, std::uint32_t{SOCK_RAW}}},
                        refused);
  }
}

void allow_some(SomeCalls& some) {
  const auto self = static_cast<std::uint32_t>(::getpid());
  // Memory that is written and executed would be code of an attacker that writes it.
  some.allow(SYS_mmap, {.argument = 2,
                        .mask = PROT_WRITE | PROT_EXEC,
                        .one_of = {0u, std::uint32_t{PROT_WRITE}, std::uint32_t{PROT_EXEC}}});
  some.allow(SYS_mprotect, {.argument = 2, .mask = PROT_EXEC, .one_of = {0u}});
  some.allow(SYS_socket, {.argument = 0,
                          .one_of = {std::uint32_t{AF_UNIX}, std::uint32_t{AF_INET},
                                     std::uint32_t{AF_INET6}, std::uint32_t{AF_NETLINK}}});
  some.allow(SYS_socketpair, {.argument = 0, .one_of = {std::uint32_t{AF_UNIX}}});
  // Terminals may be asked for their properties, but no input may be typed into them (TIOCSTI).
  some.allow(SYS_ioctl, {.argument = 1,
                         .one_of = {std::uint32_t{FIONBIO}, std::uint32_t{FIONREAD},
                                    std::uint32_t{FIOCLEX}, std::uint32_t{TCGETS},
                                    std::uint32_t{TIOCGWINSZ}, std::uint32_t{TIOCOUTQ}}});
  // nss-systemd loads libcap at the first lookup of a name, and libcap reads the bounding set.
  some.allow(SYS_prctl,
             {.argument = 0,
              .one_of = {std::uint32_t{PR_SET_NAME}, std::uint32_t{PR_GET_NAME},
                         std::uint32_t{PR_GET_DUMPABLE}, name_memory,
                         std::uint32_t{PR_CAPBSET_READ}, std::uint32_t{PR_SET_NO_NEW_PRIVS}}});
  // A file may send signals to another process when something arrives.
  some.allow_but(SYS_fcntl, {.argument = 1,
                             .one_of = {std::uint32_t{F_SETOWN}, std::uint32_t{F_SETSIG},
                                        std::uint32_t{f_setown_ex}}});
  some.allow(SYS_tgkill, {.argument = 0, .one_of = {self}});
  some.allow(SYS_prlimit64, {.argument = 0, .one_of = {0u, self}});
}

// Clears a personality that a process may inherit: memory that may be read may be executed.
void execute_only_what_is_mapped_so() {
  constexpr unsigned long as_it_is = 0xffffffff;
  const int present = ::personality(as_it_is);
  if (present < 0 || (present & READ_IMPLIES_EXEC) == 0) return;
  ::personality(static_cast<unsigned long>(present & ~READ_IMPLIES_EXEC));
}

}  // namespace

Result<CallCounts> allow_system_calls(const CallRules& rules) {
  const std::uint32_t refused = action_of(rules.refusal);
  if (rules.refusal == Refusal::error) {
    if (auto watched = watch_refused_calls(); !watched) return std::unexpected(watched.error());
  }
  execute_only_what_is_mapped_so();
  FilterProgram program;
  CallCounts counts;
  const auto allow = [&](int call) {
    program.answer(call, SECCOMP_RET_ALLOW);
    ++counts.allowed;
  };
  if (rules.io_uring) {
    allow(SYS_io_uring_enter);
    allow(SYS_io_uring_register);
    allow(SYS_io_uring_setup);
  }
  for (const int call : always_allowed) allow(call);
  if (rules.timers) {
    for (const int call : {SYS_timer_create, SYS_timer_settime, SYS_timer_delete}) allow(call);
  }
  for (const int call : while_starting) allow(call);
  SomeCalls some(program, refused);
  if (rules.subprocesses) {
    for (const int call : of_subprocesses) allow(call);
  } else {
    allow_threads(program, action_of_processes(rules.refusal));
    ++counts.some;
    some.allow(SYS_kill, {.argument = 0, .one_of = {static_cast<std::uint32_t>(::getpid())}});
  }
  refuse_datagrams(program, refused);
  allow_some(some);
  counts.some += some.count();
  program.answer_all_else(refused);
  if (auto installed = program.install(); !installed) return std::unexpected(installed.error());
  return counts;
}

Result<void> refuse_starting_calls(const CallRules& rules) {
  const std::uint32_t refused = action_of(rules.refusal);
  FilterProgram program;
  if (rules.io_uring) program.answer(SYS_io_uring_setup, refused);
  for (const int call : while_starting) {
    const bool stays = rules.connections && call == SYS_connect;
    if (!stays) program.answer(call, refused);
  }
  // Libraries are loaded by now. An attacker could write code into a file that the process can
  // write, into one without a name (memfd_create) or into a ring of io_uring.
  if (!rules.libraries && !rules.subprocesses) {
    if (rules.connections) load_name_services();
    program.answer_if(SYS_mmap, {.argument = 2, .mask = PROT_EXEC, .one_of = {0u}},
                      SECCOMP_RET_ALLOW, refused);
  }
  if (!rules.connections) {
    program.answer_if(SYS_socket, {.argument = 0, .one_of = {std::uint32_t{AF_UNIX}}},
                      SECCOMP_RET_ALLOW, refused);
  }
  program.answer_all_else(SECCOMP_RET_ALLOW);
  return program.install();
}

}  // namespace katana::sandbox

// SPDX-License-Identifier: Apache-2.0
