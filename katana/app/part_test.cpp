// Part: systems that a program adds, from their settings to their end, in a whole program.
#include "katana/app/part.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "katana/app/application.hpp"
#include "katana/http/server/client_test.hpp"

namespace katana::app {

struct PostSettings {
  std::string host = "localhost";
  std::uint16_t port = 25;
  std::uint32_t letters_max = 10;
};
KATANA_DESCRIBE(PostSettings, host, (port, at_least(1)), (letters_max, reloadable))

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// The events of a test in their order, from any thread.
class Notes {
 public:
  void add(std::string note) {
    const std::lock_guard lock(mutex_);
    notes_.push_back(std::move(note));
  }
  std::vector<std::string> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(notes_, {});
  }
  bool has(const std::string& note) {
    const std::lock_guard lock(mutex_);
    return std::ranges::find(notes_, note) != notes_.end();
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> notes_;
};

struct PostOffice {
  std::string host;
};

// With it a reload waits a moment for another one.
constexpr std::uint32_t slow_letters_max = 7;

class Post final : public PartWith<PostSettings> {
 public:
  explicit Post(Notes& notes) : PartWith("post", "the post office"), notes_(notes) {}

  std::vector<std::string> needs() const override { return {"roads"}; }
  Result<void> check() const override {
    if (settings().host != "nowhere") return {};
    return fail(Code::invalid_argument, "post.host is nowhere; set the name of a host");
  }
  void add_needs(PartNeeds& needs) const override { needs.connections = true; }
  void judge(std::vector<InsecureSetting>& findings) const override {
    if (settings().port == 25) findings.push_back({"post.port", "25", "it has no TLS", "set 465"});
  }
  Result<void> start(const PartContext& context) override {
    if (settings().host == "closed") return fail(Code::unavailable, "post.host closed is closed");
    context.log.logger("post").info("the post office is open");
    office_.host = settings().host;
    notes_.add("+post");
    return {};
  }
  void provide(registry::Registry& registry) override { registry.instance<PostOffice>(office_); }
  Result<void> observe(metrics::Registry& metrics, metrics::HealthChecks& checks) override {
    auto letters = metrics.gauges({.name = "post_letters_max", .help = "Letters.", .labels = {}});
    if (!letters) return std::unexpected(letters.error());
    letters->with().set(settings().letters_max);
    return checks.add({.name = "post",
                       .run = [this](std::stop_token) -> Result<void> {
                         if (office_.host == "open") return {};
                         return fail(Code::unavailable, "on strike");
                       },
                       .may_block = false});
  }
  Task<Result<void>> begin() override {
    notes_.add("begin post");
    co_return fail(Code::unavailable, "the first letter is lost");
  }
  Result<void> reload_settings(const PostSettings& now) override {
    notes_.add(fmt::format("reload {} {}", now.letters_max, now.port));
    if (++reloads_ > 1) notes_.add("two reloads at once");
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
    while (now.letters_max == slow_letters_max && reloads_ == 1 &&
           std::chrono::steady_clock::now() < end) {
      std::this_thread::yield();
    }
    --reloads_;
    if (now.letters_max == 0) return fail(Code::invalid_argument, "no letters");
    return {};
  }
  void drain() noexcept override { notes_.add("drain post"); }
  void stop() noexcept override { notes_.add("-post"); }

 private:
  Notes& notes_;
  PostOffice office_;
  std::atomic<int> reloads_ = 0;
};

class Roads final : public Part {
 public:
  explicit Roads(Notes& notes) : notes_(notes) {}
  std::string_view name() const noexcept override { return "roads"; }
  Result<void> start(const PartContext&) override {
    notes_.add("+roads");
    return {};
  }
  void drain() noexcept override { notes_.add("drain roads"); }
  void stop() noexcept override { notes_.add("-roads"); }

 private:
  Notes& notes_;
};

// Its group has the name of one of every program.
class Requests final : public PartWith<PostSettings> {
 public:
  Requests() : PartWith("requests", "") {}
  Result<void> start(const PartContext&) override { return {}; }
};

class PartTest : public testing::Test {
 protected:
  PartTest() {
    std::string name = (std::filesystem::temp_directory_path() / "part_XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    write("post: {host: open}\n");
    app_.use(std::make_unique<Post>(notes_));
    app_.use(std::make_unique<Roads>(notes_));
  }
  ~PartTest() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& text) const {
    std::ofstream(folder_ / "app.yaml")
        << "http: {port: 0, reactors: 1, connections_max: 64, drain_notice: 0s}\n"
        << "log: {console: false, json_file: " << (folder_ / "app.jsonl").string() << "}\n"
        << text;
  }
  CommandLine line() const { return {.config = (folder_ / "app.yaml").string()}; }
  std::string log_text() const {
    std::ifstream input(folder_ / "app.jsonl");
    return {std::istreambuf_iterator<char>(input), {}};
  }
  std::string failure() {
    const auto started = app_.start(line());
    EXPECT_FALSE(started);
    return started ? std::string() : started.error().describe();
  }
  // Ends when `clients` have.
  template <class Clients>
  void serve(Clients clients) {
    std::thread thread([&] {
      clients(app_.port());
      ::kill(::getpid(), SIGTERM);
    });
    app_.serve();
    thread.join();
  }

  std::filesystem::path folder_;
  Notes notes_;
  Application<> app_{{.name = "letters"}};
};

TEST_F(PartTest, parts_start_after_what_they_need_begin_once_it_serves_and_stop_in_reverse) {
  app_.on_stop([this](const registry::Services&) { notes_.add("on_stop"); });
  ASSERT_TRUE(app_.start(line()));
  serve([this](std::uint16_t) {
    while (!notes_.has("begin post")) std::this_thread::yield();
  });
  app_.stop();
  EXPECT_THAT(notes_.take(), ElementsAre("+roads", "+post", "begin post", "drain roads",
                                         "drain post", "on_stop", "-post", "-roads"));
  EXPECT_THAT(log_text(), HasSubstr("the post office is open"));
  EXPECT_THAT(log_text(), HasSubstr("\"part\":\"post\""));
  EXPECT_THAT(log_text(), HasSubstr("the first letter is lost")) << "what begin() gives is logged";
}

TEST_F(PartTest, what_a_part_provides_its_metrics_and_its_health_are_those_of_the_program) {
  write("post: {host: open, letters_max: 77}\n");
  app_.routes([](const registry::Services& services, Router& router) {
    router.get("/", [&office = services.get<PostOffice>()] { return Reply::text(office.host); });
  });
  ASSERT_TRUE(app_.start(line()));
  serve([](std::uint16_t port) {
    const auto ask = [port](const char* path) { return server::Client(port).ask(path); };
    EXPECT_TRUE(ask("/").ends_with("open"));
    EXPECT_THAT(ask("/metrics"), HasSubstr("post_letters_max 77"));
    EXPECT_THAT(ask("/metrics"), HasSubstr("katana_startup_seconds{part=\"post\"}"));
    EXPECT_THAT(ask("/ready"), HasSubstr(" 200 "));
  });
}

TEST_F(PartTest, it_is_not_ready_while_a_part_is_not_healthy) {
  write("post: {host: other}\n");
  ASSERT_TRUE(app_.start(line()));
  serve([](std::uint16_t port) {
    const std::string ready = server::Client(port).ask("/ready");
    EXPECT_THAT(ready, HasSubstr(" 503 "));
    EXPECT_THAT(ready, HasSubstr("on strike"));
    EXPECT_THAT(server::Client(port).ask("/health"), HasSubstr(" 200 "));
  });
}

TEST_F(PartTest, a_part_that_fails_ends_the_start_and_what_was_started_stops) {
  write("post: {host: closed}\n");
  EXPECT_THAT(failure(), testing::AllOf(HasSubstr("'post' did not start: "),
                                        HasSubstr("post.host closed is closed"),
                                        HasSubstr("Check the settings post")));
  EXPECT_THAT(notes_.take(), ElementsAre("+roads", "-roads"));
}

TEST_F(PartTest, a_failure_behind_the_parts_stops_them_in_reverse) {
  app_.services([](registry::Registry& registry) {
    registry.singleton<std::string>([]() -> Result<std::unique_ptr<std::string>> {
      return fail(Code::unavailable, "no text today");
    });
  });
  EXPECT_THAT(failure(), HasSubstr("no text today"));
  EXPECT_THAT(notes_.take(), ElementsAre("+roads", "+post", "-post", "-roads"));
}

TEST_F(PartTest, a_hook_that_fails_stops_the_parts) {
  app_.on_start([](const registry::Services&) { return fail(Code::unavailable, "not today"); });
  EXPECT_THAT(failure(), HasSubstr("not today"));
  const auto notes = notes_.take();
  ASSERT_GE(notes.size(), 2u);
  EXPECT_EQ(notes[notes.size() - 2], "-post");
  EXPECT_EQ(notes.back(), "-roads");
}

TEST_F(PartTest, a_setting_that_breaks_a_rule_is_named_before_anything_starts) {
  write("post: {port: 0}\n");
  EXPECT_THAT(failure(), HasSubstr("app.yaml:3: post.port: expected at least 1, got 0"));
  EXPECT_THAT(notes_.take(), ElementsAre());
}

TEST_F(PartTest, settings_that_a_part_refuses_are_named_before_anything_starts) {
  write("post: {host: nowhere}\n");
  EXPECT_THAT(failure(), HasSubstr("post.host is nowhere; set the name of a host"));
  EXPECT_THAT(notes_.take(), ElementsAre());
}

TEST_F(PartTest, the_check_of_a_configuration_asks_parts_and_starts_none) {
  const std::string file = (folder_ / "app.yaml").string();
  const auto run = [&](const char* strict) {
    const char* const arguments[] = {"letters", "--config", file.c_str(), "--check-config", strict};
    testing::internal::CaptureStderr();
    const int status = app_.run(strict == nullptr ? 4 : 5, arguments);
    return std::pair(status, testing::internal::GetCapturedStderr());
  };
  write("post: {host: nowhere}\n");
  const auto [refused, why] = run(nullptr);
  EXPECT_EQ(refused, 2);
  EXPECT_THAT(why, HasSubstr("post.host is nowhere; set the name of a host"));
  write("post: {host: open}\n");
  const auto [insecure, findings] = run("--strict");
  EXPECT_EQ(insecure, 1);
  EXPECT_THAT(findings, HasSubstr("post.port is 25: it has no TLS; set 465"));
  write("post: {host: open, port: 465}\n");
  EXPECT_THAT(run("--strict").second, Not(HasSubstr("post.port")));
  EXPECT_THAT(notes_.take(), ElementsAre());
}

TEST_F(PartTest, a_group_of_a_part_that_was_not_added_is_refused_with_the_remedy) {
  write("bus: {url: 'nats://10.0.0.1'}\n");
  EXPECT_THAT(failure(), HasSubstr("app.yaml:3: bus.url: 'bus.url' is of a part that this program "
                                   "does not have: add it with app.use(app::nats())"));
}

TEST_F(PartTest, a_group_of_the_database_in_a_program_without_one_is_refused_with_the_remedy) {
  write("database: {url: 'sqlite:x.db'}\n");
  EXPECT_THAT(failure(), HasSubstr("app.yaml:3: database: 'database' is of a part that this "
                                   "program does not have: give ApplicationOptions::database"));
}

TEST_F(PartTest, a_part_that_is_there_twice_fails_the_start_and_is_named) {
  app_.use(std::make_unique<Roads>(notes_));
  EXPECT_THAT(failure(), HasSubstr("part 'roads' is there twice"));
}

TEST_F(PartTest, a_group_that_the_settings_of_the_program_have_as_well_is_refused_and_named) {
  app_.use(std::make_unique<Requests>());
  EXPECT_THAT(failure(), HasSubstr("the group 'requests' of the configuration is there twice"));
  EXPECT_THAT(notes_.take(), ElementsAre());
}

TEST_F(PartTest, reloads_by_signals_and_actions_are_one_after_another) {
  ASSERT_TRUE(app_.start(line()));
  serve([this](std::uint16_t) {
    write("post: {host: open, letters_max: 7}\n");
    std::thread other([this] { EXPECT_TRUE(app_.reload()); });
    EXPECT_TRUE(app_.reload());
    other.join();
    while (!notes_.has("begin post")) std::this_thread::yield();
  });
  const auto notes = notes_.take();
  EXPECT_EQ(std::ranges::count(notes, "reload 7 25"), 2);
  EXPECT_EQ(std::ranges::count(notes, "two reloads at once"), 0);
  app_.stop();
}

TEST_F(PartTest, a_reload_gives_a_part_what_is_reloadable_and_its_error_is_logged) {
  ASSERT_TRUE(app_.start(line()));
  serve([this](std::uint16_t) {
    write("post: {host: open, port: 26, letters_max: 11}\n");
    EXPECT_TRUE(app_.reload());
    write("post: {host: open, port: 26, letters_max: 0}\n");
    EXPECT_TRUE(app_.reload());
    while (!notes_.has("begin post")) std::this_thread::yield();
  });
  const auto notes = notes_.take();
  EXPECT_THAT(notes, testing::IsSupersetOf({"reload 11 25", "reload 0 25"}));
  app_.stop();
  EXPECT_THAT(log_text(), HasSubstr("post.letters_max: 10 → 11"));
  EXPECT_THAT(log_text(), HasSubstr("needs a restart: post.port: 25 → 26"));
  EXPECT_THAT(log_text(), HasSubstr("post: no letters"));
}

TEST_F(PartTest, the_defaults_of_a_program_have_the_groups_of_its_parts) {
  const auto run = [this](const char* flag) {
    const char* const arguments[] = {"letters", flag};
    testing::internal::CaptureStdout();
    EXPECT_EQ(app_.run(2, arguments), 0);
    std::fflush(stdout);
    return testing::internal::GetCapturedStdout();
  };
  const std::string defaults = run("--print-defaults");
  EXPECT_THAT(defaults, HasSubstr("\npost:                                   # the post office\n"));
  EXPECT_THAT(defaults, HasSubstr("\nbus: "));
  EXPECT_THAT(defaults, Not(HasSubstr("nats")));
  EXPECT_THAT(run("--print-schema"), HasSubstr("letters_max"));
}

TEST(PartNeeds, what_a_part_needs_is_left_to_a_program_that_gives_up_its_rights) {
  ApplicationSettings settings;
  ProcessNeeds needs;
  EXPECT_FALSE(call_rules_of(settings, needs).connections);
  needs.parts = {.files = {"/srv/post/password"},
                 .reads = {"/srv/stamps"},
                 .writes = {"/srv/letters"},
                 .secrets = {},
                 .connections = true};
  EXPECT_TRUE(call_rules_of(settings, needs).connections);
  const auto rules = file_rules_of(settings, needs);
  EXPECT_TRUE(rules.connect);
  EXPECT_THAT(rules.read, testing::IsSupersetOf({"/srv/post", "/srv/stamps"}));
  EXPECT_THAT(rules.write, testing::Contains("/srv/letters"));
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
