#include "katana/app/insecure_settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "katana/app/sandbox/privileges.hpp"

namespace katana::app {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Settings of a program without findings, also where tests run as root.
ApplicationSettings quiet() {
  ApplicationSettings settings;
  settings.process.user = "daemon";
  settings.database.url = "sqlite:a.db";
  return settings;
}

std::vector<std::string> keys_of(const ApplicationSettings& settings, InsecureFacts facts = {}) {
  facts.database = true;
  facts.client = true;
  std::vector<std::string> keys;
  for (const InsecureSetting& each : insecure_settings(settings, facts)) {
    EXPECT_FALSE(each.value.empty() || each.problem.empty() || each.remedy.empty()) << each.key;
    keys.push_back(each.key);
  }
  return keys;
}

TEST(InsecureSettings, the_defaults_are_quiet) { EXPECT_THAT(keys_of(quiet()), IsEmpty()); }

TEST(InsecureSettings, a_public_listener_wants_tls_and_names) {
  ApplicationSettings settings = quiet();
  settings.http.address = "0.0.0.0";
  EXPECT_THAT(keys_of(settings), ElementsAre("http.address", "http.hosts"));
  settings.http.hosts = {"example.org"};
  settings.http.tls.certificates.resize(1);
  EXPECT_THAT(keys_of(settings), ElementsAre("http.tls.hsts"));
  settings.http.tls.hsts = seconds(31'536'000);
  EXPECT_THAT(keys_of(settings), IsEmpty());
  settings.http.listeners.push_back({.address = "::", .port = 80, .redirect_to_https = true});
  EXPECT_THAT(keys_of(settings), IsEmpty());
  settings.http.listeners[0].redirect_to_https = false;
  EXPECT_THAT(keys_of(settings), ElementsAre("http.listeners[0].address"));
}

TEST(InsecureSettings, a_redis_elsewhere_wants_tls_and_a_password) {
  ApplicationSettings settings = quiet();
  for (const char* const here :
       {"redis://127.0.0.1", "redis://localhost,[::1]:7000", "unix:/run/redis.sock"}) {
    settings.redis.url = here;
    EXPECT_THAT(keys_of(settings), IsEmpty()) << here;
  }
  settings.redis.url = "redis://127.0.0.1,cache.internal";
  EXPECT_THAT(keys_of(settings), ElementsAre("redis.url", "redis.password_file"));
  settings.redis.url = "rediss://cache.internal";
  EXPECT_THAT(keys_of(settings), ElementsAre("redis.password_file"));
  settings.redis.password_file = "/run/absent";
  EXPECT_THAT(keys_of(settings), IsEmpty());
  settings.redis.tls.dangerously_accept_any_certificate = true;
  EXPECT_THAT(keys_of(settings), ElementsAre("redis.tls.dangerously_accept_any_certificate"));
  settings.redis = {};
  settings.cache.redis.url = "redis://cache.internal";
  EXPECT_THAT(keys_of(settings), ElementsAre("cache.redis.url", "cache.redis.password_file"));
}

TEST(InsecureSettings, what_is_for_development_is_not_for_others) {
  ApplicationSettings settings = quiet();
  settings.development = true;
  settings.http.tls.development = true;
  EXPECT_THAT(keys_of(settings), IsEmpty());
  settings.http.address = "::";
  EXPECT_THAT(keys_of(settings), Contains("development"));
  EXPECT_THAT(keys_of(settings), Contains("http.tls.development"));
}

TEST(InsecureSettings, pages_of_operations_are_not_for_everybody) {
  ApplicationSettings settings = quiet();
  settings.operations.port = 9100;
  settings.operations.address = "0.0.0.0";
  EXPECT_THAT(keys_of(settings), ElementsAre("operations.address"));
  settings.operations.token = "short";
  EXPECT_THAT(keys_of(settings), ElementsAre("operations.token", "operations.token"));
  settings.operations.token = "0123456789abcdef0123456789abcdef";
  EXPECT_THAT(keys_of(settings), ElementsAre("operations.token"));  // without TLS
  settings.operations.address = "127.0.0.1";
  EXPECT_THAT(keys_of(settings), IsEmpty());
}

TEST(InsecureSettings, no_text_has_a_secret) {
  ApplicationSettings settings = quiet();
  settings.operations.token = "hunter2";
  settings.database.url = "postgresql://app:hunter2@db.example.org/app";
  settings.http.address = "0.0.0.0";
  const auto found = insecure_settings(settings, {.database = true});
  EXPECT_GE(found.size(), 4u);
  for (const InsecureSetting& each : found) {
    EXPECT_THAT(each.describe(), Not(HasSubstr("hunter2")));
  }
}

TEST(InsecureSettings, sessions_want_tls_and_the_check_of_the_origin) {
  ApplicationSettings settings = quiet();
  settings.sessions.secure = false;
  EXPECT_THAT(keys_of(settings), IsEmpty()) << "there are none";
  settings.sessions.store = SessionPlace::memory;
  EXPECT_THAT(keys_of(settings), ElementsAre("sessions.secure", "http.csrf.enabled"));
  settings.sessions.secure = true;
  settings.http.csrf.enabled = true;
  EXPECT_THAT(keys_of(settings), IsEmpty());
}

TEST(InsecureSettings, a_far_database_is_verified) {
  ApplicationSettings settings = quiet();
  for (const char* good : {"postgresql://app@localhost/app", "postgresql://app@127.0.0.1:5432/app",
                           "postgresql://app@[::1]/app", "postgresql:///app?host=/run/postgresql",
                           "postgresql://app@db/app?sslmode=verify-full&sslrootcert=a.pem"}) {
    settings.database.url = good;
    EXPECT_THAT(keys_of(settings), IsEmpty()) << good;
  }
  for (const char* bad : {"postgresql://app@db/app", "postgresql://app@db/app?sslmode=require",
                          "postgresql://db.example.org:5432/app?a=b&sslmode=disable"}) {
    settings.database.url = bad;
    EXPECT_THAT(keys_of(settings), ElementsAre("database.url")) << bad;
  }
}

TEST(InsecureSettings, sizes_that_one_client_can_fill_are_named) {
  ApplicationSettings settings = quiet();
  settings.http.routes.content_bytes_max = std::uint64_t{1} << 30;
  settings.http.websocket.limits.message_bytes_max = std::uint64_t{1} << 30;
  settings.http.forms.memory_bytes_max = std::size_t{1} << 30;
  settings.http.forms.bytes_max = std::uint64_t{1} << 40;
  EXPECT_THAT(
      keys_of(settings),
      ElementsAre("http.routes.content_bytes_max", "http.websocket.limits.message_bytes_max",
                  "http.forms.memory_bytes_max", "http.forms.bytes_max"));
}

TEST(InsecureSettings, the_process_the_client_and_the_umask_are_looked_at) {
  ApplicationSettings settings = quiet();
  settings.process.core_dumps = true;
  settings.process.umask = "005";
  settings.client.tls.dangerously_accept_any_certificate = true;
  settings.client.redirects_to_plaintext = true;
  settings.client.redirects_max = 5;
  settings.client.tokens_in_plaintext = true;
  EXPECT_THAT(keys_of(settings),
              ElementsAre("process.umask", "process.core_dumps",
                          "client.tls.dangerously_accept_any_certificate",
                          "client.redirects_to_plaintext", "client.tokens_in_plaintext"));
  settings = quiet();
  settings.process.user = "root";
  EXPECT_THAT(keys_of(settings), ElementsAre("process.user"));
  settings.process.user.clear();
  EXPECT_EQ(keys_of(settings).size(), sandbox::is_root() ? 1u : 0u);
}

class ExposedFiles : public testing::Test {
 protected:
  ExposedFiles() {
    std::string name = (fs::temp_directory_path() / "exposed_XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  ~ExposedFiles() override { fs::remove_all(folder_); }
  std::string file(const std::string& name, mode_t mode, const std::string& text = "secret") {
    const std::string path = (folder_ / name).string();
    std::ofstream(path) << text;
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  std::size_t count(mode_t mode) {
    ApplicationSettings settings = quiet();
    settings.database.password_file = file("password", mode);
    settings.redis.password_file = file("redis", 0600);
    return exposed_files(settings, {.database = true}).size();
  }

  fs::path folder_;
};

TEST_F(ExposedFiles, others_may_not_read_them_nor_write_them) {
  EXPECT_EQ(count(0600), 0u);
  EXPECT_EQ(count(0400), 0u);
  EXPECT_EQ(count(0644), 1u);
  EXPECT_EQ(count(0602), 1u);
  EXPECT_EQ(count(0660), 1u);
  // The group of a file of root may read it, as Debian's ssl-cert does.
  EXPECT_EQ(count(0640), ::geteuid() == 0 ? 0u : 1u);
}

TEST_F(ExposedFiles, each_is_named_by_its_key_with_its_mode_and_the_remedy) {
  ApplicationSettings settings = quiet();
  settings.http.tls.certificates.resize(2);
  settings.http.tls.certificates[1].key_file = file("key.pem", 0644);
  const auto found = exposed_files(settings, {});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].key, "http.tls.certificates[1].key");
  EXPECT_THAT(found[0].describe(), HasSubstr("its mode is 0644: others than the program may read"));
  EXPECT_THAT(found[0].describe(), HasSubstr("chmod 6"));
}

TEST_F(ExposedFiles, the_password_of_a_redis_is_one_of_them) {
  ApplicationSettings settings = quiet();
  settings.redis.password_file = file("one", 0644);
  settings.cache.redis.password_file = file("two", 0644);
  const auto found = exposed_files(settings, {});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].key, "redis.password_file");
  EXPECT_EQ(found[1].key, "cache.redis.password_file");
}

TEST_F(ExposedFiles, a_file_of_somebody_else_may_be_replaced) {
  if (!sandbox::is_root()) GTEST_SKIP() << "only root gives files away";
  ApplicationSettings settings = quiet();
  settings.database.password_file = file("password", 0600);
  ASSERT_EQ(::chown(settings.database.password_file.c_str(), 65'533, 65'533), 0);
  const auto found = exposed_files(settings, {.database = true});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].describe(), HasSubstr("it belongs to user 65533"));
}

TEST_F(ExposedFiles, a_configuration_is_a_secret_when_it_has_one) {
  ApplicationSettings settings = quiet();
  settings.operations.token = "0123456789abcdef";
  const std::string with = file("a.yaml", 0644, "operations: {token: 0123456789abcdef}");
  const std::string without = file("b.yaml", 0644, "http: {port: 80}");
  EXPECT_EQ(exposed_files(settings, {.config_file = with}).size(), 1u);
  EXPECT_EQ(exposed_files(settings, {.config_file = without}).size(), 0u);
}

TEST_F(ExposedFiles, what_is_not_there_is_for_whoever_opens_it) {
  ApplicationSettings settings = quiet();
  settings.database.password_file = (folder_ / "absent").string();
  EXPECT_TRUE(exposed_files(settings, {.database = true}).empty());
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
