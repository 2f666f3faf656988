// Application as a program: check of a configuration, hooks, its end, several in one process, and
// certificates that change while it serves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "katana/app/application.hpp"
#include "katana/http/server/client_test.hpp"
#include "katana/net/tls/development.hpp"

namespace katana::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ProgramTest : public testing::Test {
 protected:
  ProgramTest() {
    std::string name = (std::filesystem::temp_directory_path() / "program_XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  ~ProgramTest() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  CommandLine line(std::vector<std::string> more = {}) const {
    CommandLine made;
    made.sets = {"http.port=0",          "http.reactors=1",   "http.connections_max=64",
                 "http.drain_notice=0s", "log.console=false", "log.json_file=" + file("log.jsonl")};
    made.sets.insert(made.sets.end(), more.begin(), more.end());
    return made;
  }
  std::string log_text() const {
    std::ifstream input(file("log.jsonl"));
    return {std::istreambuf_iterator<char>(input), {}};
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name)) << text;
  }
  // Replaces a file as certbot and Kubernetes do: by a new file under the old name.
  void replace(const std::string& name, const std::string& text) const {
    write(name + ".new", text);
    std::filesystem::rename(file(name + ".new"), file(name));
  }
  bool logged_within_a_minute(const std::string& words) const {
    for (int round = 0; round < 6000; ++round) {
      if (log_text().find(words) != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  int check(std::vector<std::string> flags) const {
    std::vector<const char*> arguments = {"checked", "--check-config"};
    for (const std::string& flag : flags) arguments.push_back(flag.c_str());
    Application<> app({.name = "checked"});
    return app.run(static_cast<int>(arguments.size()), arguments.data());
  }

  std::filesystem::path folder_;
};

TEST_F(ProgramTest, what_is_insecure_is_a_warning_and_with_strict_an_error) {
  write("public.yaml", "http: {address: 0.0.0.0, port: 9999}\n");
  testing::internal::CaptureStderr();
  EXPECT_EQ(check({"--config", file("public.yaml")}), 0);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("checked: insecure: http.address is 0.0.0.0: "));
  EXPECT_EQ(check({"--config", file("public.yaml"), "--strict"}), 1);

  CommandLine strict = line({"http.address=0.0.0.0"});
  strict.strict = true;
  Application<> app({.name = "checked"});
  const auto started = app.start(strict);
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().describe(), HasSubstr("http.hosts is empty"));
}

TEST_F(ProgramTest, a_configuration_is_checked_without_starting_anything) {
  write("good.yaml", "http: {port: 9999, limits: {head_bytes_max: 32KiB}}\nlog: {file: " +
                         file("made.log") + "}\n");
  testing::internal::CaptureStdout();
  EXPECT_EQ(check({"--config", file("good.yaml")}), 0);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "checked: the configuration is valid\n");
  EXPECT_FALSE(std::filesystem::exists(file("made.log")));

  write("wrong.yaml", "http:\n  limits:\n    head_bytes_max: 1GiB\n  enginee: auto\n");
  testing::internal::CaptureStderr();
  EXPECT_EQ(check({"--config", file("wrong.yaml")}), 2);
  const std::string wrong = testing::internal::GetCapturedStderr();
  EXPECT_THAT(wrong, HasSubstr("wrong.yaml:3: http.limits.head_bytes_max: expected 5B to"));
  EXPECT_THAT(wrong, HasSubstr("wrong.yaml:4: http.enginee: unknown key; did you mean 'engine'?"));
}

TEST_F(ProgramTest, a_check_finds_what_does_not_go_together_and_files_that_are_missing) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(check({"--set", "http.limits.head_bytes_max=4KiB", "--set",
                   "http.tls.certificates=[{certificate: /none.pem, key: /none.key}]"}),
            2);
  const std::string wrong = testing::internal::GetCapturedStderr();
  EXPECT_THAT(wrong, HasSubstr("http.limits.request_line_bytes_max"));
  EXPECT_THAT(wrong, HasSubstr("http.tls: "));
  EXPECT_THAT(wrong, HasSubstr("/none.pem"));
}

TEST_F(ProgramTest, hooks_run_when_it_accepts_and_before_parts_stop) {
  std::vector<std::string> order;
  Application<> app({.name = "hooked"});
  app.part({.name = "own",
            .needs = {"log"},
            .start = [] { return Result<void>(); },
            .stop = [&order] { order.emplace_back("part"); }});
  app.on_start([&](const registry::Services& services) {
    EXPECT_TRUE(server::Client(app.port()).connected);
    services.get<log::Log>().logger("hook").info("from the hook");
    order.emplace_back("start");
  });
  app.on_stop([&order](const registry::Services&) { order.emplace_back("stop 1"); });
  app.on_stop([&order](const registry::Services&) -> Result<void> {
    order.emplace_back("stop 2");
    return fail(Code::unavailable, "nobody to tell");
  });
  const auto started = app.start(line());
  ASSERT_TRUE(started) << started.error().describe();
  std::thread([&app] { app.shutdown(); }).join();
  app.shutdown();  // a second signal would cut off requests in flight
  EXPECT_EQ(app.serve().cut_off, 0u);
  app.stop();
  EXPECT_THAT(order, ElementsAre("start", "stop 2", "stop 1", "part"));
  EXPECT_THAT(log_text(), HasSubstr("from the hook"));
  EXPECT_THAT(log_text(), HasSubstr("on_stop: nobody to tell"));
}

TEST_F(ProgramTest, a_start_hook_that_fails_fails_the_start_and_stops_all_parts) {
  bool stopped = false;
  Application<> app({.name = "hooked"});
  app.part({.name = "own",
            .needs = {"log"},
            .start = [] { return Result<void>(); },
            .stop = [&stopped] { stopped = true; }});
  app.on_start([](const registry::Services&) -> Result<void> {
    return fail(Code::unavailable, "the license server does not answer");
  });
  app.on_stop([](const registry::Services&) { ADD_FAILURE() << "it had not started"; });
  const auto started = app.start(line());
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().describe(), "on_start: the license server does not answer");
  EXPECT_TRUE(stopped);
}

TEST_F(ProgramTest, shutdown_before_the_start_lets_it_serve_nothing) {
  Application<> app({.name = "brief"});
  app.shutdown();
  ASSERT_TRUE(app.start(line()));
  EXPECT_EQ(app.serve().requests, 0u);
}

TEST_F(ProgramTest, two_serve_side_by_side_and_one_signal_ends_both) {
  Application<> one({.name = "one"});
  Application<> two({.name = "two"});
  ASSERT_TRUE(one.start(line()));
  ASSERT_TRUE(two.start(line({"log.json_file=" + file("two.jsonl")})));
  server::ServerReport report_of_two;
  std::thread second([&] { report_of_two = two.serve(); });
  std::thread clients([&] {
    EXPECT_TRUE(server::Client(one.port()).ask("/health").starts_with("HTTP/1.1 200 "));
    EXPECT_TRUE(server::Client(two.port()).ask("/health").starts_with("HTTP/1.1 200 "));
    ::kill(::getpid(), SIGTERM);
  });
  EXPECT_EQ(one.serve().requests, 1u);
  second.join();
  clients.join();
  EXPECT_EQ(report_of_two.requests, 1u);
}

TEST_F(ProgramTest, one_of_two_is_shut_down_and_the_other_serves_on) {
  Application<> one({.name = "one"});
  ASSERT_TRUE(one.start(line()));
  std::thread first([&] { (void)one.serve(); });
  {
    Application<> two({.name = "two"});
    ASSERT_TRUE(two.start(line({"log.json_file=" + file("two.jsonl")})));
    two.shutdown();
    (void)two.serve();
  }
  EXPECT_TRUE(server::Client(one.port()).ask("/health").starts_with("HTTP/1.1 200 "));
  one.shutdown();
  first.join();
}

TEST_F(ProgramTest, variables_have_the_prefix_of_the_program) {
  ::setenv("SHOP_LOG__LEVELS", "warn", 1);
  ::setenv("KATANA_NOTHING", "not looked at", 1);
  Application<> app({.name = "shop", .environment_prefix = "SHOP_"});
  const auto started = app.start(line());
  ::unsetenv("SHOP_LOG__LEVELS");
  ::unsetenv("KATANA_NOTHING");
  ASSERT_TRUE(started) << started.error().describe();
  EXPECT_EQ(app.config().get()->log.levels, "warn");
}

TEST_F(ProgramTest, certificates_that_change_are_read_again_and_broken_ones_are_not_taken) {
  const auto first = tls::make_development_certificate({});
  const auto next = tls::make_development_certificate({});
  ASSERT_TRUE(first && next);
  // A secret as Kubernetes mounts it: names lead through a link that is replaced.
  for (const auto& [version, made] : {std::pair("v1", &*first), std::pair("v2", &*next)}) {
    std::filesystem::create_directory(folder_ / version);
    write(std::string(version) + "/tls.crt", made->chain_text);
    write(std::string(version) + "/tls.key", made->key_text);
  }
  const auto link = [this](const std::string& version) {
    std::filesystem::create_directory_symlink(version, folder_ / "..data.new");
    std::filesystem::rename(folder_ / "..data.new", folder_ / "..data");
  };
  link("v1");
  Application<> app({.name = "sealed"});
  const std::string pair =
      "{certificate: " + file("..data/tls.crt") + ", key: " + file("..data/tls.key") + "}";
  const auto started =
      app.start(line({"http.tls.certificates=[" + pair + "]", "http.tls.watch=10ms"}));
  ASSERT_TRUE(started) << started.error().describe();
  EXPECT_TRUE(app.url().starts_with("https://"));
  std::thread changes([&] {
    replace("v1/tls.crt", "no certificate");
    EXPECT_TRUE(logged_within_a_minute("certificates are not read again, the present ones stay: "))
        << log_text();
    EXPECT_EQ(log_text().find("certificates: read again"), std::string::npos);
    link("v2");
    EXPECT_TRUE(logged_within_a_minute("certificates: read again")) << log_text();
    app.shutdown();
  });
  (void)app.serve();
  changes.join();
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
