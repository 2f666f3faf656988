#include "katana/app/telemetry/proxy_variables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "katana/http/client/proxy.hpp"

namespace katana::app {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ProxyVariablesTest : public ::testing::Test {
 protected:
  client::ProxyOptions proxy(bool secure, const std::map<std::string, std::string>& variables) {
    return proxy_of(
        secure,
        [&](const char* name) {
          const auto found = variables.find(name);
          return found != variables.end() ? found->second.c_str() : nullptr;
        },
        notes_);
  }
  // Whether the proxy is used for an origin.
  static bool serves(const client::ProxyOptions& options, const std::string& url) {
    const auto made = client::Proxy::make(options);
    return made && *made && (*made)->serves(client::parse_url(url)->origin);
  }
  std::vector<std::string> notes_;
};

TEST_F(ProxyVariablesTest, each_scheme_has_its_variable_and_lowercase_goes_first) {
  const std::map<std::string, std::string> both = {{"https_proxy", "http://secure:3128"},
                                                   {"http_proxy", "http://plain:3128"}};
  EXPECT_EQ(proxy(true, both).url, "http://secure:3128");
  EXPECT_EQ(proxy(false, both).url, "http://plain:3128");
  EXPECT_EQ(proxy(true, {{"http_proxy", "http://plain:3128"}}).url, "");
  EXPECT_EQ(proxy(false, {{"https_proxy", "http://secure:3128"}}).url, "");
  EXPECT_EQ(proxy(true, {{"HTTPS_PROXY", "a:1"}}).url, "http://a:1");
  EXPECT_EQ(proxy(true, {{"HTTPS_PROXY", "a:1"}, {"https_proxy", "b:2"}}).url, "http://b:2");
  EXPECT_EQ(proxy(true, {{"HTTPS_PROXY", "a:1"}, {"https_proxy", ""}}).url, "http://a:1");
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(ProxyVariablesTest, an_account_is_decoded_and_is_not_part_of_the_url) {
  const auto options = proxy(true, {{"https_proxy", "http://ada:p%40ss%3a@proxy:3128/"}});
  EXPECT_EQ(options.url, "http://proxy:3128");
  EXPECT_EQ(options.user, "ada");
  EXPECT_EQ(options.password, "p@ss:");
  EXPECT_EQ(proxy(true, {{"https_proxy", "ada@proxy:3128"}}).user, "ada");
}

TEST_F(ProxyVariablesTest, hosts_of_no_proxy_and_this_machine_have_a_direct_connection) {
  const auto options = proxy(true, {{"https_proxy", "http://proxy:3128"},
                                    {"no_proxy", "corp.example, .in.example,*.far.example:4318"}});
  for (const char* const url :
       {"https://corp.example", "https://a.corp.example", "https://x.in.example",
        "https://y.far.example", "https://localhost:4318", "https://127.0.0.1:4318",
        "https://[::1]:4318"}) {
    EXPECT_FALSE(serves(options, url)) << url;
  }
  EXPECT_TRUE(serves(options, "https://collector.example"));
  EXPECT_EQ(proxy(true, {{"https_proxy", "http://proxy:3128"}, {"NO_PROXY", "*"}}).url, "");
}

TEST_F(ProxyVariablesTest, a_wrong_value_is_noted_without_its_text) {
  EXPECT_EQ(proxy(true, {{"https_proxy", "https://ada:secret@proxy:3128"}}).url, "");
  EXPECT_EQ(proxy(true, {{"HTTPS_PROXY", "http://ada:%zz@proxy:3128"}}).url, "");
  const char* const words = " is ignored: set http://host:port, or http://user:password@host:port";
  EXPECT_THAT(notes_,
              ElementsAre(std::string("https_proxy") + words, std::string("HTTPS_PROXY") + words));
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
