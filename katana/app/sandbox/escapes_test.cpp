// Escapes from the sandbox of a program that has started. An attacker tries to execute bytes that
// it wrote, and to reach other processes. docs/guides/sandbox.md has the same tables.
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/io_uring.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "katana/app/sandbox/child_test.hpp"
#include "katana/app/sandbox/landlock.hpp"
#include "katana/app/sandbox/name_services.hpp"
#include "katana/app/sandbox/system_calls.hpp"

namespace katana::sandbox {
namespace {

namespace fs = std::filesystem;

constexpr int not_entered = 200;
constexpr std::size_t page = 4096;

int errno_of(long result) { return result < 0 ? errno : 0; }
int map_error(int protection, int flags, int file) {
  return ::mmap(nullptr, page, protection, flags, file, 0) == MAP_FAILED ? errno : 0;
}
void* writable_page() {
  return ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

struct Attempt {
  const char* name;
  std::function<int()> act;  // errno; 0: it did it
  int error = EPERM;
};

class Escapes : public testing::Test {
 protected:
  void SetUp() override {
    const int installed =
        in_child([] { return allow_system_calls({.refusal = Refusal::report}) ? 0 : 1; });
    if (installed != 0) GTEST_SKIP() << "this kernel, or an emulator, has no seccomp filters";
    std::string name = (fs::temp_directory_path() / "katana_escapes_XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  // The result of `act` once the program serves; `before` runs before it gives up any right.
  int attempt(
      const CallRules& rules, const std::function<int()>& act,
      const std::function<void()>& before = [] {}) {
    return in_child([&] {
      std::fclose(stderr);  // refused calls are reported there
      before();
      const LandlockRules files{.read = {"/usr", "/lib", "/lib64"}, .write = {folder_.string()}};
      const bool entered =
          restrict_files(files) && allow_system_calls(rules) && refuse_starting_calls(rules);
      return entered ? act() : not_entered;
    });
  }
  void expect_refused(const CallRules& rules, const std::vector<Attempt>& attempts) {
    for (const Attempt& each : attempts) {
      EXPECT_EQ(attempt(rules, each.act), each.error) << each.name;
    }
  }
  std::string file() const { return (folder_ / "code").string(); }
  int open_written_file() const {
    const int made = ::open(file().c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0700);
    static const char code[page] = {'\xc3'};
    return made >= 0 && ::write(made, code, sizeof code) == sizeof code ? made : -1;
  }
  // A name in no folder; "@" is the zero in front.
  static sockaddr_un abstract(const std::string& name, socklen_t& size) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    return address;
  }

  fs::path folder_;
};

TEST_F(Escapes, bytes_that_it_wrote_are_not_executed) {
  constexpr int anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
  expect_refused(
      {.io_uring = true, .connections = true},
      {{"memory that is written and executed",
        [&] { return map_error(PROT_READ | PROT_WRITE | PROT_EXEC, anonymous, -1); }},
       {"memory that is executed", [&] { return map_error(PROT_EXEC, anonymous, -1); }},
       {"memory that becomes executed",
        [] { return errno_of(::mprotect(writable_page(), page, PROT_READ | PROT_EXEC)); }},
       {"the same by pkey_mprotect",
        [] {
          return errno_of(::syscall(SYS_pkey_mprotect, writable_page(), page, PROT_EXEC, -1));
        }},
       {"a file without a name", [] { return errno_of(::syscall(SYS_memfd_create, "x", 0u)); }},
       {"the same, sealed",
        [] { return errno_of(::syscall(SYS_memfd_create, "x", 8u /* MFD_NOEXEC_SEAL */)); }},
       {"a file that it wrote, mapped",
        [this] {
          const int written = open_written_file();
          return written < 0 ? 1 : map_error(PROT_READ | PROT_EXEC, MAP_PRIVATE, written);
        }},
       {"the same, shared",
        [this] {
          const int written = open_written_file();
          return written < 0 ? 1 : map_error(PROT_READ | PROT_EXEC, MAP_SHARED, written);
        }},
       {"a file that it wrote, run",
        [this] {
          const int written = open_written_file();
          char* const arguments[] = {nullptr};
          return errno_of(::syscall(SYS_execveat, written, "", arguments, arguments,
                                    0x1000 /* AT_EMPTY_PATH */));
        }},
       {"shared memory of System V",
        [] { return errno_of(::shmget(IPC_PRIVATE, page, IPC_CREAT | 0700)); }},
       {"the same, attached", [] { return errno_of(::syscall(SYS_shmat, 0, nullptr, SHM_EXEC)); }},
       {"pages of a file in another order",
        [] { return errno_of(::syscall(SYS_remap_file_pages, writable_page(), page, 0, 0, 0)); }},
       {"reading that implies executing",
        [] { return errno_of(::syscall(SYS_personality, READ_IMPLIES_EXEC)); }},
       {"pages that it fills when they are touched",
        [] { return errno_of(::syscall(SYS_userfaultfd, 0)); }},
       {"a library that is loaded",
        [] { return ::dlopen("libanl.so.1", RTLD_NOW) == nullptr ? EPERM : 0; }},
       {"a further ring", [] { return errno_of(::syscall(SYS_io_uring_setup, 4, nullptr)); }}});
}

TEST_F(Escapes, the_rings_of_the_engine_are_memory_and_no_code) {
  int ring = -1;
  const auto make_ring = [&] {
    io_uring_params parameters{};
    ring = static_cast<int>(::syscall(SYS_io_uring_setup, 4, &parameters));
  };
  const CallRules rules{.io_uring = true};
  const auto map_ring = [&](int protection) {
    if (ring < 0) return 0;  // this kernel has none, or root does not give them
    void* const mapped = ::mmap(nullptr, page, protection, MAP_SHARED, ring, IORING_OFF_SQES);
    return mapped == MAP_FAILED ? errno : 0;
  };
  EXPECT_EQ(attempt(rules, [&] { return map_ring(PROT_READ | PROT_WRITE); }, make_ring), 0);
  EXPECT_EQ(
      attempt(
          rules, [&] { return ring < 0 ? EPERM : map_ring(PROT_READ | PROT_EXEC); }, make_ring),
      EPERM);
}

TEST_F(Escapes, its_own_code_is_not_overwritten) {
  const auto write_memory = [] {
    static char word[8] = {};
    iovec part{word, sizeof word};
    return errno_of(::syscall(SYS_process_vm_writev, ::getpid(), &part, 1, &part, 1, 0));
  };
  expect_refused(
      {}, {{"by process_vm_writev", write_memory},
           {"by ptrace", [] { return errno_of(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr)); }}});
  if (landlock_version() == 0) GTEST_SKIP() << "this kernel has no Landlock";
  // It would be written whatever the protection of its pages.
  expect_refused({},
                 {{"by /proc/self/mem",
                   [] { return errno_of(::open("/proc/self/mem", O_RDWR | O_CLOEXEC)); }, EACCES}});
}

TEST_F(Escapes, a_process_that_inherited_the_habit_loses_it) {
  const auto begin = [] { ::personality(READ_IMPLIES_EXEC); };
  const auto is_executed = [] {
    void* const mapped = writable_page();
    char first[32];
    std::snprintf(first, sizeof first, "%lx-", reinterpret_cast<unsigned long>(mapped));
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      const std::size_t space = line.find(' ');
      if (line.starts_with(first)) return line.substr(space + 1, 3) == "rw-" ? 0 : 1;
    }
    return 2;
  };
  EXPECT_EQ(in_child([&] {
              begin();
              return is_executed();
            }),
            1)
      << "or this proves nothing";
  EXPECT_EQ(in_child([&] {
              std::fclose(stderr);
              begin();
              return allow_system_calls({}) ? is_executed() : not_entered;
            }),
            0);
}

TEST_F(Escapes, libraries_are_loaded_where_the_rules_say_so) {
  const auto map_library = [] {
    const int library = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    return library < 0 ? not_entered : map_error(PROT_READ | PROT_EXEC, MAP_PRIVATE, library);
  };
  const auto under = [&](const CallRules& rules) {
    return in_child([&] {
      std::fclose(stderr);
      const bool entered = allow_system_calls(rules) && refuse_starting_calls(rules);
      return entered ? map_library() : not_entered;
    });
  };
  EXPECT_EQ(under({}), EPERM);
  EXPECT_EQ(under({.libraries = true}), 0);
  EXPECT_EQ(under({.subprocesses = true}), 0) << "a program that it runs loads its own so";
  EXPECT_EQ(in_child([&] {
              std::fclose(stderr);
              return allow_system_calls({}) ? map_library() : not_entered;
            }),
            0)
      << "while it starts";
}

TEST_F(Escapes, no_datagram_leaves_for_a_unix_socket) {
  std::vector<Attempt> attempts;
  for (const int type : std::initializer_list<int>{SOCK_DGRAM, SOCK_RAW,
                                                   SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK}) {
    attempts.push_back({"a socket", [type] { return errno_of(::socket(AF_UNIX, type, 0)); }});
    attempts.push_back({"a pair", [type] {
                          int both[2];
                          return errno_of(::socketpair(AF_UNIX, type, 0, both));
                        }});
  }
  expect_refused({}, attempts);
  expect_refused({.connections = true}, attempts);
}

TEST_F(Escapes, pairs_that_are_connected_for_good_are_made) {
  for (const int type :
       std::initializer_list<int>{SOCK_STREAM, SOCK_SEQPACKET, SOCK_STREAM | SOCK_CLOEXEC}) {
    EXPECT_EQ(attempt({},
                      [type] {
                        int both[2];
                        if (::socketpair(AF_UNIX, type, 0, both) != 0) return errno;
                        return ::write(both[0], "x", 1) == 1 ? 0 : errno;
                      }),
              0);
  }
}

TEST_F(Escapes, other_processes_get_no_signal) {
  const pid_t other = ::getpid();
  const auto own_pipe = [](int command, long argument) {
    int both[2];
    if (::pipe(both) != 0) return not_entered;
    return errno_of(::fcntl(both[0], command, argument));
  };
  f_owner_ex owner{F_OWNER_PID, other};
  expect_refused(
      {.connections = true},
      {{"kill", [&] { return errno_of(::kill(other, SIGTERM)); }},
       {"tgkill", [&] { return errno_of(::syscall(SYS_tgkill, other, other, SIGTERM)); }},
       {"sigqueue", [&] { return errno_of(::sigqueue(other, SIGTERM, {})); }},
       {"a descriptor of the process",
        [&] { return errno_of(::syscall(SYS_pidfd_open, other, 0)); }},
       {"F_SETOWN", [&] { return own_pipe(F_SETOWN, other); }},
       {"F_SETOWN_EX", [&] { return own_pipe(F_SETOWN_EX, reinterpret_cast<long>(&owner)); }},
       {"F_SETSIG", [&] { return own_pipe(F_SETSIG, SIGTERM); }}});
  EXPECT_EQ(attempt({}, [&] { return own_pipe(F_SETFL, O_NONBLOCK); }), 0);
}

// The server of a database or a bus that the configuration names.
TEST_F(Escapes, a_unix_socket_with_a_file_is_connected_to_where_connections_are_allowed) {
  const std::string path = (folder_ / "server").string();
  const int server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  const auto* const to = reinterpret_cast<const sockaddr*>(&address);
  ASSERT_EQ(::bind(server, to, sizeof address), 0);
  ASSERT_EQ(::listen(server, 4), 0);
  const auto connect = [&] {
    const int client = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return errno_of(::connect(client, to, sizeof address));
  };
  EXPECT_EQ(attempt({.connections = true}, connect), 0);
  EXPECT_EQ(attempt({}, connect), EPERM);
  ::close(server);
}

TEST_F(Escapes, an_abstract_unix_socket_of_another_process_is_not_connected_to) {
  if (landlock_version() < 6) GTEST_SKIP() << "this kernel's Landlock knows no such sockets";
  const std::string name = "katana_escapes_" + std::to_string(::getpid());
  socklen_t size = 0;
  const sockaddr_un address = abstract(name, size);
  const auto* const to = reinterpret_cast<const sockaddr*>(&address);
  const int server = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(server, to, size), 0);
  ASSERT_EQ(::listen(server, 4), 0);
  const auto connect = [&] {
    const int client = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return errno_of(::connect(client, to, size));
  };
  EXPECT_EQ(attempt({.connections = true}, connect), EPERM);
  EXPECT_EQ(in_child([&] {
              const bool entered = restrict_files({.abstract_sockets = true}).has_value();
              return entered ? connect() : not_entered;
            }),
            0);
  ::close(server);
}

TEST(NameServices, are_those_of_the_databases_that_are_looked_up) {
  EXPECT_EQ(name_services_in("# comment hosts: no\n"
                             "passwd:   files systemd\n"
                             "hosts:\tfiles mdns4_minimal [NOTFOUND=return] dns # myhostname\n"
                             "networks: files ldap\n"
                             "group: sss ../evil"),
            (std::vector<std::string>{"files", "systemd", "mdns4_minimal", "dns", "sss"}));
  EXPECT_TRUE(name_services_in("").empty());
  EXPECT_TRUE(name_services_in("hosts: [").empty());
}

}  // namespace
}  // namespace katana::sandbox

// SPDX-License-Identifier: Apache-2.0
