#include "lab/process/server_process.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

namespace katana::lab {
namespace {

using testing::HasSubstr;

ServerCommand shell(std::string script) {
  ServerCommand command{{"/bin/sh", "-c", std::move(script)}};
  return command;
}

TEST(ServerProcess, a_started_server_has_the_port_of_its_ready_line) {
  auto server = ServerProcess::start(shell(
      "echo phase log 1.5; echo 'x: listening on http://127.0.0.1:4711 (engine x, 1 reactors)';"
      "exec sleep 60"));
  ASSERT_TRUE(server) << server.error().describe();
  EXPECT_EQ(server->port(), 4711);
  EXPECT_GT(server->ready_ms(), 0);
  EXPECT_THAT(server->ready_output(), HasSubstr("phase log 1.5\n"));
  EXPECT_GT(server->usage().rss_mib, 0);
  EXPECT_THAT(server->name(), HasSubstr("(1 process)"));
}

TEST(ServerProcess, a_server_ends_with_its_last_owner) {
  pid_t pid = 0;
  {
    auto started = ServerProcess::start(shell("echo 'x: listening on :1 (engine'; exec sleep 60"));
    ASSERT_TRUE(started) << started.error().describe();
    const ServerProcess owner = std::move(*started);
    pid = owner.pid();
    EXPECT_EQ(::kill(pid, 0), 0);
    EXPECT_FALSE(started->is_known());
  }
  EXPECT_NE(::kill(pid, 0), 0);
}

TEST(ServerProcess, the_error_has_the_last_line_of_a_server_that_gave_up) {
  const auto server = ServerProcess::start(shell("echo hello; echo first >&2; echo no disk >&2"));
  ASSERT_FALSE(server);
  EXPECT_THAT(server.error().describe(), HasSubstr("/bin/sh (no disk)"));
  EXPECT_THAT(server.error().describe(), HasSubstr("it is not ready; it printed: hello"));
}

TEST(ServerProcess, a_server_that_prints_nothing_is_not_waited_for_beyond_the_timeout) {
  ServerCommand command = shell("exec sleep 60");
  command.ready_timeout = milliseconds(50);
  const auto server = ServerProcess::start(command);
  ASSERT_FALSE(server);
  EXPECT_THAT(server.error().describe(), HasSubstr("nothing on its standard error"));
}

TEST(ServerProcess, a_ready_line_without_a_port_is_an_error) {
  const auto server =
      ServerProcess::start(shell("echo 'x: listening on a pipe (engine'; sleep 60"));
  ASSERT_FALSE(server);
  EXPECT_THAT(server.error().describe(), HasSubstr("its ready line has no port"));
}

// A socket that listens, and accepts no connection.
class Listener {
 public:
  Listener() : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {  // inherited by a child
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(fd_, 1), 0);
    socklen_t size = sizeof address;
    EXPECT_EQ(::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
  }
  ~Listener() { ::close(fd_); }
  std::uint16_t port() const { return port_; }

 private:
  int fd_;
  std::uint16_t port_ = 0;
};

TEST(ServerProcess, whoever_listens_on_a_port_is_found_and_left_alone) {
  const Listener listener;
  EXPECT_FALSE(ServerProcess::listening_on(listener.port()).is_known());  // this process only
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  {
    const ServerProcess found = ServerProcess::listening_on(listener.port());
    ASSERT_TRUE(found.is_known());
    EXPECT_EQ(found.pid(), child);
    EXPECT_EQ(found.port(), listener.port());
  }
  EXPECT_EQ(::kill(child, 0), 0);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST(ServerProcess, nobody_on_a_port_is_unknown_and_has_used_nothing) {
  const ServerProcess nobody = ServerProcess::listening_on(1);
  EXPECT_FALSE(nobody.is_known());
  EXPECT_EQ(nobody.name(), "unknown");
  EXPECT_EQ(nobody.cpu_s(), 0);
  EXPECT_EQ(nobody.usage().descriptors, 0u);
}

}  // namespace
}  // namespace katana::lab

// SPDX-License-Identifier: Apache-2.0
