// ServiceManager: against a real datagram socket, and real listening sockets.
#include "katana/app/service_manager.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <map>
#include <string>

namespace katana::app {
namespace {

using testing::HasSubstr;

// The socket that systemd has at the other end.
class Listener {
 public:
  explicit Listener(const std::string& name)
      : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (address.sun_path[0] == '@') address.sun_path[0] = 0;
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), size), 0) << name;
  }
  ~Listener() { ::close(fd_); }
  std::string receive() const {
    char text[512];
    const ssize_t size = ::recv(fd_, text, sizeof text, MSG_DONTWAIT);
    return size < 0 ? "nothing" : std::string(text, static_cast<std::size_t>(size));
  }

 private:
  int fd_;
};

class ServiceManagerTest : public testing::Test {
 protected:
  Result<ServiceManager> make() {
    return ServiceManager::make(
        [this](const char* name) {
          const auto found = variables.find(name);
          return found == variables.end() ? nullptr : found->second.c_str();
        },
        4711);
  }
  std::string problem() {
    auto made = make();
    return made ? "none" : made.error().describe();
  }
  std::map<std::string, std::string> variables;
  const std::string address = "@katana-notify-" + std::to_string(::getpid());
};

TEST_F(ServiceManagerTest, without_variables_everything_is_done_and_nothing_happens) {
  auto manager = make();
  ASSERT_TRUE(manager);
  EXPECT_FALSE(manager->listens());
  EXPECT_EQ(manager->watchdog(), Duration{});
  EXPECT_TRUE(manager->listeners().empty());
  EXPECT_TRUE(manager->ready("serving"));
}

TEST_F(ServiceManagerTest, each_word_is_one_datagram) {
  const Listener listener(address);
  variables = {{"NOTIFY_SOCKET", address}};
  auto manager = make();
  ASSERT_TRUE(manager);
  EXPECT_TRUE(manager->listens());
  EXPECT_TRUE(manager->ready("serving\non two lines"));
  EXPECT_EQ(listener.receive(), "READY=1\nSTATUS=serving on two lines");
  EXPECT_TRUE(manager->reloading({5'000'123}));
  EXPECT_EQ(listener.receive(), "RELOADING=1\nMONOTONIC_USEC=5000");
  EXPECT_TRUE(manager->stopping("draining"));
  EXPECT_EQ(listener.receive(), "STOPPING=1\nSTATUS=draining");
  EXPECT_TRUE(manager->alive());
  EXPECT_EQ(listener.receive(), "WATCHDOG=1");
  EXPECT_EQ(listener.receive(), "nothing");
}

TEST_F(ServiceManagerTest, a_path_works_as_a_name_does) {
  const std::string path = testing::TempDir() + "notify-" + std::to_string(::getpid());
  const Listener listener(path);
  variables = {{"NOTIFY_SOCKET", path}};
  EXPECT_TRUE(make()->alive());
  EXPECT_EQ(listener.receive(), "WATCHDOG=1");
  ::unlink(path.c_str());
}

TEST_F(ServiceManagerTest, nobody_at_the_other_end_is_an_error_and_no_more) {
  variables = {{"NOTIFY_SOCKET", "@nobody-" + address.substr(1)}};
  auto manager = make();
  ASSERT_TRUE(manager);
  const auto told = manager->ready("");
  ASSERT_FALSE(told);
  EXPECT_THAT(told.error().describe(), HasSubstr("NOTIFY_SOCKET '@nobody-"));
}

TEST_F(ServiceManagerTest, the_watchdog_is_for_the_process_that_is_named) {
  variables = {{"WATCHDOG_USEC", "3000000"}};
  EXPECT_EQ(make()->watchdog(), seconds(3));
  variables["WATCHDOG_PID"] = "4711";
  EXPECT_EQ(make()->watchdog(), seconds(3));
  variables["WATCHDOG_PID"] = "4712";
  EXPECT_EQ(make()->watchdog(), Duration{});
}

TEST_F(ServiceManagerTest, sockets_are_for_the_process_that_is_named) {
  variables = {{"LISTEN_FDS", "1"}, {"LISTEN_PID", "4712"}};
  EXPECT_TRUE(make()->listeners().empty());
  variables["LISTEN_PID"] = "4711";
  const int kept = ::fcntl(3, F_DUPFD_CLOEXEC, 100);  // -1: nothing has descriptor 3
  const int given = ::socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_GE(::dup2(given, 3), 0);
  auto manager = make();
  ASSERT_TRUE(manager);
  EXPECT_EQ(manager->listeners(), std::vector<int>{3});
  EXPECT_EQ(::fcntl(3, F_GETFD), FD_CLOEXEC);
  if (given != 3) ::close(given);
  ::close(3);
  EXPECT_THAT(problem(), HasSubstr("descriptor 3 is not open"));
  if (kept >= 0) {
    ::dup2(kept, 3);
    ::close(kept);
  }
}

TEST_F(ServiceManagerTest, a_variable_that_is_wrong_is_named) {
  variables = {{"WATCHDOG_USEC", "soon"}};
  EXPECT_THAT(problem(), HasSubstr("WATCHDOG_USEC is 'soon'"));
  variables = {{"LISTEN_FDS", "-1"}};
  EXPECT_THAT(problem(), HasSubstr("LISTEN_FDS is '-1'"));
  variables = {{"NOTIFY_SOCKET", "relative"}};
  EXPECT_THAT(problem(), HasSubstr("NOTIFY_SOCKET is 'relative'"));
  variables = {{"NOTIFY_SOCKET", "/" + std::string(200, 'x')}};
  EXPECT_THAT(problem(), HasSubstr("neither a path nor"));
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
