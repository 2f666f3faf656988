// A Log with its thread: no accepted record is lost, however the program ends.
#include "katana/observe/log/log.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <map>
#include <thread>

#include "katana/base/system/heap_calls_test.hpp"
#include "katana/base/system/printing.hpp"
#include "katana/observe/log/log_fixture_test.hpp"

namespace katana::log {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

Options options_for(SinkOptions sink) {
  Options options;
  options.sinks = {std::move(sink)};
  return options;
}

TEST(Log, options_that_make_no_sense_are_refused_by_name) {
  Options options;
  options.ring_bytes = 100'000;
  EXPECT_THAT(Log::start(options).error().describe(), HasSubstr("ring_bytes is 100000"));
  options = {};
  options.threads_max = 0;
  EXPECT_THAT(Log::start(options).error().describe(), HasSubstr("threads_max"));
  options = {};
  options.doze_interval = milliseconds(1);
  EXPECT_THAT(Log::start(options).error().describe(), HasSubstr("doze_interval"));
  options = {};
  options.sinks = {SinkOptions{}};
  EXPECT_EQ(Log::start(options).error().code(), Code::invalid_argument);
  options.sinks = {console()};
  options.sinks[0].queue_bytes_max = 1;
  EXPECT_THAT(Log::start(options).error().describe(),
              HasSubstr("queue_bytes_max of standard error is 1"));
}

TEST(Log, a_writer_that_dozes_is_woken_by_any_thread_and_misses_nothing) {
  constexpr std::size_t thread_count = 4, records = 60;
  Options options;
  options.poll_interval = options.poll_interval_max = milliseconds(1);
  options.doze_interval = seconds(3600);  // who is not woken does not come
  options.doze_after = 0;
  const MemoryLog log(LayoutKind::text, options);
  const Logger logger = log->logger("");
  std::vector<std::thread> threads;
  for (std::size_t number = 0; number < thread_count; ++number) {
    threads.emplace_back([&logger, number] {
      for (std::size_t count = 0; count < records; ++count) {
        EXPECT_TRUE(logger.info("{}", count));
        // Gaps of many lengths: the writer dozes in some of them. Any of them passes.
        std::this_thread::sleep_for(std::chrono::microseconds(count * (40 + number)));
      }
    });
  }
  for (std::thread& each : threads) each.join();
  const auto patience = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (lines_of(log.output->text()).size() < thread_count * records) {
    ASSERT_LT(std::chrono::steady_clock::now(), patience);
    std::this_thread::yield();
  }
}

TEST(Log, a_process_has_no_more_logs_than_places_and_a_place_is_used_again) {
  std::vector<std::unique_ptr<Log>> logs;
  for (std::size_t count = 0; count < logs_max; ++count) logs.push_back(*Log::start({}));
  EXPECT_EQ(Log::start({}).error().code(), Code::resource_exhausted);
  const Logger of_old = logs.back()->logger("old");
  of_old.info("takes a ring of this thread");
  logs.pop_back();
  const MemoryLog next;
  next->logger("").info("next");
  EXPECT_EQ(next.line(), "info  next");
}

TEST(Log, records_of_many_threads_all_arrive_each_thread_in_its_order) {
  Options options;
  options.when_full = WhenFull::block;
  options.block_max = seconds(60);
  options.ring_bytes = 64 * 1024;
  const MemoryLog log(LayoutKind::text, options);
  constexpr int thread_count = 4, records = 5'000;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < thread_count; ++thread) {
    threads.emplace_back([&, thread] {
      const Logger logger = log->logger(fmt::format("t{}", thread));
      for (int count = 0; count < records; ++count) EXPECT_TRUE(logger.info("{}", count));
    });
  }
  for (std::thread& thread : threads) thread.join();
  log->stop();
  std::map<std::string, int> next;
  for (const std::string& line : lines_of(log.output->text())) {
    const std::size_t colon = line.find(": ");
    ASSERT_EQ(std::stoi(line.substr(colon + 2)), next[line.substr(colon - 2, 2)]++);
  }
  EXPECT_EQ(next.size(), 4u);
  for (const auto& [name, count] : next) EXPECT_EQ(count, records) << name;
  EXPECT_EQ(log->counts().dropped, 0u);
  EXPECT_EQ(log->counts().records, static_cast<std::uint64_t>(thread_count * records));
}

TEST(Log, dropping_says_how_many_and_the_sum_is_right) {
  Options options;
  options.ring_bytes = 64 * 1024;
  const MemoryLog log(LayoutKind::text, options);
  const Logger logger = log->logger("");
  std::uint64_t accepted = 0, refused = 0;
  for (int count = 0; count < 20'000; ++count) {
    (logger.info("{}", std::string_view("some octets that fill the ring")) ? accepted : refused)++;
  }
  log->stop();
  std::uint64_t told = 0, written = 0;
  for (const std::string& line : lines_of(log.output->text())) {
    const std::size_t note = line.find("log: ");
    if (note == std::string::npos)
      ++written;
    else
      told += std::stoull(line.substr(note + 5));
  }
  EXPECT_EQ(written, accepted);
  EXPECT_EQ(told, refused);
  EXPECT_EQ(log->counts().dropped, refused);
}

TEST(Log, levels_are_changed_by_name_while_it_runs_for_loggers_to_come_too) {
  const MemoryLog log;
  const Logger http = log->logger("http");
  const Logger other = log->logger("other");
  ASSERT_TRUE(log->set_levels("warn,http=debug,later=trace"));
  EXPECT_EQ(http.level(), Level::debug);
  EXPECT_EQ(other.level(), Level::warn);
  EXPECT_EQ(log->logger("later").level(), Level::trace);
  EXPECT_EQ(log->logger("new").level(), Level::warn);
}

TEST(Log, a_level_for_all_others_ends_those_by_name_that_it_does_not_repeat) {
  const MemoryLog log;
  const Logger http = log->logger("http");
  const Logger other = log->logger("other");
  ASSERT_TRUE(log->set_levels("warn,http=debug"));
  ASSERT_TRUE(log->set_levels("other=trace"));
  EXPECT_EQ(http.level(), Level::debug) << "only the named one is changed";
  EXPECT_EQ(other.level(), Level::trace);
  ASSERT_TRUE(log->set_levels("info,other=error"));
  EXPECT_EQ(http.level(), Level::info);
  EXPECT_EQ(other.level(), Level::error);
}

TEST(Log, levels_that_are_reset_begin_from_the_level_of_the_options) {
  const MemoryLog log;
  const Logger http = log->logger("http");
  const Logger other = log->logger("other");
  ASSERT_TRUE(log->set_levels("trace,other=off"));
  ASSERT_TRUE(log->reset_levels("http=debug"));
  EXPECT_EQ(http.level(), Level::debug);
  EXPECT_EQ(other.level(), Level::info);
  EXPECT_EQ(log->logger("new").level(), Level::info);
  ASSERT_FALSE(log->reset_levels("other=loud"));
  EXPECT_EQ(http.level(), Level::debug);
}

TEST(Log, levels_that_cannot_be_read_change_nothing) {
  const MemoryLog log;
  const Logger http = log->logger("http");
  const auto set = log->set_levels("error,http=loud");
  ASSERT_FALSE(set);
  EXPECT_THAT(set.error().describe(), HasSubstr("unknown log level 'loud': use trace, debug"));
  EXPECT_EQ(http.level(), Level::info);
}

TEST(Log, a_synchronous_log_has_written_when_the_call_returns) {
  Options options;
  options.mode = Mode::synchronous;
  const MemoryLog log(LayoutKind::text, options);
  const Logger logger = log->logger("");
  for (int count = 1; count <= 3; ++count) {
    logger.info("{}", count);
    EXPECT_EQ(lines_of(log.output->text()).size(), static_cast<std::size_t>(count));
  }
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int count = 0; count < 100; ++count) logger.info("{}", count);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(lines_of(log.output->text()).size(), 403u);
}

TEST(Log, refuses_what_comes_after_its_stop) {
  const MemoryLog log;
  const Logger logger = log->logger("");
  EXPECT_TRUE(logger.info("before"));
  log->stop();
  EXPECT_FALSE(logger.info("after"));
  std::thread([&] { EXPECT_FALSE(logger.info("after, of a new thread")); }).join();
  EXPECT_EQ(lines_of(log.output->text()).size(), 1u);
  EXPECT_EQ(log->counts().refused, 2u);
}

TEST(Log, a_sink_that_fails_is_reported_once_and_its_recovery_is_in_the_log) {
  const MemoryLog log;
  const Logger logger = log->logger("");
  log.output->refuses_write = true;
  logger.info("lost");
  log->flush();
  EXPECT_EQ(log->counts().lost, 1u);
  log.output->refuses_write = false;
  // Tried again a millisecond later; until then more records may be lost, and are counted.
  std::uint64_t more = 0;
  while (log.output->text().empty()) {
    logger.info("and on");
    log->flush();
    ++more;
  }
  const auto all = log.lines();
  EXPECT_THAT(all, Contains(HasSubstr("memory can be written again lost=")));
  EXPECT_EQ(log.reports.size(), 1u);
  EXPECT_GE(more, 1u);
}

TEST(Log, several_sinks_get_the_same_records_in_their_own_forms) {
  const Folder folder;
  Options options;
  options.sinks = {file(folder / "a.log"), json_file(folder / "a.json"),
                   binary_file(folder / "a.bin")};
  {
    const auto log = *Log::start(options);
    log->logger("x").info("one {}", 1, field("f", 2));
  }
  EXPECT_THAT(read_file(folder / "a.log"), HasSubstr("info  x: one 1 f=2\n"));
  EXPECT_THAT(read_file(folder / "a.json"), HasSubstr(R"("message":"one 1")"));
  EXPECT_THAT(read_file(folder / "a.bin"), HasSubstr("one {}"));
}

TEST(Log, sinks_of_one_form_get_the_same_text_each_from_its_level_on) {
  std::array<std::shared_ptr<MemoryOutput>, 3> outputs;
  Options options;
  for (std::size_t index = 0; index < outputs.size(); ++index) {
    outputs[index] = std::make_shared<MemoryOutput>();
    SinkOptions sink;
    sink.output = outputs[index];
    sink.level = index == 0 ? Level::warn : Level::trace;
    sink.buffer_bytes = 1;  // handed on with each record, before the next sink has it
    options.sinks.push_back(sink);
  }
  auto log = *Log::start(options);
  const Logger logger = log->logger("a");
  logger.info("one", field("path", "/a b"));
  logger.warn("two {}", std::string(3000, 'x'));
  logger.info("three");
  log->stop();
  EXPECT_EQ(lines_of(outputs[1]->text()).size(), 3u);
  EXPECT_EQ(outputs[1]->text(), outputs[2]->text());
  EXPECT_EQ(outputs[0]->text(), lines_of(outputs[1]->text())[1] + "\n");
  EXPECT_EQ(without_time(lines_of(outputs[2]->text())[0]), "info  a: one path=\"/a b\"");
}

// A log with an output that takes nothing, and one that does.
struct HalfHeldLog {
  explicit HalfHeldLog(Options options = {}) {
    SinkOptions first, second;
    first.output = held;
    first.stalled_after = milliseconds(20);
    first.queue_bytes_max = first.buffer_bytes = 4096;
    second.output = output;
    options.sinks = {first, second};
    options.end_max = milliseconds(100);
    options.report = [](Bytes) {};
    log = *Log::start(options);
  }
  ~HalfHeldLog() {
    held->release();
    log.reset();
  }
  Log* operator->() const { return log.get(); }

  std::shared_ptr<HeldOutput> held = std::make_shared<HeldOutput>();
  std::shared_ptr<MemoryOutput> output = std::make_shared<MemoryOutput>();
  std::unique_ptr<Log> log;
};

TEST(Log, an_output_that_takes_nothing_holds_up_neither_the_others_nor_the_end) {
  const HalfHeldLog log;
  const Logger logger = log->logger("");
  for (int count = 0; count < 1000; ++count) {
    while (!logger.info("{}", count)) std::this_thread::yield();
  }
  log->stop();
  EXPECT_GE(lines_of(log.output->text()).size(), 1000u);
  EXPECT_THAT(log.output->text(), HasSubstr("held is slow: it"));
  EXPECT_THAT(log.output->text(), HasSubstr("records are not written to held"));
  EXPECT_GT(log->counts().dropped_by_outputs, 800u);
  EXPECT_GE(log->counts().dropped_by_outputs + log->counts().lost, 1000u) << "each is counted";
  EXPECT_EQ(log.held->text(), "");
}

TEST(Log, an_output_that_moves_again_says_how_many_records_it_missed) {
  const HalfHeldLog log;
  const Logger logger = log->logger("");
  for (int count = 0; count < 1000; ++count) {
    while (!logger.info("{}", count)) std::this_thread::yield();
  }
  log->flush();
  log.held->release();
  while (log.output->text().find("held takes records again: ") == std::string::npos) {
    logger.info("and on");
    log->flush();
  }
  log->stop();
  const std::string text = log.held->text();
  EXPECT_THAT(text, HasSubstr("info  0\n"));
  EXPECT_THAT(text, HasSubstr(fmt::format("held takes records again: {} were dropped reason=",
                                          log->counts().dropped_by_outputs)));
}

TEST(Log, a_synchronous_log_waits_for_an_output_that_takes_nothing_once) {
  Options options;
  options.mode = Mode::synchronous;
  const HalfHeldLog log(options);
  const Logger logger = log->logger("");
  for (int count = 0; count < 300; ++count) {
    logger.info("{}", count);
    ASSERT_GE(lines_of(log.output->text()).size(), static_cast<std::size_t>(count + 1));
  }
  log->stop();
}

TEST(Log, an_output_may_log_and_flush_itself) {
  struct Talking final : Output {
    const std::string& name() const noexcept override { return called; }
    Result<void> open(const Layout&) override { return {}; }
    Result<void> write(Bytes) override {
      if (!std::exchange(has_talked, true)) {
        log->logger("talking").info("written");
        log->flush();
      }
      return {};
    }
    const std::string called = "talking";
    Log* log = nullptr;
    bool has_talked = false;
  };
  for (const Mode mode : {Mode::background, Mode::synchronous}) {
    const auto talking = std::make_shared<Talking>();
    const auto output = std::make_shared<MemoryOutput>();
    Options options;
    options.mode = mode;
    options.sinks.resize(2);
    options.sinks[0].output = talking;
    options.sinks[1].output = output;
    const auto log = *Log::start(options);
    talking->log = log.get();
    log->logger("").info("first");
    log->flush();
    log->stop();
    EXPECT_THAT(output->text(), HasSubstr("talking: written"));
  }
}

TEST(Log, memory_is_bounded_by_what_was_configured) {
  Options options;
  options.threads_max = 2;
  options.ring_bytes = 64 * 1024;
  options.sinks = {file("/dev/null")};
  options.sinks[0].queue_bytes_max = 128 * 1024;
  const auto log = *Log::start(options);
  constexpr std::uint64_t named = 2 * 64 * 1024 + 128 * 1024 + 2 * 64 * 1024;
  EXPECT_LT(log->memory_bytes_max(), named + 20 * 1024u);
  EXPECT_GE(log->memory_bytes_max(), named);
}

using HeapCalls = HeapCallsTest;

TEST_F(HeapCalls, a_record_makes_none_on_the_thread_that_logs) {
  const MemoryLog log;
  const Logger logger = log->logger("");
  const std::string text = "a string that is too long for a small one, so it has its own memory";
  const Context context(field("request_id", text));
  logger.info("the first record takes a ring");
  const std::uint64_t before = heap_calls();
  for (int count = 0; count < 100; ++count) {
    const Scope scope(context);
    ASSERT_TRUE(logger.info("{} {} {}", count, 0.5, text, field("status", 200)));
    ASSERT_TRUE(logger.info("{}", rendered(count)));
    ASSERT_FALSE(logger.debug("{}", text));
    logger.warn(KATANA_AT_MOST(1, seconds(1)), "{}", text);
  }
  EXPECT_EQ(heap_calls(), before);
}

// Child processes: the records of a process that ends other than by returning from main. Under the
// sanitizers they are slow, not different.
int run_child(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    // The sanitizers catch these signals; the test needs a program without them.
    for (const int number : {SIGSEGV, SIGABRT}) std::signal(number, SIG_DFL);
    work();
    _exit(99);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

constexpr int child_records = 1'000;

void log_records(const Logger& logger) {
  for (int count = 0; count < child_records; ++count) logger.info("{}", count);
}

TEST(LogInAChild, exit_loses_nothing_though_the_log_is_not_destroyed) {
  const Folder folder;
  const int status = run_child([&] {
    auto log = *Log::start(options_for(file(folder / "a.log")));
    log_records(log->logger(""));
    std::exit(3);  // as somewhere deep in a program: no destructor on the stack is run
  });
  EXPECT_EQ(WEXITSTATUS(status), 3);
  EXPECT_EQ(lines_of(read_file(folder / "a.log")).size(), std::size_t{child_records});
}

TEST(LogInAChild, a_crash_loses_nothing_and_is_in_the_log) {
  const Folder folder;
  const int status = run_child([&] {
    auto log = *Log::start(options_for(file(folder / "a.log")));
    if (!flush_on_crash()) _exit(1);
    log_records(log->logger(""));
    raise(SIGSEGV);
  });
  EXPECT_TRUE(WIFSIGNALED(status)) << status;
  EXPECT_EQ(WTERMSIG(status), SIGSEGV);
  const auto lines = lines_of(read_file(folder / "a.log"));
  ASSERT_EQ(lines.size(), std::size_t{child_records + 1});
  EXPECT_THAT(lines.back(), HasSubstr("fatal log: crashed by signal 11"));
}

TEST(LogInAChild, abort_in_another_thread_loses_nothing) {
  const Folder folder;
  const int status = run_child([&] {
    auto log = *Log::start(options_for(file(folder / "a.log")));
    if (!flush_on_crash()) _exit(1);
    log_records(log->logger(""));
    std::thread([] { std::abort(); }).join();
  });
  EXPECT_EQ(WTERMSIG(status), SIGABRT);
  EXPECT_EQ(lines_of(read_file(folder / "a.log")).size(), std::size_t{child_records + 1});
}

TEST(LogInAChild, kill_9_loses_at_most_what_came_after_the_last_flush_and_no_half_line) {
  const Folder folder;
  const int status = run_child([&] {
    auto log = *Log::start(options_for(file(folder / "a.log")));
    const Logger logger = log->logger("");
    log_records(logger);
    log->flush();
    log_records(logger);
    raise(SIGKILL);
  });
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  const std::string text = read_file(folder / "a.log");
  EXPECT_EQ(text.back(), '\n');
  const auto lines = lines_of(text);
  EXPECT_GE(lines.size(), std::size_t{child_records});
  EXPECT_LE(lines.size(), std::size_t{2 * child_records});
  for (std::size_t index = 0; index < lines.size(); ++index) {
    ASSERT_EQ(without_time(lines[index]), fmt::format("info  {}", index % child_records));
  }
}

TEST(LogInAChild, kill_9_loses_nothing_of_a_synchronous_log) {
  const Folder folder;
  run_child([&] {
    Options options = options_for(file(folder / "a.log"));
    options.mode = Mode::synchronous;
    auto log = *Log::start(options);
    log_records(log->logger(""));
    raise(SIGKILL);
  });
  EXPECT_EQ(lines_of(read_file(folder / "a.log")).size(), std::size_t{child_records});
}

// Standard error as a parent provides it, and its content when it is full.
struct FullPipe {
  FullPipe() {
    EXPECT_EQ(pipe(ends.data()), 0);
    const std::string many(4096, 'x');
    while (print_without_waiting(ends[1], many) > 0) {
    }
  }
  ~FullPipe() {
    for (const int end : ends) close(end);
  }
  bool is_blocking() const { return (fcntl(ends[1], F_GETFL) & O_NONBLOCK) == 0; }
  std::array<int, 2> ends{};
};

Options console_and_file(const std::string& path) {
  Options options;
  options.sinks = {console(), file(path)};
  options.sinks[0].stalled_after = milliseconds(20);
  return options;
}

TEST(LogInAChild, a_full_pipe_as_standard_error_stops_neither_the_file_nor_the_end) {
  const Folder folder;
  const FullPipe pipe;
  for (const Mode mode : {Mode::background, Mode::synchronous}) {
    const std::string path = folder / fmt::format("{}.log", static_cast<int>(mode));
    const int status = run_child([&] {
      dup2(pipe.ends[1], STDERR_FILENO);
      Options options = console_and_file(path);
      options.mode = mode;
      auto log = *Log::start(options);
      log_records(log->logger(""));
      std::exit(3);  // its thread is still in write()
    });
    EXPECT_EQ(WEXITSTATUS(status), 3);
    EXPECT_GE(lines_of(read_file(path)).size(), std::size_t{child_records});
    EXPECT_TRUE(pipe.is_blocking()) << "other processes have the same open file";
  }
}

TEST(LogInAChild, a_crash_with_a_full_pipe_as_standard_error_is_in_the_file) {
  const Folder folder;
  const FullPipe pipe;
  const int status = run_child([&] {
    dup2(pipe.ends[1], STDERR_FILENO);
    auto log = *Log::start(console_and_file(folder / "a.log"));
    if (!flush_on_crash()) _exit(1);
    log_records(log->logger(""));
    raise(SIGSEGV);
  });
  EXPECT_EQ(WTERMSIG(status), SIGSEGV);
  EXPECT_THAT(read_file(folder / "a.log"), HasSubstr("fatal log: crashed by signal 11"));
}

TEST(LogInAChild, an_exception_that_nothing_catches_ends_it_though_standard_error_is_not_read) {
  const Folder folder;
  const FullPipe pipe;
  const int status = run_child([&] {
    dup2(pipe.ends[1], STDERR_FILENO);
    auto log = *Log::start(console_and_file(folder / "a.log"));
    if (!flush_on_crash()) _exit(1);
    log_records(log->logger(""));
    std::thread([] { throw std::runtime_error("uncaught"); }).join();
  });
  EXPECT_EQ(WTERMSIG(status), SIGABRT);
  EXPECT_THAT(read_file(folder / "a.log"), HasSubstr("fatal log: crashed by signal 6"));
}

TEST(LogInAChild, a_closed_standard_error_stops_nobody) {
  const Folder folder;
  const int status = run_child([&] {
    auto log = *Log::start(console_and_file(folder / "a.log"));
    close(STDERR_FILENO);
    log_records(log->logger(""));
    log->stop();
    _exit(log->counts().lost > 0 ? 0 : 1);
  });
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_GE(lines_of(read_file(folder / "a.log")).size(), std::size_t{child_records});
}

TEST(LogInAChild, a_disk_that_is_full_from_the_start_stops_nobody) {
  int descriptors[2];
  ASSERT_EQ(pipe(descriptors), 0);
  const int status = run_child([&] {
    dup2(descriptors[1], STDERR_FILENO);
    auto log = *Log::start(options_for(file("/dev/full")));
    log_records(log->logger(""));
    Result<void> health;
    // Called by the writer thread, in one of its turns.
    for (int turns = 0; turns < 2000 && health; ++turns) {
      usleep(5000);
      health = log->health();
    }
    log->stop();
    _exit(log->counts().lost == child_records && !health &&
                  health.error().describe().contains("/dev/full: write: No space left on device")
              ? 0
              : 1);
  });
  EXPECT_EQ(WEXITSTATUS(status), 0);
  close(descriptors[1]);
  std::array<char, 1024> octets;
  const ssize_t size = read(descriptors[0], octets.data(), octets.size());
  close(descriptors[0]);
  const auto lines =
      lines_of({octets.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))});
  EXPECT_THAT(lines, ElementsAre(HasSubstr("/dev/full: write: No space left on device")));
}

}  // namespace
}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
