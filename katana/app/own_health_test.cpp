#include "katana/app/own_health.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace katana::app {
namespace {

using testing::HasSubstr;

ApplicationSettings settings_of(std::string address, std::uint16_t port) {
  ApplicationSettings settings;
  settings.http.address = std::move(address);
  settings.http.port = port;
  return settings;
}

TEST(OwnHealth, is_asked_where_the_program_listens) {
  EXPECT_EQ(own_health_url(settings_of("127.0.0.1", 8080)), "http://127.0.0.1:8080/health");
  EXPECT_EQ(own_health_url(settings_of("192.0.2.7", 80)), "http://192.0.2.7:80/health");
  EXPECT_EQ(own_health_url(settings_of("2001:db8::7", 80)), "http://[2001:db8::7]:80/health");
}

TEST(OwnHealth, a_listener_on_every_address_is_asked_at_the_loopback_one) {
  EXPECT_EQ(own_health_url(settings_of("0.0.0.0", 8080)), "http://127.0.0.1:8080/health");
  EXPECT_EQ(own_health_url(settings_of("::", 8080)), "http://[::1]:8080/health");
}

TEST(OwnHealth, a_listener_without_tls_is_preferred) {
  auto settings = settings_of("0.0.0.0", 8443);
  settings.http.tls.development = true;
  EXPECT_EQ(own_health_url(settings), "https://127.0.0.1:8443/health");
  settings.http.listeners = {{.address = "unix:/run/a.sock"},
                             {.address = "0.0.0.0", .port = 8444, .tls = true},
                             {.address = "0.0.0.0", .port = 8080, .redirect_to_https = true}};
  EXPECT_EQ(own_health_url(settings), "http://127.0.0.1:8080/health");
}

TEST(OwnHealth, a_port_that_the_kernel_chooses_cannot_be_known) {
  const auto url = own_health_url(settings_of("127.0.0.1", 0));
  ASSERT_FALSE(url);
  EXPECT_THAT(url.error().describe(), HasSubstr("http.port is 0"));
  EXPECT_FALSE(check_own_health(settings_of("127.0.0.1", 0)));
}

TEST(OwnHealth, a_port_that_nothing_listens_on_is_named) {
  const auto checked = check_own_health(settings_of("127.0.0.1", 1));
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().describe(), HasSubstr("http://127.0.0.1:1/health"));
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
