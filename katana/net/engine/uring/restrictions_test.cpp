#include "katana/net/engine/uring/restrictions.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "katana/net/engine/uring/features.hpp"
#include "katana/net/engine/uring/ring.hpp"

namespace katana::engine {
namespace {

// Returns the kernel's result for one entry on a ring that is started as the engine starts it.
template <class Prepare>
int answer_to(Prepare prepare) {
  Ring ring;
  if (auto started = ring.start({}); !started) return 1;
  ring.enter({});  // enables it
  io_uring_sqe* const entry = ring.next();
  prepare(*entry);
  ring.enter({.at_most = seconds(1)});
  int result = 1;
  ring.reap([&](const io_uring_cqe& completion) { result = completion.res; });
  return result;
}

class RestrictionsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!probe_uring()) GTEST_SKIP() << "no io_uring here";
  }
};

TEST_F(RestrictionsTest, a_ring_opens_no_file_and_connects_nowhere) {
  EXPECT_EQ(answer_to([](io_uring_sqe& entry) {
              io_uring_prep_openat(&entry, AT_FDCWD, "/etc/passwd", O_RDONLY, 0);
            }),
            -EACCES);
  EXPECT_EQ(answer_to([](io_uring_sqe& entry) { io_uring_prep_connect(&entry, 0, nullptr, 0); }),
            -EACCES);
}

TEST_F(RestrictionsTest, a_ring_does_what_the_engine_submits) {
  const int file = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
  char octets[4] = {1, 1, 1, 1};
  EXPECT_EQ(answer_to([&](io_uring_sqe& entry) {
              io_uring_prep_read(&entry, file, octets, sizeof octets, 0);
            }),
            4);
  ::close(file);
}

}  // namespace
}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
