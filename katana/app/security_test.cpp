// Sessions, security headers, CSRF and the audit log by the configuration of a program.
#include "katana/app/security.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "katana/app/application.hpp"
#include "katana/http/server/client_test.hpp"
#include "katana/observe/audit/verify.hpp"

namespace katana::app {
namespace {

using testing::HasSubstr;
using testing::Not;

class SecurityTest : public testing::Test {
 protected:
  SecurityTest() {
    std::string name = (std::filesystem::temp_directory_path() / "security_XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  ~SecurityTest() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  std::string refusal(auto&& change, bool has_database = false) const {
    ApplicationSettings settings;
    change(settings);
    const auto checked = Security::check(settings, has_database);
    return checked ? "right" : checked.error().describe();
  }

  std::filesystem::path folder_;
};

TEST_F(SecurityTest, settings_that_cannot_serve_name_their_key) {
  EXPECT_EQ(refusal([](auto&) {}), "right");
  const auto store = [](SessionPlace place) {
    return [place](ApplicationSettings& settings) { settings.sessions.store = place; };
  };
  EXPECT_EQ(refusal(store(SessionPlace::memory)), "right");
  EXPECT_EQ(refusal(store(SessionPlace::database), true), "right");
  EXPECT_THAT(refusal(store(SessionPlace::database)), HasSubstr("sessions.store"));
  EXPECT_THAT(refusal(store(SessionPlace::cookies)), HasSubstr("openssl rand"));
  EXPECT_THAT(refusal([&](auto& settings) {
                settings.sessions.store = SessionPlace::cookies;
                settings.sessions.keys_file = file("none");
              }),
              HasSubstr("sessions.keys_file"));
  EXPECT_THAT(refusal([](auto& settings) { settings.http.csrf.origins = {"example.org"}; }),
              HasSubstr("http.csrf.origins"));
  EXPECT_THAT(refusal([](auto& settings) {
                settings.http.security_headers.content_security_policy = "img-src 'selv'";
              }),
              HasSubstr("http.security_headers.content_security_policy"));
  std::ofstream(file("two.key")) << std::string(32, 'a') << "\n" << std::string(32, 'b') << "\n";
  EXPECT_THAT(refusal([&](auto& settings) { settings.audit.key_file = file("two.key"); }),
              HasSubstr("audit.key_file"));
}

Task<Result<Reply>> log_in(FromContext<sessions::UserSession> session,
                           Inject<audit::AuditLog> log) {
  audit::AuditEvent event{.action = "login", .actor = "ann"};
  const Result<void> kept = co_await log->record(event);
  if (!kept) co_return std::unexpected(kept.error());
  auth::PrincipalFacts facts;
  facts.id = "ann";
  const Result<void> done = co_await session->log_in(facts);
  if (!done) co_return std::unexpected(done.error());
  co_return Reply(204);
}

TEST_F(SecurityTest, what_came_to_a_proxy_by_https_says_that_it_shall_come_so_again) {
  Application<> app({.name = "security"});
  app.routes([](const registry::Services&, Router& router) {
    router.get("/", [] { return Reply(204); });
  });
  CommandLine line;
  line.sets = {"http.port=0",
               "http.reactors=1",
               "log.console=false",
               "http.security_headers.enabled=true",
               "http.tls.hsts=8760h",
               "http.trusted_proxies=[127.0.0.1]",
               "http.forwarded=forwarded"};
  const auto started = app.start(line);
  ASSERT_TRUE(started) << started.error().describe();
  std::thread thread([&] {
    const auto ask = [&](const char* fields) {
      return server::Client(app.port()).ask("/", fields);
    };
    EXPECT_THAT(ask("Forwarded: for=192.0.2.1;proto=https\r\n"),
                HasSubstr("Strict-Transport-Security: max-age=31536000"));
    EXPECT_THAT(ask("Forwarded: for=192.0.2.1;proto=http\r\n"),
                Not(HasSubstr("Strict-Transport-Security")));
    EXPECT_THAT(ask(""), Not(HasSubstr("Strict-Transport-Security")));
    app.shutdown();
  });
  app.serve();
  thread.join();
  app.stop();
}

TEST_F(SecurityTest, a_program_has_what_its_settings_ask_for) {
  std::ofstream(file("session.keys")) << std::string(32, 'n') << "\n"
                                      << std::string(32, 'o') << "\n";
  std::ofstream(file("app.yaml"))
      << "http: {port: 0, reactors: 1, drain_notice: 0s, csrf: {enabled: true}, "
         "security_headers: {enabled: true}}\n"
         "log: {console: false}\n"
         "sessions: {store: cookies, keys_file: "
      << file("session.keys") << "}\naudit: {file: " << file("audit.jsonl") << "}\n";
  Application<> app({.name = "shop"});
  app.routes([](const registry::Services& services, Router& router) {
    EXPECT_NE(services.find<sessions::Sessions>(), nullptr);
    router.post("/login", log_in);
  });
  const auto started = app.start({.config = file("app.yaml")});
  ASSERT_TRUE(started) << started.error().describe();
  std::thread thread([&] {
    const auto ask = [&](const std::string& fields) {
      server::Client client(app.port());
      client.send("POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n" + fields +
                  "\r\n");
      return client.receive_reply();
    };
    const std::string right = ask("Sec-Fetch-Site: same-origin\r\n");
    EXPECT_THAT(right, HasSubstr(" 204 "));
    EXPECT_THAT(right, HasSubstr("Set-Cookie: __Host-session="));
    EXPECT_THAT(right, HasSubstr("Content-Security-Policy: default-src 'self'"));
    EXPECT_THAT(server::Client(app.port()).ask("/metrics"),
                HasSubstr("katana_audit_events_total 1"));
    const std::string wrong = ask("Sec-Fetch-Site: cross-site\r\n");
    EXPECT_THAT(wrong, HasSubstr(" 403 "));
    EXPECT_THAT(wrong, HasSubstr("X-Content-Type-Options: nosniff"));
    EXPECT_THAT(wrong, Not(HasSubstr("Set-Cookie")));
    ::kill(::getpid(), SIGTERM);
  });
  app.serve();
  thread.join();
  app.stop();
  const auto verified = audit::verify_audit(std::vector{file("audit.jsonl")}, "", {});
  ASSERT_TRUE(verified) << verified.error().describe();
  EXPECT_EQ(verified->head.next, 3u);
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
