#include "katana/app/process_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "katana/base/system/thread_sanitizer_test.hpp"

namespace katana::app {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Optional;

ApplicationSettings settings_of() {
  ApplicationSettings settings;
  settings.http.port = 8443;
  settings.database.url = "sqlite:/srv/app/data/app.db";
  settings.log.file = "/srv/app/log/app.log";
  return settings;
}

TEST(ProcessRules, files_of_the_settings_are_named_by_their_folders) {
  ApplicationSettings settings = settings_of();
  settings.http.tls.certificates.resize(1);
  settings.http.tls.certificates[0].chain_file = "/srv/tls/chain.pem";
  settings.http.tls.certificates[0].key_file = "/srv/keys/key.pem";
  settings.http.listeners.push_back({.address = "unix:/srv/run/app.sock"});
  settings.http.forms.folder = "/srv/spill";
  settings.redis.password_file = "/srv/redis/password";
  settings.cache.redis.tls.authorities_file = "/srv/cache/ca.pem";
  settings.process.sandbox_read = {"/srv/pages/"};
  settings.process.sandbox_write = {"/srv/uploads"};
  const auto rules = file_rules_of(
      settings, {.config_file = "/srv/etc/app.yaml", .reads = {"/srv/static"}, .database = true});
  for (const char* each : {"/srv/tls", "/srv/keys", "/srv/etc", "/srv/static", "/srv/pages",
                           "/srv/redis", "/srv/cache"}) {
    EXPECT_THAT(rules.read, Contains(each));
  }
  for (const char* each :
       {"/srv/app/data", "/srv/app/log", "/srv/run", "/srv/spill", "/srv/uploads"}) {
    EXPECT_THAT(rules.write, Contains(each));
  }
  EXPECT_THAT(rules.read, Not(Contains("/etc")));
  EXPECT_FALSE(rules.execute);
}

TEST(ProcessRules, crash_reports_go_to_their_folder_or_beside_the_log_or_to_the_state_folder) {
  ApplicationSettings settings = settings_of();
  settings.log.json_file = "/srv/json/app.json";
  settings.crash.folder = "/srv/crashes";
  EXPECT_EQ(crash_folder_of(settings), "/srv/crashes");
  EXPECT_THAT(file_rules_of(settings, {}).write, Contains("/srv/crashes"));
  settings.crash.folder.clear();
  EXPECT_EQ(crash_folder_of(settings), "/srv/json");
  settings.log.json_file.clear();
  EXPECT_EQ(crash_folder_of(settings), "/srv/app/log");
  settings.log.file = "app.log";
  EXPECT_EQ(crash_folder_of(settings), ".");
  settings.log.file.clear();
  ::unsetenv("STATE_DIRECTORY");
  EXPECT_EQ(crash_folder_of(settings), "");
  ::setenv("STATE_DIRECTORY", "/var/lib/app:/var/lib/other", 1);
  EXPECT_EQ(crash_folder_of(settings), "/var/lib/app");
  EXPECT_THAT(file_rules_of(settings, {}).write, Contains("/var/lib/app"));
  settings.crash.report = false;
  EXPECT_EQ(crash_folder_of(settings), "");
  ::unsetenv("STATE_DIRECTORY");
}

TEST(ProcessRules, a_redis_is_connected_to) {
  ApplicationSettings settings = settings_of();
  EXPECT_FALSE(file_rules_of(settings, {}).connect);
  settings.redis.url = "redis://10.0.0.1";
  EXPECT_TRUE(file_rules_of(settings, {}).connect);
  EXPECT_TRUE(call_rules_of(settings, {}).connections);
  settings.redis.url.clear();
  settings.cache.redis.url = "unix:/run/redis.sock";
  EXPECT_TRUE(call_rules_of(settings, {}).connections);
}

TEST(ProcessRules, a_program_without_profiles_makes_no_timers) {
  ApplicationSettings settings = settings_of();
  EXPECT_TRUE(call_rules_of(settings, {}).timers);
  settings.profile.enabled = false;
  EXPECT_FALSE(call_rules_of(settings, {}).timers);
}

TEST(ProcessRules, a_link_is_followed_to_the_folder_of_the_file) {
  std::string name = (fs::temp_directory_path() / "process_rules_XXXXXX").string();
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const fs::path folder = fs::canonical(name);
  fs::create_directories(folder / "archive");
  fs::create_directories(folder / "live");
  std::ofstream(folder / "archive/key1.pem") << "key";
  fs::create_symlink(folder / "archive/key1.pem", folder / "live/key.pem");
  ApplicationSettings settings;
  settings.http.tls.certificates.resize(1);
  settings.http.tls.certificates[0].key_file = (folder / "live/key.pem").string();
  const auto rules = file_rules_of(settings, {});
  EXPECT_THAT(rules.read, Contains((folder / "archive").string()));
  EXPECT_THAT(rules.read, Contains((folder / "live").string()));
  fs::remove_all(folder);
}

TEST(ProcessRules, ports_are_those_of_the_listeners_and_any_where_the_kernel_chooses) {
  ApplicationSettings settings = settings_of();
  settings.http.listeners.push_back({.address = "::1", .port = 8081});
  settings.http.listeners.push_back({.address = "unix:/srv/run/app.sock"});
  settings.operations.port = 9100;
  EXPECT_THAT(file_rules_of(settings, {}).bind, Optional(ElementsAre(8443, 8081, 9100)));
  settings.http.port = 0;
  EXPECT_EQ(file_rules_of(settings, {}).bind, std::nullopt);
}

TEST(ProcessRules, only_programs_with_a_client_a_far_database_or_upstreams_connect) {
  ApplicationSettings settings = settings_of();
  EXPECT_FALSE(call_rules_of(settings, {.database = true}).connections);
  EXPECT_TRUE(call_rules_of(settings, {.connections = true}).connections);
  settings.monitor.upstreams["billing"].url = "http://127.0.0.1/";
  EXPECT_TRUE(call_rules_of(settings, {}).connections);
  settings.monitor.upstreams.clear();
  settings.database.url = "postgresql://app@db/app";
  EXPECT_TRUE(call_rules_of(settings, {.database = true}).connections);
  EXPECT_FALSE(call_rules_of(settings, {.database = false}).connections);
  EXPECT_THAT(file_rules_of(settings, {.database = true}).read, Contains("/etc"));
  settings.process.sandbox_allow = {SandboxUse::connections, SandboxUse::subprocesses};
  EXPECT_TRUE(call_rules_of(settings, {}).connections);
  EXPECT_TRUE(call_rules_of(settings, {}).subprocesses);
  EXPECT_TRUE(file_rules_of(settings, {}).execute);
}

TEST(ProcessRules, calls_of_io_uring_are_for_programs_that_may_use_it) {
  ApplicationSettings settings;
  EXPECT_FALSE(call_rules_of(settings, {}).io_uring);
  settings.http.engine = server::EngineName::automatic;
  EXPECT_TRUE(call_rules_of(settings, {}).io_uring);
}

TEST(ProcessRules, a_low_port_needs_root) {
  ApplicationSettings settings;
  EXPECT_FALSE(needs_root_to_bind(settings));
  settings.http.listeners.push_back({.address = "0.0.0.0", .port = 80});
  EXPECT_EQ(needs_root_to_bind(settings), sandbox::first_free_port() > 80);
}

TEST(ProcessRules, mistakes_name_the_setting) {
  const auto error_of = [](const ProcessSettings& process) {
    ApplicationSettings settings;
    settings.process = process;
    ProcessRules rules;
    const auto entered = rules.enter(settings, {});
    const auto checked = check_process(process);  // --check-config says the same
    EXPECT_EQ(checked.has_value(), entered.has_value());
    return entered ? std::string() : entered.error().describe();
  };
  EXPECT_THAT(error_of({.user = "no-such-user"}), HasSubstr("process.user: there is no user"));
  EXPECT_THAT(error_of({.group = "daemon"}), HasSubstr("process.user is empty"));
  EXPECT_THAT(error_of({.umask = "9"}), HasSubstr("process.umask '9'"));
}

// ThreadSanitizer has its own calls and threads, and forbids threads behind a fork.
class InProcess : public testing::Test {
 protected:
  void SetUp() override {
#if defined(KATANA_THREAD_SANITIZER)
    GTEST_SKIP() << "in a process of ThreadSanitizer";
#endif
  }
};

// Returns the result of `act` in a process that has entered the rules.
template <class F>
int in_process_of(const ApplicationSettings& settings, F act) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::fclose(stderr);
    ProcessRules rules;
    if (!rules.enter(settings, {})) ::_exit(100);
    if (!rules.finish_start()) ::_exit(101);
    ::_exit(act(rules));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(InProcess, the_report_says_what_is_enforced_and_what_is_not) {
  ApplicationSettings settings;
  settings.process.sandbox = Sandbox::on;
  settings.process.sandbox_read = {"/absent/folder"};
  const bool has_landlock = sandbox::landlock_version() > 0;
  EXPECT_EQ(in_process_of(settings,
                          [=](const ProcessRules& rules) {
                            const auto has = [](const auto& lines, const char* words) {
                              return std::ranges::any_of(lines, [&](const std::string& line) {
                                return line.find(words) != std::string::npos;
                              });
                            };
                            if (has_landlock) {
                              if (!has(rules.report(), "files by Landlock")) return 1;
                              if (!has(rules.warnings(), "'/absent/folder' is not there")) return 2;
                            } else if (!has(rules.warnings(), "not enforced")) {
                              return 3;
                            }
                            if (sandbox::is_root() && !has(rules.warnings(), "runs as root")) {
                              return 4;
                            }
                            return 0;
                          }),
            0);
}

TEST_F(InProcess, threads_that_were_there_before_are_named) {
  if (sandbox::landlock_version() == 0) GTEST_SKIP() << "this kernel has no Landlock";
  const pid_t child = ::fork();
  if (child == 0) {
    std::atomic<bool> ended = false;
    std::thread earlier([&] { ended.wait(false); });
    ApplicationSettings settings;
    settings.process.sandbox = Sandbox::on;
    ProcessRules rules;
    const bool entered = rules.enter(settings, {}).has_value();
    const bool named = std::ranges::any_of(rules.warnings(), [](const std::string& line) {
      return line.find("in 1 threads that the program had before") != std::string::npos;
    });
    ended = true;
    ended.notify_all();
    earlier.join();
    ::_exit(entered && named ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(InProcess, a_report_refuses_nothing) {
  ApplicationSettings settings;
  settings.process.sandbox = Sandbox::report;
  EXPECT_EQ(in_process_of(settings,
                          [](const ProcessRules&) {
                            const pid_t child = ::fork();
                            if (child == 0) ::_exit(0);
                            if (child < 0) return 1;
                            return std::ifstream("/etc/fstab") || !fs::exists("/etc/fstab") ? 0 : 2;
                          }),
            0);
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
