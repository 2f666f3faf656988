#include "katana/observe/crash/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "katana/observe/crash/crash.hpp"
#include "katana/observe/crash/report_files.hpp"
#include "katana/observe/crash/report_name.hpp"

namespace katana::crash {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::string example =
    "katana-crash-report 1\n"
    "program notes\n"
    "version 1.4.0\n"
    "build-id ab12\n"
    "process 4711\n"
    "time 2026-11-29T07:05:12Z\n"
    "uptime-ms 5000\n"
    "signal 11 SIGSEGV\n"
    "code 1 SEGV_MAPERR\n"
    "address 0x10\n"
    "later-word of a later version\n"
    "thread 4712 crashed work/0\n"
    "on GET /users/{id}\n"
    "request 01J\n"
    "in-flight age-ms=3 request=01J on GET /users/{id}\n"
    "frame 0x5000 ab12 +0x1000 /usr/bin/my notes\n"
    "frame 0x10 - - -\n"
    "more-frames\n"
    "thread 4713 runs katana-log\n"
    "no-answer\n"
    "reactor 0 busy-ms=3\n"
    "record the last\n"
    "module 0x1 0x2 ab12 /usr/bin/notes\n"
    "end\n";

Report parsed(const std::string& text) {
  auto report = parse_report(text);
  EXPECT_TRUE(report) << report.error().describe();
  return report ? *report : Report{};
}

std::string error_of(const std::string& text) {
  const auto report = parse_report(text);
  return report ? std::string() : report.error().describe();
}

TEST(Report, is_read_as_it_was_written) {
  const Report report = parsed(example);
  EXPECT_EQ(report.program, "notes");
  EXPECT_EQ(report.process, 4711);
  EXPECT_EQ(report.signal, 11);
  EXPECT_EQ(report.code, "1 SEGV_MAPERR");
  EXPECT_TRUE(report.whole);
  ASSERT_THAT(report.threads, SizeIs(2));
  const ReportedThread& thread = report.threads[0];
  EXPECT_TRUE(thread.crashed);
  EXPECT_TRUE(thread.cut);
  EXPECT_EQ(thread.name, "work/0");
  EXPECT_THAT(thread.in_flight, SizeIs(1));
  ASSERT_THAT(thread.frames, SizeIs(2));
  EXPECT_EQ(thread.frames[0].address, 0x5000u);
  EXPECT_EQ(thread.frames[0].build_id, "ab12");
  EXPECT_EQ(thread.frames[0].offset, 0x1000u);
  EXPECT_EQ(thread.frames[0].path, "/usr/bin/my notes");
  EXPECT_THAT(thread.frames[1].path, IsEmpty());
  EXPECT_FALSE(report.threads[1].answered);
}

TEST(Report, has_a_summary_and_its_top_frames) {
  EXPECT_EQ(summary_of(parsed(example)),
            "signal 11 SIGSEGV at 0x10 in thread 'work/0' on GET /users/{id} (request 01J)");
  EXPECT_EQ(top_frames_of(parsed(example), 5), "my notes+0x1000, 0x10");
  EXPECT_EQ(top_frames_of(parsed(example), 1), "my notes+0x1000");
}

TEST(Report, that_was_cut_anywhere_is_read_up_to_there_or_refused) {
  for (std::size_t size = 0; size < example.size(); ++size) {
    const auto report = parse_report(Bytes(example).substr(0, size));
    if (report) {
      EXPECT_FALSE(report->whole) << size;
      EXPECT_EQ(report->signal, 11);
    } else {
      EXPECT_EQ(report.error().code(), Code::invalid_argument);
    }
  }
}

TEST(Report, of_another_kind_is_refused_with_the_reason) {
  EXPECT_THAT(error_of(""), HasSubstr("the file is empty"));
  EXPECT_THAT(error_of("GET / HTTP/1.1\n"), HasSubstr("line 1: this is no crash report"));
  EXPECT_THAT(error_of("katana-crash-report 2\n"), HasSubstr("version '2' of the format"));
  EXPECT_THAT(error_of("katana-crash-report 1\nprogram x\n"), HasSubstr("has no signal"));
  EXPECT_THAT(error_of(std::string(3 * report_bytes_max, 'x')), HasSubstr("at most 262144 bytes"));
}

TEST(Report, of_others_cannot_control_the_terminal_that_shows_it) {
  const Report report = parsed("katana-crash-report 1\nsignal 11 SIGSEGV\nreason \033[2Jgone\r\n");
  EXPECT_EQ(report.reason, "?[2Jgone?");
}

TEST(Report, with_a_malformed_line_is_refused_with_its_number) {
  const auto second = [](const std::string& line) {
    return error_of("katana-crash-report 1\nsignal 11 SIGSEGV\n" + line + "\n");
  };
  EXPECT_THAT(second("process x"), HasSubstr("line 3: malformed: 'process x'"));
  EXPECT_THAT(second("frame 0x1 - - -"), HasSubstr("line 3: malformed"));  // of no thread
  EXPECT_THAT(second("thread 1 sleeps x"), HasSubstr("line 3: malformed"));
  EXPECT_THAT(second("thread 1 runs x\nframe zz - - -"), HasSubstr("line 4: malformed"));
  EXPECT_THAT(second("thread 1 runs x\nframe 0x1 ../x +0x1 /a"), HasSubstr("line 4: malformed"));
  EXPECT_THAT(second("thread 1 runs x\nframe 0x1 ab +0x1"), HasSubstr("line 4: malformed"));
}

TEST(ReportName, has_program_time_and_process) {
  EXPECT_EQ(report_name("notes", 1'795'935'912, 4711).text(),
            "notes-crash-20261129T070512Z-4711.txt");
  EXPECT_EQ(time_text(0).text(), "1970-01-01T00:00:00Z");
  EXPECT_EQ(time_text(951'782'400).text(), "2000-02-29T00:00:00Z");
  EXPECT_EQ(time_text(4'107'542'399).text(), "2100-02-28T23:59:59Z");
  EXPECT_EQ(report_name("../a b", 0, 1).text(), ".._a_b-crash-19700101T000000Z-1.txt");
}

TEST(ReportName, is_told_from_other_files) {
  EXPECT_TRUE(is_report_name("notes-crash-20261129T070512Z-4711.txt", "notes"));
  for (const char* other :
       {"notes.log", "notes-crash-.txt", "other-crash-20261129T070512Z-4711.txt",
        "notes-crash-20261129T070512Z-4711.txt.gz", "notes-crash-20261129T070512Z-.txt",
        "notes-crash-2026112xT070512Z-4711.txt", "notes-crash-20261129T070512Z-47x1.txt"}) {
    EXPECT_FALSE(is_report_name(other, "notes")) << other;
  }
}

class ReportFilesTest : public testing::Test {
 protected:
  ReportFilesTest() {
    std::string name = (std::filesystem::temp_directory_path() / "katana_crash_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~ReportFilesTest() override { std::filesystem::remove_all(folder_); }

  std::string add(std::time_t time, const std::string& text = example) {
    const std::string path = folder_ + "/" + std::string(report_name("notes", time, 7).text());
    std::ofstream(path) << text;
    return path;
  }
  std::vector<NewReport> take(std::size_t keep = 5) {
    auto taken = take_new_reports(folder_, "notes", keep);
    EXPECT_TRUE(taken);
    return taken ? *std::move(taken) : std::vector<NewReport>();
  }

  std::string folder_;
};

TEST_F(ReportFilesTest, a_report_is_told_once) {
  const std::string path = add(1000);
  const auto first = take();
  ASSERT_THAT(first, SizeIs(1));
  EXPECT_EQ(first[0].path, path);
  EXPECT_THAT(first[0].summary, HasSubstr("signal 11 SIGSEGV"));
  EXPECT_THAT(first[0].frames, HasSubstr("my notes+0x1000"));
  EXPECT_THAT(take(), IsEmpty());
  EXPECT_EQ(count_reports(folder_, "notes"), 1u);
}

TEST_F(ReportFilesTest, only_the_newest_are_kept_and_other_files_stay) {
  std::ofstream(folder_ + "/other.txt") << "x";
  for (int time = 0; time < 8; ++time) add(1000 + time);
  EXPECT_THAT(take(3), SizeIs(8));
  EXPECT_EQ(count_reports(folder_, "notes"), 3u);
  EXPECT_TRUE(
      std::filesystem::exists(folder_ + "/" + std::string(report_name("notes", 1007, 7).text())));
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/other.txt"));
}

TEST_F(ReportFilesTest, one_that_is_being_written_is_left_for_later) {
  const std::string path = add(1000);
  const int writer = ::open(path.c_str(), O_WRONLY);
  ASSERT_EQ(::flock(writer, LOCK_EX), 0);
  EXPECT_THAT(take(), IsEmpty());
  ::close(writer);
  EXPECT_THAT(take(), SizeIs(1));
}

TEST_F(ReportFilesTest, one_that_cannot_be_read_is_told_with_the_reason) {
  add(1000, "nonsense\n");
  const auto taken = take();
  ASSERT_THAT(taken, SizeIs(1));
  EXPECT_THAT(taken[0].summary, HasSubstr("this is no crash report"));
  EXPECT_THAT(take(), IsEmpty());
}

TEST_F(ReportFilesTest, links_and_devices_are_not_followed) {
  std::filesystem::create_symlink("/etc/passwd",
                                  folder_ + "/" + std::string(report_name("notes", 1, 7).text()));
  ASSERT_EQ(
      ::mkfifo((folder_ + "/" + std::string(report_name("notes", 2, 7).text())).c_str(), 0600), 0);
  EXPECT_THAT(take(), IsEmpty());
}

TEST_F(ReportFilesTest, a_folder_that_is_missing_is_an_error_with_its_name) {
  const auto taken = take_new_reports(folder_ + "/none", "notes", 5);
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().describe(), HasSubstr(folder_ + "/none"));
}

}  // namespace
}  // namespace katana::crash

// SPDX-License-Identifier: Apache-2.0
