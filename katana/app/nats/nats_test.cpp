// The bus of a program by NATS, as far as it needs no server: settings, needs, health.
#include "katana/app/nats/nats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "katana/app/application.hpp"
#include "katana/http/server/client_test.hpp"

namespace katana::app {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class NatsTest : public testing::Test {
 protected:
  NatsTest() {
    std::string name = (std::filesystem::temp_directory_path() / "nats_XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  ~NatsTest() override { std::filesystem::remove_all(folder_); }

  static std::unique_ptr<Part> part_with(const BusSettings& settings) {
    auto part = nats();
    part->take_settings(std::make_shared<const BusSettings>(settings));
    return part;
  }
  static std::string mistake(const BusSettings& settings) {
    const auto checked = part_with(settings)->check();
    return checked ? std::string() : checked.error().describe();
  }
  static std::vector<std::string> findings(const BusSettings& settings) {
    std::vector<InsecureSetting> found;
    part_with(settings)->judge(found);
    std::vector<std::string> keys;
    for (const InsecureSetting& each : found) keys.push_back(each.key);
    return keys;
  }
  std::string file(const char* name, const char* text = "") const {
    const std::string path = (folder_ / name).string();
    std::ofstream(path) << text;
    return path;
  }
  // `sets` are flags of a program of this test.
  CommandLine line(std::vector<std::string> sets) const {
    sets.insert(sets.end(), {"http.port=0", "http.reactors=1", "http.connections_max=64",
                             "http.drain_notice=0s", "log.console=false"});
    return {.config = file("app.yaml"), .sets = std::move(sets)};
  }

  std::filesystem::path folder_;
};

TEST_F(NatsTest, settings_that_do_not_go_together_are_named) {
  EXPECT_EQ(mistake({}), "") << "the bus of the process";
  EXPECT_EQ(mistake({.url = "nats://10.0.0.1"}), "");
  EXPECT_THAT(mistake({.url = "http://10.0.0.1"}), HasSubstr("bus.url (memory: or nats://…)"));
  EXPECT_THAT(mistake({.url = "nats://a", .user = "ann"}),
              HasSubstr("bus.user and bus.password_file go together"));
  EXPECT_THAT(mistake({.url = "nats://a", .token_file = "/a", .nkey_file = "/b"}),
              HasSubstr("set one of them"));
  EXPECT_THAT(mistake({.url = "nats://a", .token_file = file("token").append(".none")}),
              HasSubstr("token.none"));
}

TEST_F(NatsTest, a_bus_of_servers_without_tls_is_insecure_unless_they_are_local) {
  EXPECT_THAT(findings({}), IsEmpty());
  EXPECT_THAT(findings({.url = "nats://127.0.0.1:4222"}), IsEmpty());
  EXPECT_THAT(findings({.url = "nats://10.0.0.1"}), ElementsAre("bus.url"));
  BusSettings settings{.url = "tls://10.0.0.1"};
  EXPECT_THAT(findings(settings), IsEmpty());
  settings.tls.dangerously_accept_any_certificate = true;
  EXPECT_THAT(findings(settings), ElementsAre("bus.tls.dangerously_accept_any_certificate"));
}

TEST_F(NatsTest, its_files_and_connections_are_left_to_a_program_in_a_sandbox) {
  PartNeeds needs;
  part_with({.url = "memory:"})->add_needs(needs);
  EXPECT_FALSE(needs.connections);
  BusSettings settings{.url = "tls://10.0.0.1", .creds_file = "/srv/bus/app.creds"};
  settings.tls.authorities_file = "/srv/tls/ca.pem";
  needs = {};
  part_with(settings)->add_needs(needs);
  EXPECT_TRUE(needs.connections);
  EXPECT_THAT(needs.files, testing::IsSupersetOf({"/srv/bus/app.creds", "/srv/tls/ca.pem"}));
  EXPECT_THAT(needs.secrets, Contains(testing::Field(&SecretFile::file, "/srv/bus/app.creds")));
}

TEST_F(NatsTest, a_file_of_its_credentials_that_others_may_read_is_told) {
  const std::string token = file("token", "secret\n");
  ASSERT_EQ(::chmod(token.c_str(), 0644), 0);
  Application<> app({.name = "talk"});
  app.use(nats());
  CommandLine strict = line({"bus.url=nats://127.0.0.1:1", "bus.token_file=" + token});
  strict.strict = true;
  const auto started = app.start(strict);
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().describe(), HasSubstr("bus.token_file is " + token));
}

TEST_F(NatsTest, a_program_starts_without_its_servers_and_ready_says_so) {
  Application<> app({.name = "talk"});
  app.use(nats());
  ASSERT_TRUE(app.start(line({"bus.url=nats://127.0.0.1:1", "bus.required=true"})));
  std::thread client([&app] {
    const std::string ready = server::Client(app.port()).ask("/ready");
    EXPECT_THAT(ready, HasSubstr(" 503 "));
    EXPECT_THAT(ready, HasSubstr("\"name\":\"bus\""));
    app.shutdown();
  });
  app.serve();
  client.join();
}

TEST_F(NatsTest, without_a_url_it_is_the_bus_of_the_process) {
  Application<> app({.name = "talk"});
  app.use(nats());
  app.routes([](const registry::Services& services, Router&) {
    EXPECT_TRUE(services.get<bus::Bus>().health().ready);
  });
  ASSERT_TRUE(app.start(line({"bus.requests_max=7"})));
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
