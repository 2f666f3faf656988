#include "katana/http/server/inherited_listeners.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "katana/net/engine/sockets.hpp"

namespace katana::server {
namespace {

// Descriptors from 3 on are set, so each case is a separate process.
class InheritedListenersTest : public testing::Test {
 protected:
  // Sockets become 3, 4, …, with these names.
  static void inherit(const std::vector<int>& sockets, const std::string& names) {
    std::vector<int> high;
    for (const int each : sockets) high.push_back(::fcntl(each, F_DUPFD, 100));
    for (std::size_t index = 0; index < high.size(); ++index) {
      ::dup2(high[index], 3 + static_cast<int>(index));
    }
    ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
    ::setenv("LISTEN_FDS", std::to_string(sockets.size()).c_str(), 1);
    ::setenv("LISTEN_FDNAMES", names.c_str(), 1);
  }
  template <class Check>
  static bool holds_in_a_child(Check check) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(check() ? 0 : 1);
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

  int first_ = *engine::open_listener({});
  std::uint16_t port_ = engine::port_of(first_);
  int second_ = *engine::open_listener({.port = port_, .must_be_free = false});
  int other_ = *engine::open_listener({});
  std::uint16_t other_port_ = engine::port_of(other_);
};

TEST_F(InheritedListenersTest, all_queues_of_an_address_are_taken_at_once_whatever_their_name) {
  EXPECT_TRUE(holds_in_a_child([&] {
    inherit({first_, other_, second_}, "katana.http:katana.operations:katana.http");
    const auto made = InheritedListeners::of_this_process();
    if (!made || *made == nullptr) return false;
    InheritedListeners& all = **made;
    return all.take("katana.listener.0", "127.0.0.1", port_) == std::vector<int>{3, 5} &&
           all.take("katana.listener.0", "127.0.0.1", port_).empty() &&
           all.take("katana.http", "127.0.0.2", other_port_).empty() &&
           all.take("katana.http", "127.0.0.1", other_port_) == std::vector<int>{4};
  }));
}

TEST_F(InheritedListenersTest, for_a_port_that_the_kernel_chooses_the_name_says_which) {
  EXPECT_TRUE(holds_in_a_child([&] {
    inherit({first_, other_}, "katana.http:katana.operations");
    const auto made = InheritedListeners::of_this_process();
    return made && *made != nullptr &&
           (*made)->take("katana.operations", "127.0.0.1", 0) == std::vector<int>{4} &&
           (*made)->take("katana.listener.0", "127.0.0.1", 0).empty();
  }));
}

TEST_F(InheritedListenersTest, the_program_before_hears_which_were_taken) {
  EXPECT_TRUE(holds_in_a_child([&] {
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return false;
    const int before = ::fcntl(pair[0], F_DUPFD, 200);
    inherit({first_, other_, pair[1]}, "katana.http:katana.operations:katana.ready");
    const auto made = InheritedListeners::of_this_process();
    if (!made || *made == nullptr) return false;
    if ((*made)->take("katana.operations", "127.0.0.1", other_port_).empty()) return false;
    (*made)->tell_ready();
    char line[64] = {};
    return ::recv(before, line, sizeof line, 0) > 0 && std::string(line) == "ready 01\n";
  }));
}

TEST_F(InheritedListenersTest, sockets_of_the_service_manager_are_none_of_them) {
  EXPECT_TRUE(holds_in_a_child([&] {
    inherit({first_}, "notes.socket");
    const auto made = InheritedListeners::of_this_process();
    return made && *made == nullptr && std::getenv("LISTEN_FDS") != nullptr;
  }));
}

TEST_F(InheritedListenersTest, a_descriptor_that_is_not_open_is_named) {
  EXPECT_TRUE(holds_in_a_child([&] {
    inherit({}, "katana.http");
    ::setenv("LISTEN_FDS", "1", 1);
    ::close(3);
    const auto made = InheritedListeners::of_this_process();
    return !made && made.error().describe().find("descriptor 3 is not open") != std::string::npos;
  }));
}

}  // namespace
}  // namespace katana::server

// SPDX-License-Identifier: Apache-2.0
