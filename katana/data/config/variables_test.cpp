#include "katana/data/config/variables.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "katana/data/config/config_fixture_test.hpp"

namespace katana::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// The variables that Kubernetes sets in every pod for each port of a Service, in a shorter list.
std::vector<std::pair<std::string, std::string>> service_variables(const std::string& service) {
  return {{service + "_SERVICE_HOST", "10.43.7.9"},
          {service + "_SERVICE_PORT", "80"},
          {service + "_SERVICE_PORT_HTTP_ALT", "80"},
          {service + "_PORT", "tcp://10.43.7.9:80"},
          {service + "_PORT_80_TCP", "tcp://10.43.7.9:80"},
          {service + "_PORT_80_TCP_PROTO", "tcp"},
          {service + "_PORT_80_TCP_PORT", "80"},
          {service + "_PORT_80_TCP_ADDR", "10.43.7.9"},
          {service + "_PORT_53_UDP", "udp://10.43.7.9:53"},
          {service + "_PORT_9_SCTP_ADDR", "10.43.7.9"}};
}

class VariablesTest : public ConfigTest {
 protected:
  VariablesTest() {
    sources.file.clear();
    sources.environment_prefix = "NOTES_";
    sources.environment_names = {{"NOTES_PORT", "network.http.port"}};
  }
  // Loads the configuration, and returns its notes.
  std::vector<std::string> notes() {
    const auto config = Config<Program>::load(sources);
    EXPECT_TRUE(config) << config.error().describe();
    if (!config) return {};
    port = config->get()->network.http.port;
    return config->notes();
  }
  std::string note_of(const std::string& name, const std::string& value = "1") {
    sources.environment = {{name, value}};
    const auto all = notes();
    EXPECT_EQ(all.size(), 1u) << name;
    return all.empty() ? std::string() : all.front();
  }

  int port = 0;
};

TEST_F(VariablesTest, those_that_kubernetes_makes_of_a_service_set_nothing_and_stop_nothing) {
  // The program's name, names that begin with it, and a name that matches a group.
  for (const char* const service : {"NOTES", "NOTES_HTTP", "NOTES_LOG", "NOTES_NETWORK__HTTP",
                                    "NOTES__X", "NOTES_NETWORK", "NOTES_DATABASE__POOL"}) {
    sources.environment = service_variables(service);
    EXPECT_EQ(notes().size(), sources.environment.size()) << service;
    EXPECT_EQ(port, 8080) << service;
  }
}

TEST_F(VariablesTest,
       the_name_of_the_port_is_a_setting_unless_its_value_is_an_address_of_a_service) {
  EXPECT_THAT(note_of("NOTES_PORT", "tcp://10.43.7.9:80"), HasSubstr("Kubernetes"));
  sources.environment = {{"NOTES_PORT", "81"}};
  EXPECT_THAT(notes(), IsEmpty());
  EXPECT_EQ(port, 81);
  sources.environment = {{"NOTES_PORT", "eighty"}};
  EXPECT_THAT(refusal(), HasSubstr("network.http.port"));
}

TEST_F(VariablesTest, one_underscore_is_noted_with_the_name_that_has_two) {
  EXPECT_EQ(note_of("NOTES_NETWORK_HTTP_PORT"),
            "environment NOTES_NETWORK_HTTP_PORT: sets nothing; did you mean "
            "NOTES_NETWORK__HTTP__PORT?");
  EXPECT_THAT(note_of("NOTES_network_http_idle_timeout"), HasSubstr("__HTTP__IDLE_TIMEOUT?"));
  EXPECT_THAT(
      note_of("NOTES_DATABASE_PASSWORD", "hunter2"),
      testing::AllOf(HasSubstr("NOTES_DATABASE__PASSWORD"), testing::Not(HasSubstr("hunter2"))));
}

TEST_F(VariablesTest, a_group_that_is_not_there_is_noted_with_how_a_key_is_written) {
  EXPECT_THAT(note_of("NOTES_COLOUR"), HasSubstr("NOTES_GROUP__KEY"));
  EXPECT_THAT(note_of("NOTES_COLOUR__OF__SKY"), HasSubstr("NOTES_GROUP__KEY"));
  EXPECT_THAT(note_of("NOTES_NETWORK"), HasSubstr("NOTES_GROUP__KEY")) << "a group has no value";
  EXPECT_THAT(note_of("NOTES_"), HasSubstr("NOTES_GROUP__KEY"));
}

TEST_F(VariablesTest, a_mistake_in_a_group_that_is_there_stays_an_error) {
  for (const char* const name : {"NOTES_NETWORK__HTTP__PROT", "NOTES_LOG__JSN",
                                 "NOTES_NETWORK__HTTP__PORT__X", "NOTES_NETWORK__HTTP"}) {
    sources.environment = {{name, "1"}};
    EXPECT_NE(refusal(), "") << name;
  }
}

TEST_F(VariablesTest, notes_are_of_the_sources_as_they_were_read_last) {
  sources.environment = {{"NOTES_COLOUR", "1"}};
  auto config = Config<Program>::load(sources);
  ASSERT_TRUE(config);
  ASSERT_TRUE(config->reload());
  EXPECT_EQ(config->notes().size(), 1u);
}

}  // namespace
}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
