#include "katana/app/sandbox/privileges.hpp"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "katana/app/sandbox/child_test.hpp"

namespace katana::sandbox {
namespace {

using testing::HasSubstr;

TEST(Privileges, a_user_is_found_by_name_and_by_number_with_all_groups) {
  const auto by_name = find_identity("daemon", "");
  ASSERT_TRUE(by_name) << by_name.error().describe();
  EXPECT_NE(by_name->user, 0u);
  EXPECT_THAT(by_name->groups, testing::Contains(by_name->group));
  const auto by_number = find_identity(std::to_string(by_name->user), "");
  ASSERT_TRUE(by_number);
  EXPECT_EQ(by_number->name, "daemon");
  const auto without_entry = find_identity("4000000", "4000001");
  ASSERT_TRUE(without_entry);
  EXPECT_EQ(without_entry->group, 4'000'001u);
}

TEST(Privileges, who_is_not_known_is_named) {
  EXPECT_THAT(find_identity("nobody-of-this-name", "").error().describe(),
              HasSubstr("there is no user 'nobody-of-this-name'"));
  EXPECT_THAT(find_identity("daemon", "no-such-group").error().describe(),
              HasSubstr("there is no group 'no-such-group'"));
  EXPECT_THAT(find_identity("4000000", "").error().describe(), HasSubstr("its group is not known"));
}

class RootTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!is_root()) GTEST_SKIP() << "only root may become another user";
    identity_ = *find_identity("daemon", "");
  }
  Identity identity_;
};

TEST_F(RootTest, no_way_leads_back) {
  EXPECT_EQ(in_child([&] {
              if (!become(identity_, Until::now)) return 1;
              if (::getuid() != identity_.user || ::getegid() != identity_.group) return 2;
              if (::setresuid(0, 0, 0) == 0 || ::setgid(0) == 0) return 3;
              if (::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) return 4;
              return ::access("/root", R_OK) == 0 ? 5 : 0;
            }),
            0);
}

TEST_F(RootTest, low_ports_are_bound_until_root_is_given_up_and_in_no_thread_after_it) {
  if (first_free_port() == 0) GTEST_SKIP() << "everybody may bind every port here";
  const auto port = static_cast<std::uint16_t>(first_free_port() - 1);
  EXPECT_EQ(in_child([&] {
              if (!become(identity_, Until::started)) return 1;
              if (bind_error(port) == EACCES) return 2;
              std::atomic<int> stage = 0;
              std::atomic<int> error = 0;
              std::thread other([&] {
                if (bind_error(port) == EACCES) error = 1000;  // it has the right as well
                stage = 1;
                stage.notify_all();
                stage.wait(1);
                error += bind_error(port);
                error += ::syscall(SYS_setresuid, -1, 0, -1) == 0 ? 2000 : 0;
              });
              stage.wait(0);
              const bool given_up = give_up_root(identity_).has_value();
              stage = 2;
              stage.notify_all();
              other.join();
              if (!given_up) return 3;
              if (error != EACCES) return 4;
              return bind_error(port) == EACCES ? 0 : 5;
            }),
            0);
}

TEST_F(RootTest, who_is_not_root_is_told_so) {
  EXPECT_EQ(in_child([&] {
              if (!become(identity_, Until::now)) return 1;
              if (!become(identity_, Until::now)) return 2;  // that is who it is already
              const auto other = become({.user = identity_.user + 1, .name = "other"}, Until::now);
              if (other) return 3;
              return other.error().describe().find("start as root") == std::string::npos ? 4 : 0;
            }),
            0);
}

TEST(Privileges, memory_that_is_private_is_not_dumped) {
  EXPECT_EQ(in_child([] {
              if (!keep_memory_private()) return 1;
              return ::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
            }),
            0);
}

}  // namespace
}  // namespace katana::sandbox

// SPDX-License-Identifier: Apache-2.0
