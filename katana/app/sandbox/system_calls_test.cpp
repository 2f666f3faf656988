#include "katana/app/sandbox/system_calls.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <thread>

#include "katana/app/sandbox/child_test.hpp"
#include "katana/app/sandbox/refused_calls.hpp"

namespace katana::sandbox {
namespace {

constexpr int not_installed = 100;

// The child's answer to `act`, under `rules`.
template <class F>
int under(const CallRules& rules, F act) {
  return in_child([&] {
    std::fclose(stderr);  // the handler reports there
    return allow_system_calls(rules) ? act() : not_installed;
  });
}

template <class F>
int once_started(const CallRules& rules, F act) {
  return under(rules, [&] { return refuse_starting_calls(rules) ? act() : not_installed; });
}

int error_of(long result) { return result < 0 ? errno : 0; }

class SystemCalls : public testing::Test {
 protected:
  void SetUp() override {
    const int installed =
        in_child([] { return allow_system_calls({.refusal = Refusal::report}) ? 0 : 1; });
    if (installed != 0) GTEST_SKIP() << "this kernel, or an emulator, has no seccomp filters";
  }
};

TEST_F(SystemCalls, what_a_program_does_all_day_is_allowed) {
  EXPECT_EQ(once_started({},
                         [] {
                           int pipes[2];
                           if (::pipe2(pipes, O_CLOEXEC) != 0) return 1;
                           if (::write(pipes[1], "x", 1) != 1) return 2;
                           std::atomic<int> seen = 0;
                           std::thread([&] { seen = 1; }).join();
                           if (seen != 1) return 3;
                           void* const page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE,
                                                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                           return page == MAP_FAILED ? 4 : 0;
                         }),
            0);
}

TEST_F(SystemCalls, rights_may_be_read_and_not_changed) {
  EXPECT_EQ(once_started({}, [] { return error_of(::prctl(PR_CAPBSET_READ, 0, 0, 0, 0)); }), 0);
  EXPECT_EQ(once_started({}, [] { return error_of(::prctl(PR_CAPBSET_DROP, 0, 0, 0, 0)); }), EPERM);
}

TEST_F(SystemCalls, escapes_fail_and_are_counted) {
  EXPECT_EQ(under({},
                  [] {
                    char name[] = "/bin/true";
                    char* const arguments[] = {name, nullptr};
                    if (::execv(name, arguments) == 0 || errno != EPERM) return 1;
                    if (::fork() != -1 || errno != EPERM) return 2;
                    if (error_of(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr)) != EPERM) return 3;
                    if (error_of(::syscall(SYS_bpf, 0, nullptr, 0)) != EPERM) return 4;
                    if (error_of(::syscall(SYS_mount, "a", "b", "c", 0, nullptr)) != EPERM)
                      return 5;
                    if (error_of(::syscall(SYS_unshare, 0x10000000)) != EPERM) return 6;
                    if (error_of(::syscall(SYS_io_uring_setup, 4, nullptr)) != EPERM) return 7;
                    if (error_of(::socket(AF_PACKET, SOCK_RAW, 0)) != EPERM) return 8;
                    if (error_of(::kill(::getppid(), SIGTERM)) != EPERM) return 9;
                    if (refused_calls(SYS_execve) != 1 || refused_calls() != 8) return 10;
                    return 0;
                  }),
            0);
}

TEST_F(SystemCalls, a_program_that_is_not_spawned_is_an_error_and_not_the_end) {
  EXPECT_EQ(under({},
                  [] {
                    char name[] = "/bin/true";
                    char* const arguments[] = {name, nullptr};
                    pid_t child = 0;
                    return ::posix_spawn(&child, name, nullptr, nullptr, arguments, nullptr);
                  }),
            EPERM);
}

TEST_F(SystemCalls, memory_is_either_written_or_executed) {
  EXPECT_EQ(under({},
                  [] {
                    constexpr int both = PROT_READ | PROT_WRITE | PROT_EXEC;
                    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS;
                    if (::mmap(nullptr, 4096, both, flags, -1, 0) != MAP_FAILED) return 1;
                    void* const page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, flags, -1, 0);
                    if (page == MAP_FAILED) return 2;
                    return error_of(::mprotect(page, 4096, PROT_READ | PROT_EXEC)) == EPERM ? 0 : 3;
                  }),
            0);
}

TEST_F(SystemCalls, a_start_may_listen_and_connect_and_a_program_that_serves_may_not) {
  const auto listens = [] {
    const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    return socket < 0 ? 200 : error_of(::listen(socket, 1));
  };
  EXPECT_NE(under({}, listens), EPERM);
  EXPECT_EQ(once_started({}, listens), EPERM);
  const auto asks_for_ip = [] { return error_of(::socket(AF_INET, SOCK_DGRAM, 0)); };
  EXPECT_EQ(under({}, asks_for_ip), 0);
  EXPECT_EQ(once_started({}, asks_for_ip), EPERM);
  EXPECT_EQ(once_started({.connections = true}, asks_for_ip), 0);
}

TEST_F(SystemCalls, further_rings_are_refused_once_the_program_serves) {
  const auto makes_a_ring = [] { return error_of(::syscall(SYS_io_uring_setup, 4, nullptr)); };
  EXPECT_NE(under({.io_uring = true}, makes_a_ring), EPERM);
  EXPECT_EQ(once_started({.io_uring = true}, makes_a_ring), EPERM);
}

TEST_F(SystemCalls, threads_that_are_there_already_are_under_the_filter_too) {
  EXPECT_EQ(in_child([] {
              std::fclose(stderr);
              std::atomic<int> stage = 0;
              std::atomic<int> error = 0;
              std::thread earlier([&] {
                stage.wait(0);
                error = error_of(::syscall(SYS_unshare, 0x10000000));
              });
              const bool allowed = allow_system_calls({}).has_value();
              stage = 1;
              stage.notify_all();
              earlier.join();
              return !allowed ? not_installed : error.load();
            }),
            EPERM);
}

TEST_F(SystemCalls, a_refusal_may_end_the_process) {
  EXPECT_EQ(under({.refusal = Refusal::end}, [] { return error_of(::syscall(SYS_bpf, 0, 0, 0)); }),
            -SIGSYS);
}

TEST_F(SystemCalls, a_report_refuses_nothing) {
  const auto asks = [] { return error_of(::syscall(SYS_personality, 0xffffffff)); };
  EXPECT_EQ(under({}, asks), EPERM);
  EXPECT_EQ(under({.refusal = Refusal::report}, asks), 0);
}

TEST_F(SystemCalls, timers_are_made_where_they_are_allowed) {
  const auto make_timer = [] {
    sigevent event{};
    event.sigev_notify = SIGEV_NONE;
    timer_t timer{};
    if (::timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0) return errno;
    itimerspec never{};
    if (::timer_settime(timer, 0, &never, nullptr) != 0) return errno;
    return error_of(::timer_delete(timer));
  };
  EXPECT_EQ(once_started({}, make_timer), EPERM);
  EXPECT_EQ(once_started({.timers = true}, make_timer), 0);
}

TEST_F(SystemCalls, subprocesses_are_made_where_they_are_allowed) {
  EXPECT_EQ(once_started({.subprocesses = true}, [] { return in_child([] { return 7; }); }), 7);
}

}  // namespace
}  // namespace katana::sandbox

// SPDX-License-Identifier: Apache-2.0
