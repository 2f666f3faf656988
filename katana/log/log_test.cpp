// A Log with its thread: nothing accepted is lost, whoever ends and however.
#include "katana/log/log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <map>
#include <thread>

#include "katana/base/heap_calls_test.hpp"
#include "katana/log/log_fixture_test.hpp"

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
  // Tried again a millisecond later; until then more may be lost, and is counted.
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

TEST(Log, memory_is_bounded_by_what_was_configured) {
  Options options;
  options.threads_max = 2;
  options.ring_bytes = 64 * 1024;
  options.sinks = {file("/dev/null")};
  const auto log = *Log::start(options);
  EXPECT_LT(log->memory_bytes_max(), 2 * 64 * 1024 + 64 * 1024 + 20 * 1024u);
  EXPECT_GE(log->memory_bytes_max(), 2 * 64 * 1024 + 64 * 1024u);
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

// Children: what a process leaves behind when it ends in other ways than by returning from main.
// Under the sanitizers they are slow, not different.
int run_child(const std::function<void()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    // The sanitizers catch these; what is tested is how a program dies without them.
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

TEST(LogInAChild, a_disk_that_is_full_from_the_start_stops_nobody) {
  int descriptors[2];
  ASSERT_EQ(pipe(descriptors), 0);
  const int status = run_child([&] {
    dup2(descriptors[1], STDERR_FILENO);
    auto log = *Log::start(options_for(file("/dev/full")));
    log_records(log->logger(""));
    log->stop();
    _exit(log->counts().lost == child_records ? 0 : 1);
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
