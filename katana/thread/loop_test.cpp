#include "katana/thread/loop.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <thread>

namespace katana::thread {
namespace {

std::int64_t processor_time_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

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
  for (int round = 0; round < 3; ++round) {
    Letter letter(loop);
    std::thread sender([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      loop.post(letter);
    });
    const std::int64_t before = processor_time_ns();
    loop.turn();
    EXPECT_LT(processor_time_ns() - before, 20'000'000);
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
