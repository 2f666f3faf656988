#include "katana/stores/database/postgres/poller.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

namespace katana::database::postgres {
namespace {

class PostgresPoller : public testing::Test {
 protected:
  struct Watcher final : SocketWatcher {
    void on_socket(bool readable) noexcept override { heard += readable ? 1 : 0; }
    int heard = 0;
  };
  PostgresPoller() {
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair_.data()), 0);
  }
  void make_readable() { EXPECT_EQ(::write(pair_[1], "x", 1), 1); }

  std::array<int, 2> pair_ = {};
  std::unique_ptr<Poller> poller_ = *Poller::create();
};

TEST_F(PostgresPoller, what_is_readable_is_heard_until_it_is_read_or_unwatched) {
  Watcher watcher;
  ASSERT_TRUE(poller_->watch(pair_[0], true, false, watcher));
  make_readable();
  poller_->dispatch(0);
  poller_->dispatch(0);
  EXPECT_EQ(watcher.heard, 2);
  ASSERT_TRUE(poller_->watch(pair_[0], false, false, watcher));
  poller_->dispatch(0);
  EXPECT_EQ(watcher.heard, 2);
  ASSERT_TRUE(poller_->watch(pair_[0], true, false, watcher));
  poller_->unwatch(pair_[0], watcher);
  poller_->dispatch(0);
  EXPECT_EQ(watcher.heard, 2);
  ::close(pair_[0]);
  ::close(pair_[1]);
}

// libpq closes a socket in this way, while a child between fork() and exec() has a copy.
TEST_F(PostgresPoller, a_socket_that_was_closed_and_lives_on_elsewhere_is_heard_by_nobody) {
  const int copy = ::dup(pair_[0]);
  {
    Watcher gone;
    ASSERT_TRUE(poller_->watch(pair_[0], true, false, gone));
    ::close(pair_[0]);
    poller_->unwatch(-1, gone);
  }
  Watcher next;
  std::array<int, 2> other = {};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, other.data()), 0);
  ASSERT_TRUE(poller_->watch(other[0], true, false, next));
  make_readable();
  poller_->dispatch(0);
  EXPECT_EQ(next.heard, 0);
  EXPECT_EQ(::write(other[1], "x", 1), 1);
  poller_->dispatch(0);
  EXPECT_EQ(next.heard, 1);
  for (const int each : {copy, pair_[1], other[0], other[1]}) ::close(each);
}

}  // namespace
}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
