// The rows of "Outages" in docs/guides/bus.md, each of which has a test.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "katana/base/system/source_tree_test.hpp"

namespace katana::bus {
namespace {

const std::map<std::string, std::string> tests_of_rows = {
    {"no server at the start", "publications_are_refused_without_a_server_if_that_is_wanted"},
    {"one of several servers is killed", "one_server_of_a_cluster_may_be_killed_under_load"},
    {"a server hangs", "a_stopped_server_counts_as_gone_when_it_does_not_answer"},
    {"a server is about to shut down (lame duck mode)",
     "a_server_in_lame_duck_mode_is_left_in_order"},
    {"all servers are unavailable", "what_is_kept_for_a_server_is_bounded"},
    {"the connection between two servers is cut",
     "what_a_partition_swallows_is_told_when_it_heals"},
    {"a reactor is overloaded",
     "a_reactor_that_is_behind_loses_the_newest_and_its_subscribers_are_told"},
    {"a reader of `Messages` is slow", "a_full_queue_drops_the_oldest_and_says_so_in_their_place"},
    {"the server does not allow a subject",
     "what_the_server_does_not_allow_is_told_to_the_subscriber"},
    {"a message is larger than `payload_bytes_max`",
     "what_cannot_be_published_is_refused_with_a_reason"},
    {"the connection of queue groups is rejected or lost",
     "a_queue_group_whose_connection_is_refused_makes_the_bus_not_ready"},
    {"a consumer of a stream is lost",
     "a_consumer_outlives_the_kill_and_the_restart_of_its_server"},
    {"a stream is lost with the servers' state",
     "a_stream_whose_store_was_deleted_is_made_again_and_the_gap_is_told"},
    {"a stream has no leader", "a_server_without_a_leader_is_asked_with_pauses_and_told_once"},
};

std::string read(const std::string& path) {
  std::ifstream file(in_tree(path));
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(Outages, each_row_of_the_guide_has_a_test) {
  const std::string guide = read("docs/guides/bus.md");
  const std::size_t begin = guide.find("## Outages");
  ASSERT_NE(begin, std::string::npos);
  std::string table = guide.substr(begin, guide.find("\n## ", begin + 1) - begin);
  std::string sources;
  for (const char* const each :
       {"katana/stores/bus/memory_bus_test.cpp", "katana/stores/bus/messages_test.cpp",
        "katana/stores/bus/nats/nats_bus_test.cpp", "katana/stores/bus/nats/nats_access_test.cpp",
        "katana/stores/bus/nats/recovery_test.cpp", "katana/stores/bus/nats/jet_reader_test.cpp",
        "katana/testing/bus/bus_network_test.cpp"}) {
    sources += read(each);
  }
  std::set<std::string> rows;
  for (std::size_t at = table.find("\n| "); at != std::string::npos;
       at = table.find("\n| ", at + 1)) {
    const std::string name = table.substr(at + 3, table.find(" |", at + 3) - at - 3);
    if (name != "event") rows.insert(name);
  }
  for (const std::string& row : rows) {
    const auto found = tests_of_rows.find(row);
    ASSERT_NE(found, tests_of_rows.end()) << "no test is named for the row '" << row << "'";
    EXPECT_NE(sources.find(", " + found->second + ")"), std::string::npos) << found->second;
  }
  EXPECT_EQ(rows.size(), tests_of_rows.size());
}

}  // namespace
}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
