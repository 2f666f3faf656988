#include "katana/net/engine/uring/features.hpp"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "katana/net/engine/uring/ring.hpp"

namespace katana::engine {
namespace {

TEST(UringFeatures, this_machine_says_yes_or_why_not) {
  const auto features = probe_uring();
  if (features) {
    EXPECT_EQ(features->missing().empty(), features->incremental && features->min_wait);
  } else {
    EXPECT_NE(features.error().describe().find("--engine epoll-edge"), std::string::npos)
        << features.error().describe();
  }
}

TEST(UringFeatures, what_is_missing_is_one_line_with_the_kernel_that_has_it) {
  EXPECT_EQ(UringFeatures(true, true).missing(), "");
  EXPECT_NE(UringFeatures(false, true).missing().find("6.16"), std::string::npos);
  EXPECT_NE(UringFeatures(true, false).missing().find("6.12"), std::string::npos);
  EXPECT_EQ(UringFeatures(false, false).missing().find('\n'), std::string::npos);
}

TEST(UringFeatures, an_error_names_its_cause_and_a_way_out) {
  struct Case {
    int error_number;
    Code code;
    const char* cause;
  };
  for (const Case& each : {Case{EPERM, Code::permission_denied, "forbidden"},
                           Case{ENOSYS, Code::unavailable, "no io_uring"},
                           Case{EINVAL, Code::unavailable, "Linux 6.1"},
                           Case{ENOMEM, Code::resource_exhausted, "ulimit -l"}}) {
    const Error error = uring_error("start io_uring", each.error_number);
    EXPECT_EQ(error.code(), each.code);
    for (const char* const part : {each.cause, "start io_uring", "--engine epoll-edge"}) {
      EXPECT_NE(error.message().find(part), std::string::npos) << error.message();
    }
  }
  EXPECT_NE(uring_error("start io_uring", EMFILE).message().find("ulimit -n"), std::string::npos);
}

TEST(UringFeatures, a_ring_waits_for_memory_that_the_kernel_gives_back_later) {
  std::vector<std::int64_t> pauses;
  int left = 3;
  const auto make = [&] { return left-- > 0 ? -ENOMEM : 0; };
  const auto pause = [&](Duration next) { pauses.push_back(next.count_ms()); };
  EXPECT_EQ(make_when_memory_is_free(make, pause), 0);
  EXPECT_EQ(pauses, (std::vector<std::int64_t>{1, 2, 4}));
}

TEST(UringFeatures, a_ring_gives_up_in_time_and_waits_for_nothing_but_memory) {
  Duration waited{};
  int calls = 0;
  const auto pause = [&](Duration next) { waited += next; };
  EXPECT_EQ(make_when_memory_is_free([&] { return ++calls, -ENOMEM; }, pause), -ENOMEM);
  EXPECT_GE(waited, memory_wait_max);
  EXPECT_LT(waited, memory_wait_max + milliseconds(128));
  EXPECT_EQ(calls, 23);  // pauses of 1, 2, 4 … 64 ms, and fifteen of 128 ms
  waited = {};
  EXPECT_EQ(make_when_memory_is_free([] { return -EPERM; }, pause), -EPERM);
  EXPECT_EQ(waited, Duration{});
}

// From now on io_uring_setup() fails with this error in this process, as in a container.
void forbid_io_uring(unsigned error_number) {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_io_uring_setup, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error_number),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(code)), code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    std::exit(3);
  }
}

[[noreturn]] void probe_and_say(unsigned error_number) {
  forbid_io_uring(error_number);
  const auto features = probe_uring();
  if (features) std::exit(4);
  std::fprintf(stderr, "%s", features.error().describe().c_str());
  std::exit(0);
}

TEST(UringFeaturesDeathTest, a_seccomp_filter_is_named) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(probe_and_say(EPERM), testing::ExitedWithCode(0), "forbidden here");
  EXPECT_EXIT(probe_and_say(ENOSYS), testing::ExitedWithCode(0), "a container hides it");
}

}  // namespace
}  // namespace katana::engine

// SPDX-License-Identifier: Apache-2.0
