#include "katana/app/behind_proxy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace katana::app {
namespace {

using server::OperationsOff;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The settings of a program behind the nginx of docs/guides/deploy.md.
ApplicationSettings behind_nginx() {
  ApplicationSettings settings;
  settings.http.hosts = {"shop.example"};
  settings.http.trusted_proxies = {*Network::parse("127.0.0.1")};
  settings.http.forwarded = http::ForwardedFields::x_forwarded;
  return settings;
}

std::vector<std::string> keys_in(const std::vector<InsecureSetting>& found) {
  std::vector<std::string> keys;
  for (const InsecureSetting& each : found) {
    EXPECT_FALSE(each.value.empty() || each.problem.empty() || each.remedy.empty()) << each.key;
    keys.push_back(each.key);
  }
  return keys;
}
std::vector<std::string> insecure_keys(const ApplicationSettings& settings) {
  return keys_in(insecure_behind_proxy(settings));
}
OperationsOff off_for(const ApplicationSettings& settings) {
  return server::OperationsGuard(operations_rules_of(settings, {})).off();
}

TEST(BehindProxy, the_defaults_and_a_complete_proxy_are_quiet) {
  EXPECT_THAT(insecure_keys({}), IsEmpty());
  EXPECT_THAT(deployment_notes({}), IsEmpty());
  ApplicationSettings settings = behind_nginx();
  EXPECT_THAT(insecure_keys(settings), IsEmpty());
  settings.operations.port = 9100;
  EXPECT_THAT(deployment_notes(settings), IsEmpty());
  settings.operations = {.token = "0123456789abcdef"};
  EXPECT_THAT(deployment_notes(settings), IsEmpty());
}

TEST(BehindProxy, pages_of_operations_are_off_for_each_sign_of_a_proxy_and_the_remedy_is_said) {
  ApplicationSettings proxied;
  proxied.http.trusted_proxies = {Network::local()};
  ApplicationSettings named;
  named.http.hosts = {"shop.example"};
  ApplicationSettings headed;
  headed.http.listeners = {{.proxy_protocol = server::ProxyProtocol::required}};
  ApplicationSettings led_away;
  led_away.http.listeners = {{.redirect_to_https = true}};
  ApplicationSettings exposed;
  exposed.http.listeners = {{.address = "10.0.0.1"}};
  for (const ApplicationSettings& each : {proxied, named, headed, led_away, exposed}) {
    EXPECT_NE(off_for(each), OperationsOff::no);
    const auto notes = deployment_notes(each);
    ASSERT_THAT(keys_in(notes), ElementsAre("operations.port"));
    EXPECT_THAT(notes[0].describe(), HasSubstr("operations.token"));
  }
  EXPECT_EQ(off_for({}), OperationsOff::no);
  ApplicationSettings local;
  local.http.hosts = {"localhost"};
  local.http.listeners = {{.address = "unix:/run/a.sock"}, {.address = "::1"}};
  EXPECT_EQ(off_for(local), OperationsOff::no);
  EXPECT_EQ(server::OperationsGuard(operations_rules_of(local, {"unix:/run/b.sock"})).off(),
            OperationsOff::no)
      << "::1 is left";
  local.http.listeners.clear();
  EXPECT_EQ(server::OperationsGuard(operations_rules_of(local, {"unix:/run/b.sock"})).off(),
            OperationsOff::sockets);
}

TEST(BehindProxy, every_reason_for_which_they_are_off_has_words) {
  const HttpSettings http;
  for (const OperationsOff off : {OperationsOff::exposed, OperationsOff::sockets,
                                  OperationsOff::proxies, OperationsOff::names}) {
    EXPECT_FALSE(reason_of(off, http).empty());
  }
}

TEST(BehindProxy, proxies_want_names_of_the_server) {
  ApplicationSettings settings = behind_nginx();
  settings.http.hosts.clear();
  EXPECT_THAT(insecure_keys(settings), ElementsAre("http.hosts"));
}

TEST(BehindProxy, names_without_tls_want_a_trusted_proxy) {
  ApplicationSettings settings = behind_nginx();
  settings.http.trusted_proxies.clear();
  EXPECT_THAT(insecure_keys(settings), ElementsAre("http.trusted_proxies"));
  settings.http.address = "0.0.0.0";
  EXPECT_THAT(insecure_keys(settings), ElementsAre("http.trusted_proxies"));
  settings.http.tls.certificates.resize(1);
  EXPECT_THAT(insecure_keys(settings), IsEmpty()) << "clients connect to this server itself";
  settings.http.tls = {};
  settings.http.hosts = {"localhost"};
  EXPECT_THAT(insecure_keys(settings), IsEmpty());
}

TEST(BehindProxy, a_trusted_proxy_wants_a_header_that_it_writes) {
  ApplicationSettings settings = behind_nginx();
  settings.http.forwarded = http::ForwardedFields::none;
  EXPECT_THAT(insecure_keys(settings), ElementsAre("http.forwarded"));
  settings.http.proxy_protocol = server::ProxyProtocol::required;
  EXPECT_THAT(insecure_keys(settings), IsEmpty()) << "it names its clients in front of the bytes";
  settings = behind_nginx();
  settings.http.forwarded_parts = {http::ForwardedPart::proto};
  EXPECT_THAT(insecure_keys(settings), ElementsAre("http.forwarded_parts"));
}

TEST(BehindProxy, nobody_trusts_everybody) {
  for (const char* const all : {"0.0.0.0/0", "::/0", "128.0.0.0/1"}) {
    ApplicationSettings settings = behind_nginx();
    settings.http.trusted_proxies.push_back(*Network::parse(all));
    EXPECT_THAT(insecure_keys(settings), ElementsAre("http.trusted_proxies")) << all;
  }
  ApplicationSettings settings = behind_nginx();
  for (const char* const some : {"10.0.0.0/8", "fc00::/7", "unix", "2001:db8::/32"}) {
    settings.http.trusted_proxies.push_back(*Network::parse(some));
  }
  EXPECT_THAT(insecure_keys(settings), IsEmpty());
}

TEST(BehindProxy, a_unix_socket_is_trusted_by_its_own_word) {
  ApplicationSettings settings = behind_nginx();
  settings.http.listeners = {{.address = "unix:/run/a.sock"}};
  EXPECT_THAT(insecure_keys(settings), ElementsAre("http.listeners[0].address"));
  settings.http.trusted_proxies.push_back(Network::local());
  EXPECT_THAT(insecure_keys(settings), IsEmpty());
}

TEST(BehindProxy, secure_cookies_want_to_know_of_https) {
  ApplicationSettings settings = behind_nginx();
  settings.sessions.store = SessionPlace::memory;
  EXPECT_THAT(insecure_keys(settings), IsEmpty());
  settings.http.forwarded_parts = {http::ForwardedPart::client};
  EXPECT_THAT(insecure_keys(settings), ElementsAre("sessions.secure"));
  settings.http.tls.certificates.resize(1);
  EXPECT_THAT(insecure_keys(settings), IsEmpty());
  ApplicationSettings exposed;
  exposed.sessions.store = SessionPlace::memory;
  EXPECT_THAT(insecure_keys(exposed), IsEmpty()) << "browsers take localhost for secure";
  exposed.http.address = "0.0.0.0";
  EXPECT_THAT(insecure_keys(exposed), ElementsAre("sessions.secure"));
}

TEST(BehindProxy, limits_of_connections_that_count_nobody_are_noted) {
  ApplicationSettings settings = behind_nginx();
  settings.operations.port = 9100;
  settings.http.clients.connections_max = 10;
  EXPECT_THAT(keys_in(deployment_notes(settings)), ElementsAre("http.clients"));
  settings.http.proxy_protocol = server::ProxyProtocol::required;
  EXPECT_THAT(deployment_notes(settings), IsEmpty());
}

TEST(BehindProxy, a_host_that_is_believed_is_noted) {
  ApplicationSettings settings = behind_nginx();
  settings.operations.port = 9100;
  settings.http.forwarded_parts.push_back(http::ForwardedPart::host);
  EXPECT_THAT(keys_in(deployment_notes(settings)), ElementsAre("http.forwarded_parts"));
}

TEST(BehindProxy, an_address_of_operations_without_a_port_is_a_mistake) {
  ApplicationSettings settings;
  EXPECT_TRUE(check_operations(settings));
  settings.operations.address = "0.0.0.0";
  const auto checked = check_operations(settings);
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().describe(), HasSubstr("operations.port"));
  settings.operations.port = 9100;
  EXPECT_TRUE(check_operations(settings));
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
