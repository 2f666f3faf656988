#include "katana/base/thread/loop.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <string>
#include <thread>

namespace katana::thread {
namespace {

// A thread of this process, seen from another one.
struct Watched {
  pid_t id = ::gettid();
  pthread_t thread = ::pthread_self();

  bool sleeps() const {
    std::ifstream file("/proc/self/task/" + std::to_string(id) + "/stat");
    std::string stat;
    std::getline(file, stat);
    const std::size_t name_end = stat.rfind(')');
    return name_end != std::string::npos && stat.substr(name_end + 2, 1) == "S";
  }
  double processor_time_s() const {
    clockid_t clock{};
    timespec time{};
    ::pthread_getcpuclockid(thread, &clock);
    ::clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
  }
};

struct Letter : Message {
  explicit Letter(Executor& to) : Message(&Letter::open), home(to) { to.expect(); }
  static void open(Message& message) noexcept {
    auto& letter = static_cast<Letter&>(message);
    letter.home.unexpect();
    letter.opened_by = std::this_thread::get_id();
  }
  Executor& home;
  std::thread::id opened_by;
};

TEST(Loop, sleeps_while_nothing_comes) {
  Loop loop;
  const Watched looping;
  for (int round = 0; round < 3; ++round) {
    Letter letter(loop);
    const double limit_s = looping.processor_time_s() + 2;
    std::thread sender([&] {
      bool sleeps = looping.sleeps();
      for (; !sleeps && looping.processor_time_s() < limit_s; sleeps = looping.sleeps()) {
        std::this_thread::yield();
      }
      EXPECT_TRUE(sleeps) << "it looks for work all the time";
      loop.post(letter);
    });
    loop.turn();
    sender.join();
    EXPECT_EQ(letter.opened_by, std::this_thread::get_id());
  }
}

TEST(Loop, is_woken_however_late_or_soon_a_message_comes) {
  Loop loop;
  for (int round = 0; round < 200; ++round) {
    Letter letter(loop);
    std::thread sender([&] {
      for (int pause = 0; pause < round * 40; ++pause) relax();
      loop.post(letter);
    });
    while (letter.opened_by == std::thread::id()) loop.turn();
    sender.join();
  }
}

}  // namespace
}  // namespace katana::thread

// SPDX-License-Identifier: Apache-2.0
