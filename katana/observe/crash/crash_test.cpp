#include "katana/observe/crash/crash.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

#include "katana/base/coroutine/activity.hpp"
#include "katana/base/system/alternate_stack.hpp"
#include "katana/base/system/check.hpp"
#include "katana/base/system/quiet_thread.hpp"
#include "katana/base/system/thread_sanitizer_test.hpp"
#include "katana/observe/crash/recent_records.hpp"
#include "katana/observe/crash/report.hpp"
#include "katana/observe/crash/report_files.hpp"
#include "katana/observe/crash/report_writer.hpp"
#include "katana/observe/crash/stack.hpp"
#include "katana/observe/log/log.hpp"

namespace katana::crash {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

const std::string program_name = "crash_test";

// A folder, and a child process that crashes and leaves its report there.
class CrashTest : public testing::Test {
 protected:
  CrashTest() {
    std::string name = (std::filesystem::temp_directory_path() / "katana_crash_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    options_.folder = folder_;
  }
  ~CrashTest() override { std::filesystem::remove_all(folder_); }

  // Returns the status of the child, whose standard error is kept.
  int run_child(const std::function<void()>& work) {
    const pid_t child = ::fork();
    if (child == 0) {
      const int error =
          ::open((folder_ + "/stderr").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
      ::dup2(error, STDERR_FILENO);
      // The sanitizers catch these signals; the test needs a program without them.
      for (const int number : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL}) {
        std::signal(number, SIG_DFL);
      }
      if (auto flushed = log::flush_on_crash(); !flushed) ::_exit(98);
      if (auto installed = install(options_); !installed) ::_exit(97);
      work();
      ::_exit(99);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return status;
  }
  std::string read(const std::string& path) const {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string standard_error() const { return read(folder_ + "/stderr"); }
  std::string report_path() const {
    for (const auto& each : std::filesystem::directory_iterator(folder_)) {
      if (each.path().extension() == ".txt") return each.path().string();
    }
    return {};
  }
  std::string report_text() const { return read(report_path()); }
  // The report of a child that must have ended by this signal.
  Report crash(int signal, const std::function<void()>& work) {
    const int status = run_child(work);
    EXPECT_TRUE(WIFSIGNALED(status)) << status << standard_error();
    EXPECT_EQ(WTERMSIG(status), signal);
    auto report = parse_report(report_text());
    EXPECT_TRUE(report) << report.error().describe() << report_text() << standard_error();
    if (!report) return {};
    EXPECT_EQ(report->signal, signal);
    EXPECT_TRUE(report->whole) << report_text();
    return *std::move(report);
  }

  std::string folder_;
  Options options_{.program = program_name, .version = "1.2.3"};
};

const ReportedThread& crashed_in(const Report& report) {
  static const ReportedThread none;
  const auto found = std::ranges::find_if(report.threads, &ReportedThread::crashed);
  EXPECT_NE(found, report.threads.end());
  return found != report.threads.end() ? *found : none;
}

const ReportedThread* thread_named(const Report& report, const std::string& name) {
  const auto found = std::ranges::find(report.threads, name, &ReportedThread::name);
  return found != report.threads.end() ? &*found : nullptr;
}

// The address of a page that no access is allowed to, for a fault that compilers cannot foresee.
volatile char* forbidden_page() {
  return static_cast<volatile char*>(
      ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

[[gnu::noinline]] void write_to(volatile char* address) { *address = 1; }

TEST_F(CrashTest, a_bad_access_leaves_the_signal_the_address_and_the_stack) {
  const Report report = crash(SIGSEGV, [] { write_to(forbidden_page()); });
  EXPECT_EQ(report.program, program_name);
  EXPECT_EQ(report.version, "1.2.3");
  EXPECT_EQ(report.signal_name, "SIGSEGV");
  EXPECT_EQ(report.code, "2 SEGV_ACCERR");
  EXPECT_THAT(report.address, StartsWith("0x"));
  EXPECT_THAT(report.time, testing::MatchesRegex("20..-..-..T..:..:..Z"));
  const ReportedThread& thread = crashed_in(report);
  EXPECT_EQ(thread.id, report.process);
  ASSERT_GE(thread.frames.size(), 4u) << report_text();  // write_to, the lambda, run_child, …
  const std::string own = std::filesystem::read_symlink("/proc/self/exe").string();
  EXPECT_EQ(thread.frames[0].path, own);
  EXPECT_GT(thread.frames[0].offset, 0u);
  EXPECT_EQ(thread.frames[0].build_id, report.build_id);
}

TEST_F(CrashTest, the_first_frame_is_the_instruction_that_failed) {
  const Report report = crash(SIGSEGV, [] { write_to(forbidden_page()); });
  Module module;
  ASSERT_TRUE(find_module(reinterpret_cast<std::uintptr_t>(&write_to), module));
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(&write_to) - module.bias;
  const std::uintptr_t offset = crashed_in(report).frames.at(0).offset;
  EXPECT_GE(offset, begin);
  EXPECT_LT(offset, begin + 512);
}

TEST_F(CrashTest, a_report_is_private) {
  (void)crash(SIGABRT, [] { std::abort(); });
  struct stat facts{};
  ASSERT_EQ(::stat(report_path().c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
}

[[gnu::noinline]] int recurse(volatile int* depth) {
  volatile char room[1024];
  room[0] = static_cast<char>(*depth);
  *depth = *depth + 1;
  if (*depth < 0) return 0;  // never: the stack is full before
  return recurse(depth) + room[0];
}

TEST_F(CrashTest, a_stack_overflow_of_a_thread_of_ours_leaves_a_report) {
  const Report report = crash(SIGSEGV, [] {
    quiet_thread([] {
      ::pthread_setname_np(::pthread_self(), "deep");
      volatile int depth = 0;
      (void)recurse(&depth);
    }).join();
  });
  EXPECT_EQ(crashed_in(report).name, "deep");
  EXPECT_THAT(crashed_in(report).frames, SizeIs(frames_max));
  EXPECT_TRUE(crashed_in(report).cut);
}

TEST_F(CrashTest, a_failed_check_is_the_reason) {
  const Report report = crash(SIGABRT, [] { KATANA_CHECK(1 + 1 == 3); });
  EXPECT_THAT(report.reason, HasSubstr("CHECK failed: 1 + 1 == 3 at"));
  EXPECT_THAT(report.address, IsEmpty());
}

// Like a destructor, or a thread: an exception cannot leave it.
void terminate_by(void (*thrower)()) noexcept { thrower(); }

TEST_F(CrashTest, an_exception_that_nothing_catches_is_the_reason) {
  const Report report =
      crash(SIGABRT, [] { terminate_by([] { throw std::runtime_error("no such user\nend"); }); });
  EXPECT_THAT(report.reason, HasSubstr("terminated by std::runtime_error: no such user"));
  EXPECT_GE(crashed_in(report).frames.size(), 4u);
}

TEST_F(CrashTest, memory_that_is_exhausted_is_the_reason) {
  const Report report = crash(SIGABRT, [] { terminate_by([] { throw std::bad_alloc(); }); });
  EXPECT_THAT(report.reason, HasSubstr("terminated by std::bad_alloc"));
}

TEST_F(CrashTest, a_sent_signal_is_reported_and_ends_the_process) {
  const Report report = crash(SIGBUS, [] { std::raise(SIGBUS); });
  EXPECT_EQ(report.code, "-6 SI_TKILL");
  EXPECT_THAT(report.address, IsEmpty());
}

using Function = void (*)();
std::atomic<Function> null_function{nullptr};

#if defined(__clang__)  // the sanitizer reads before the function that is called
[[clang::no_sanitize("function")]]
#endif
[[gnu::noinline]] void
call_nothing() {
  null_function.load()();
}

TEST_F(CrashTest, a_call_of_no_function_names_its_caller) {
  const Report report = crash(SIGSEGV, call_nothing);
  const auto& frames = crashed_in(report).frames;
  ASSERT_GE(frames.size(), 5u) << report_text();
  EXPECT_EQ(frames[0].address, 0u);
  EXPECT_THAT(frames[0].path, IsEmpty());
  EXPECT_THAT(frames[1].path, HasSubstr("crash"));
}

TEST_F(CrashTest, the_thread_names_its_route_and_request) {
  const Report report = crash(SIGABRT, [] {
    const std::string route = "GET /users/{id}";
    const Activity activity{.site = &route, .name = "01JABC"};
    const ActivityScope scope(&activity);
    std::abort();
  });
  EXPECT_EQ(crashed_in(report).route, "GET /users/{id}");
  EXPECT_EQ(crashed_in(report).request, "01JABC");
}

TEST_F(CrashTest, a_name_with_line_ends_cannot_forge_a_line) {
  const Report report = crash(SIGABRT, [] {
    const std::string route = "GET /\nthread 1 crashed x\nend";
    const Activity activity{.site = &route};
    const ActivityScope scope(&activity);
    ::pthread_setname_np(::pthread_self(), "a\nend");
    std::abort();
  });
  EXPECT_EQ(crashed_in(report).route, "GET /?thread 1 crashed x?end");
  EXPECT_EQ(crashed_in(report).name, "a?end");
  EXPECT_EQ(std::ranges::count(report.threads, 1, &ReportedThread::id), 0);
  EXPECT_EQ(std::ranges::count(report.threads, true, &ReportedThread::crashed), 1);
}

// Threads that wait until the process ends.
void start_waiting(const std::string& name, bool blocks_signals) {
  std::atomic<bool> waits{false};
  quiet_thread([&waits, name, blocks_signals] {
    ::pthread_setname_np(::pthread_self(), name.c_str());
    if (blocks_signals) {
      sigset_t all;
      ::sigfillset(&all);
      ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
    }
    waits = true;
    while (true) ::pause();
  }).detach();
  while (!waits) std::this_thread::yield();
}

TEST_F(CrashTest, other_threads_give_their_stacks) {
  const Report report = crash(SIGSEGV, [] {
    start_waiting("waits/0", false);
    start_waiting("waits/1", false);
    write_to(forbidden_page());
  });
  for (const char* name : {"waits/0", "waits/1"}) {
    const ReportedThread* const thread = thread_named(report, name);
    ASSERT_NE(thread, nullptr) << report_text();
    EXPECT_TRUE(thread->answered);
    EXPECT_FALSE(thread->crashed);
    EXPECT_GE(thread->frames.size(), 3u) << report_text();
  }
}

TEST_F(CrashTest, a_thread_that_blocks_the_signal_is_named_and_not_awaited_for_long) {
  const Report report = crash(SIGSEGV, [] {
    start_waiting("deaf", true);
    start_waiting("hears", false);
    write_to(forbidden_page());
  });
  ASSERT_NE(thread_named(report, "deaf"), nullptr) << report_text();
  EXPECT_FALSE(thread_named(report, "deaf")->answered);
  ASSERT_NE(thread_named(report, "hears"), nullptr);
  EXPECT_TRUE(thread_named(report, "hears")->answered);
}

TEST_F(CrashTest, two_threads_that_crash_at_once_leave_one_whole_report) {
  (void)crash(SIGSEGV, [] {
    std::atomic<int> ready{0};
    const auto fail = [&ready] {
      ++ready;
      while (ready < 2) std::this_thread::yield();
      write_to(forbidden_page());
    };
    std::thread other = quiet_thread(fail);
    fail();
    other.join();
  });
  EXPECT_EQ(count_reports(folder_, program_name), 1u);
}

class FaultySection final : public Section {
 public:
  void write(ReportWriter& report) noexcept override {
    report.word("reactor 0 before");
    report.end_line();
    report.word("reactor 1 is cut");
    write_to(forbidden_page());
  }
};

class GoodSection final : public Section {
 public:
  void write(ReportWriter& report) noexcept override { report.word("reactor 2 after\n"); }
};

// The status of a child in which nothing handles crashes but watch_faults().
int run_watched(const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (const int number : {SIGSEGV, SIGBUS}) std::signal(number, SIG_DFL);
    watch_faults();
    work();
    ::_exit(99);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

TEST(WatchFaults, a_fault_of_a_guarded_step_ends_the_step_and_any_other_the_process) {
#ifdef KATANA_THREAD_SANITIZER
  GTEST_SKIP() << "its own handler does not take a signal within the handler of a program";
#endif
  const int status = run_watched([] {
    for (int round = 0; round < 2; ++round) {
      if (guarded([](void*) { write_to(forbidden_page()); }, nullptr)) ::_exit(1);
    }
    ::_exit(guarded([](void*) {}, nullptr) ? 7 : 2);
  });
  EXPECT_EQ(WEXITSTATUS(status), 7) << status;
  for (const int sent : {0, SIGSEGV, SIGBUS}) {
    const int ended = run_watched([sent] {
      if (sent != 0) std::raise(sent);
      write_to(forbidden_page());
    });
    EXPECT_TRUE(WIFSIGNALED(ended)) << ended;
    EXPECT_EQ(WTERMSIG(ended), sent != 0 ? sent : SIGSEGV);
  }
}

TEST_F(CrashTest, a_fault_of_the_handler_costs_the_part_that_made_it) {
#ifdef KATANA_THREAD_SANITIZER
  GTEST_SKIP() << "its own handler does not take a signal within the handler of a program";
#endif
  FaultySection faulty;
  GoodSection good;
  const Report report = crash(SIGSEGV, [&] {
    add_section(faulty);
    add_section(good);
    write_to(forbidden_page());
  });
  EXPECT_THAT(report.reactors, testing::ElementsAre("0 before", "2 after"));
}

class LongSection final : public Section {
 public:
  void write(ReportWriter& report) noexcept override {
    for (int line = 0; line < 100'000; ++line) report.word("reactor 0 0123456789\n");
  }
};

TEST_F(CrashTest, a_report_is_bounded_and_what_follows_a_long_part_is_there) {
  LongSection section;
  const Report report = crash(SIGABRT, [&] {
    add_section(section);
    std::abort();
  });
  EXPECT_LE(report_text().size(), report_bytes_max);
  EXPECT_GT(report.reactors.size(), 100u);
  EXPECT_THAT(report_text(), HasSubstr("\nmodule 0x"));
}

TEST_F(CrashTest, a_section_that_was_removed_is_not_called) {
  FaultySection faulty;
  const Report report = crash(SIGABRT, [&] {
    add_section(faulty);
    remove_section(faulty);
    std::abort();
  });
  EXPECT_THAT(report.reactors, IsEmpty());
}

TEST_F(CrashTest, facts_of_a_thread_are_in_its_lines) {
  const Report report = crash(SIGABRT, [] {
    set_thread_facts([](ThreadText& text) noexcept {
      text.add("in-flight age-ms=");
      text.add_number(42);
      text.add(" request=a\nb");
      text.end_line();
      text.add("never ended");
    });
    std::abort();
  });
  EXPECT_THAT(crashed_in(report).in_flight, testing::ElementsAre("age-ms=42 request=a?b"));
}

TEST_F(CrashTest, the_last_records_are_in_the_report_and_the_log_is_flushed) {
  const Report report = crash(SIGSEGV, [&] {
    log::Options options;
    options.sinks = {recent_records(), log::file(folder_ + "/log")};
    auto log = *log::Log::start(std::move(options));
    const log::Logger logger = log->logger("app");
    const log::Logger access = log->logger("access");
    for (int count = 0; count < 100; ++count) {
      logger.info("record {}", count);
      access.info("GET /{}", count);
    }
    write_to(forbidden_page());
  });
  ASSERT_THAT(report.records, SizeIs(recent_records_max)) << report_text();
  EXPECT_THAT(report.records.back(), HasSubstr("crashed by signal 11"));
  EXPECT_THAT(report.records[recent_records_max - 2], HasSubstr("record 99"));
  EXPECT_THAT(report.records.front(), HasSubstr("record 37"));
  EXPECT_THAT(read(folder_ + "/log"), HasSubstr("record 99"));
  EXPECT_THAT(read(folder_ + "/log"), HasSubstr("GET /99"));
  EXPECT_THAT(report_text(), testing::Not(HasSubstr("GET /")));
}

TEST_F(CrashTest, without_a_folder_the_report_goes_to_standard_error) {
  options_.folder.clear();
  const int status = run_child([] { std::abort(); });
  EXPECT_EQ(WTERMSIG(status), SIGABRT);
  const auto report = parse_report(standard_error());
  ASSERT_TRUE(report) << report.error().describe() << standard_error();
  EXPECT_TRUE(report->whole);
}

TEST_F(CrashTest, a_folder_that_is_gone_costs_the_file_and_not_the_report) {
  const std::string gone = folder_ + "/gone";
  std::filesystem::create_directory(gone);
  options_.folder = gone;
  const int status = run_child([&] {
    std::filesystem::remove(gone);
    std::abort();
  });
  EXPECT_EQ(WTERMSIG(status), SIGABRT);
  EXPECT_THAT(standard_error(), HasSubstr("the crash report cannot be written"));
  EXPECT_THAT(standard_error(), HasSubstr("\nsignal 6 SIGABRT\n"));
}

TEST_F(CrashTest, a_folder_that_does_not_exist_is_refused_with_its_name) {
  const auto installed = install({.program = "x", .version = "", .folder = folder_ + "/none"});
  ASSERT_FALSE(installed);
  EXPECT_THAT(installed.error().describe(), HasSubstr(folder_ + "/none"));
}

TEST_F(CrashTest, the_path_of_the_report_is_on_standard_error) {
  (void)crash(SIGABRT, [] { std::abort(); });
  EXPECT_THAT(standard_error(), HasSubstr("katana: crashed; the report is " + report_path()));
}

TEST_F(CrashTest, errno_of_a_signal_that_is_survived_stays) {
  // A stack signal of another process is none of ours.
  const int status = run_child([] {
    errno = 77;
    ::kill(::getpid(), stack_signal());
    ::_exit(errno);
  });
  EXPECT_EQ(WEXITSTATUS(status), 77);
}

}  // namespace
}  // namespace katana::crash

// SPDX-License-Identifier: Apache-2.0
