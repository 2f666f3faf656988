#include "katana/data/config/config.hpp"

#include <algorithm>

#include "katana/data/config/config_fixture_test.hpp"

namespace katana::config {
namespace {

TEST_F(ConfigTest, what_nobody_says_has_the_value_of_its_initialiser) {
  for (const Bytes text : {"", "# only a comment\n", "---\n", "network:\n", "{}"}) {
    const Program value = value_of(text);
    EXPECT_EQ(value.network.http.port, 8080) << text;
    EXPECT_EQ(value.network.http.idle_timeout, seconds(60));
    EXPECT_FALSE(value.network.admin);
    EXPECT_TRUE(value.peers.empty());
  }
}

TEST_F(ConfigTest, every_kind_of_member_is_read) {
  const Program value = value_of(R"(network:
  http: {address: 0.0.0.0, port: 0x1F90, idle_timeout: 1500ms, head_max: 10kB, engine: io_uring}
  admin:
    port: 9000
log:
  json: true
  sample: 0.25
  levels: {http: debug, "a key": "a value"}
database:
  password: "1234"
  pool: 8
  shards: [1, -2, 0o17]
peers:
  - name: one
  - name: two
    weight: 3
    wait: 1.5s
)");
  EXPECT_EQ(value.network.http.address, "0.0.0.0");
  EXPECT_EQ(value.network.http.port, 8080);
  EXPECT_EQ(value.network.http.idle_timeout, milliseconds(1500));
  EXPECT_EQ(value.network.http.head_max, ByteCount{10'000});
  EXPECT_EQ(value.network.http.engine, Engine::io_uring);
  ASSERT_TRUE(value.network.admin);
  EXPECT_EQ(value.network.admin->port, 9000);
  EXPECT_EQ(value.network.admin->address, "127.0.0.1");
  EXPECT_TRUE(value.log.json);
  EXPECT_EQ(value.log.sample, 0.25);
  EXPECT_EQ(value.log.levels,
            (std::map<std::string, std::string>{{"http", "debug"}, {"a key", "a value"}}));
  EXPECT_EQ(value.database.password, "1234");
  EXPECT_EQ(value.database.pool, 8);
  EXPECT_EQ(value.database.shards, (std::vector<int>{1, -2, 15}));
  ASSERT_EQ(value.peers.size(), 2u);
  EXPECT_EQ(value.peers[1].name, "two");
  EXPECT_EQ(value.peers[1].weight, 3);
  EXPECT_EQ(value.peers[1].wait, std::chrono::milliseconds(1500));
}

TEST_F(ConfigTest, every_escape_is_text_in_utf_8) {
  const Program value = value_of(R"(log: {levels: {"a\Nb": "\N\_\L\x85\u00a0é"}})");
  EXPECT_EQ(value.log.levels,
            (std::map<std::string, std::string>{{"a\u0085b", "\u0085\u00a0\u2028\u0085\u00a0é"}}));
}

TEST_F(ConfigTest, a_quote_that_is_not_closed_is_refused) {
  EXPECT_NE(refusal_of("log:\n  levels: {a: \"x\n"), "");
  EXPECT_NE(refusal_of("database:\n  password: \"x\n"), "");
  EXPECT_NE(refusal_of("database:\n  password: &text \"quo|ed - <<: *<rt: \\\\\\N6}\n"), "");
}

TEST_F(ConfigTest, a_block_at_the_end_is_as_its_last_line_ends) {
  EXPECT_EQ(value_of("database:\n  password: |\n    xx\n    yy").database.password, "xx\nyy");
  EXPECT_EQ(value_of("database:\n  password: |\n    xx\n    yy\n").database.password, "xx\nyy\n");
  EXPECT_EQ(value_of("database:\n  password: |+\n    xx\n\n\n").database.password, "xx\n\n\n");
  EXPECT_EQ(value_of("# nothing but words\n").database.password, "none");
}

TEST_F(ConfigTest, the_environment_wins_over_the_file_and_a_flag_over_both) {
  const Bytes file = "network:\n  http:\n    port: 1\n    address: file\n";
  EXPECT_EQ(value_of(file).network.http.port, 1);
  sources.environment = {{"KATANA_NETWORK__HTTP__PORT", "2"},
                         {"KATANA_NETWORK__HTTP__IDLE_TIMEOUT", "5s"},
                         {"HOME", "/nowhere"}};
  Program value = value_of(file);
  EXPECT_EQ(value.network.http.port, 2);
  EXPECT_EQ(value.network.http.idle_timeout, seconds(5));
  EXPECT_EQ(value.network.http.address, "file");
  sources.sets = {"network.http.port=3", "network.http.port=4"};
  value = value_of(file);
  EXPECT_EQ(value.network.http.port, 4);
  EXPECT_EQ(value.network.http.address, "file");
}

TEST_F(ConfigTest, lists_and_dictionaries_come_by_variables_and_flags_as_yaml) {
  sources.environment = {{"KATANA_DATABASE__SHARDS", "[4, 5]"},
                         {"KATANA_LOG__LEVELS__HTTP", "debug"}};
  sources.sets = {"peers=[{name: a, weight: 2}]", "log.levels.db=info", "network.admin.port=7"};
  const Program value = value_of("database: {shards: [1]}\nlog: {levels: {x: y}}\n");
  EXPECT_EQ(value.database.shards, (std::vector<int>{4, 5}));
  ASSERT_EQ(value.peers.size(), 1u);
  EXPECT_EQ(value.peers[0].weight, 2);
  EXPECT_EQ(value.log.levels,
            (std::map<std::string, std::string>{{"x", "y"}, {"HTTP", "debug"}, {"db", "info"}}));
  EXPECT_EQ(value.network.admin->port, 7);
}

TEST_F(ConfigTest, text_from_outside_of_a_file_is_taken_as_it_stands) {
  sources.sets = {"network.http.address=a: [b, \"c", "database.password=null"};
  const Program value = value_of("");
  EXPECT_EQ(value.network.http.address, "a: [b, \"c");
  EXPECT_EQ(value.database.password, "null");
}

TEST_F(ConfigTest, unknown_keys_are_refused_with_the_nearest_known_one) {
  EXPECT_EQ(refusal_of("network:\n  htpp:\n    port: 1\n"),
            "katana.yaml:2: network.htpp: unknown key; did you mean 'http'?");
  EXPECT_EQ(refusal_of("port: 1\n"),
            "katana.yaml:1: port: unknown key; did you mean 'network.http.port'?");
  EXPECT_EQ(refusal_of("log:\n  json: true\n  wholly_different: 1\n"),
            "katana.yaml:3: log.wholly_different: unknown key; known are: json, sample, levels");
  sources.environment = {{"KATANA_NETWORK__HTTP__PROT", "1"}};
  EXPECT_EQ(refusal_of(""),
            "environment KATANA_NETWORK__HTTP__PROT: unknown key; did you mean 'port'?");
  sources.environment_others = {"KATANA_NETWORK__HTTP__PROT"};
  EXPECT_EQ(value_of("").network.http.port, 8080);
  sources.sets = {"network.http.Port=1"};
  EXPECT_EQ(refusal_of(""), "--set network.http.Port: unknown key; did you mean 'port'?");
}

TEST_F(ConfigTest, everything_that_is_wrong_is_reported_at_once_by_line) {
  sources.environment = {{"KATANA_DATABASE__POOL", "many"}};
  sources.sets = {"log.sample=2"};
  EXPECT_EQ(refusal_of("network:\n  http:\n    port: 70000\n    engine: kqueue\nlog: 7\n"
                       "peers:\n  - weight: 11\n    nmae: x\n"),
            R"(7 problems with the configuration:
  katana.yaml:3: network.http.port: expected a whole number from 0 to 65535, got '70000'
  katana.yaml:4: network.http.engine: expected one of epoll, io_uring, got 'kqueue'
  katana.yaml:5: log: expected a group of keys, got '7'
  katana.yaml:7: peers[0].name: is required and was not given
  katana.yaml:7: peers[0].weight: expected 1 to 10, got 11
  katana.yaml:8: peers[0].nmae: unknown key; did you mean 'name'?
  environment KATANA_DATABASE__POOL: database.pool: expected )"
            "a whole number from -2147483648 to 2147483647, got 'many'");
}

TEST_F(ConfigTest, more_problems_than_the_bound_are_counted) {
  std::string text;
  for (int count = 0; count < 50; ++count) text += "x" + std::to_string(count) + ": 1\n";
  const std::string message = refusal_of(text);
  EXPECT_TRUE(message.starts_with("50 problems with the configuration:\n")) << message;
  EXPECT_TRUE(message.ends_with("\n  and 18 more")) << message;
}

TEST_F(ConfigTest, a_key_that_stands_twice_is_refused_with_both_lines) {
  EXPECT_EQ(refusal_of("log:\n  json: true\n  sample: 1\n  json: false\n"),
            "katana.yaml:4: json: the key stands twice, first in line 2");
}

TEST_F(ConfigTest, values_of_the_wrong_type_are_refused_in_words) {
  EXPECT_EQ(refusal_of("network: {http: {port: \"80\"}}"),
            "katana.yaml:1: network.http.port: expected a whole number from 0 to 65535, got the "
            "text '80': leave out the quotes");
  EXPECT_EQ(refusal_of("network: {http: {port: 010}}"),
            "katana.yaml:1: network.http.port: expected a whole number from 0 to 65535, got '010'");
  EXPECT_EQ(refusal_of("network: {http: {port: -1}}"),
            "katana.yaml:1: network.http.port: expected a whole number from 0 to 65535, got '-1'");
  EXPECT_EQ(
      refusal_of("network: {http: {port: [1]}}"),
      "katana.yaml:1: network.http.port: expected a whole number from 0 to 65535, got a list");
  EXPECT_EQ(refusal_of("log: {json: yes}"),
            "katana.yaml:1: log.json: expected true or false, got 'yes'");
  EXPECT_EQ(refusal_of("log:\n  json:\n"),
            "katana.yaml:2: log.json: expected true or false, got nothing: give it a value, or "
            "remove the key");
  EXPECT_EQ(refusal_of("log: {sample: nan}"),
            "katana.yaml:1: log.sample: expected a number, got 'nan'");
  EXPECT_EQ(refusal_of("peers: 3"), "katana.yaml:1: peers: expected a list, got text");
  EXPECT_EQ(refusal_of("log: {levels: [1]}"),
            "katana.yaml:1: log.levels: expected keys and their values, got a list");
  EXPECT_EQ(refusal_of("- 1"), "katana.yaml:1: expected a group of keys");
}

TEST_F(ConfigTest, ranges_of_durations_and_memory_are_said_in_units) {
  EXPECT_EQ(refusal_of("network: {http: {idle_timeout: 1ms}}"),
            "katana.yaml:1: network.http.idle_timeout: expected 10ms to 1h, got 1ms");
  EXPECT_EQ(refusal_of("network: {http: {head_max: 2MiB}}"),
            "katana.yaml:1: network.http.head_max: expected 1KiB to 1MiB, got 2MiB");
  EXPECT_EQ(refusal_of("network: {http: {idle_timeout: 30}}"),
            "katana.yaml:1: network.http.idle_timeout: expected a duration with its unit (ns, us, "
            "ms, s, m, h or d), got '30'");
  EXPECT_EQ(refusal_of("peers: [{name: a, wait: 1us}]"),
            "katana.yaml:1: peers[0].wait: expected a duration in whole ms, such as 30s, got "
            "'1us'");
  EXPECT_EQ(refusal_of("network: {http: {port: 0}}"),
            "katana.yaml:1: network.http.port: expected at least 1, got 0");
}

TEST_F(ConfigTest, secrets_are_in_no_message) {
  const Bytes hunter = "hunter";
  for (const Bytes text :
       {"database: {password: [hunter]}", "database: {shards: [hunter2]}",
        "database: {shards: hunter2}", "database: {shards: [1, 2, 3, 4, hunter]}"}) {
    const std::string message = refusal_of(text);
    EXPECT_EQ(message.find(hunter), std::string::npos) << message;
  }
  EXPECT_EQ(refusal_of("database: {shards: [hunter2]}"),
            "katana.yaml:1: database.shards[0]: expected a whole number from -2147483648 to "
            "2147483647; what was given is secret and not shown");
  EXPECT_EQ(refusal_of("database: hunter2"), "katana.yaml:1: database: expected a group of keys");
  EXPECT_EQ(refusal_of("database: {password: abc}"),
            "katana.yaml:1: database.password: expected 4 to 100 characters, got 3");
}

TEST_F(ConfigTest, files_that_cannot_be_read_are_named_with_the_reason) {
  EXPECT_EQ(refusal(), "katana.yaml: cannot be read: No such file or directory");
  sources.file_optional = true;
  EXPECT_TRUE(Config<Program>::load(sources));
  sources.file = folder;
  EXPECT_NE(refusal().find("cannot be read: Is a directory"), std::string::npos);
  sources.file = folder + "/katana.yaml";
  EXPECT_EQ(refusal_of("a: \xff\n"),
            "katana.yaml:1: a byte that is not UTF-8. Save the file as UTF-8");
  EXPECT_EQ(refusal_of("log:\n  json: true\n# caf\xe9\n"),
            "katana.yaml:3: a byte that is not UTF-8. Save the file as UTF-8");
  EXPECT_EQ(refusal_of(Bytes("a\0b", 3)),
            "katana.yaml:1: a NUL character. Is this a text file in UTF-8?");
  EXPECT_EQ(refusal_of(std::string(file_bytes_max + 1, '#')),
            "katana.yaml: larger than 4194304 bytes: is this the right file?");
}

TEST_F(ConfigTest, what_is_not_yaml_is_refused_with_its_line) {
  EXPECT_EQ(refusal_of("log:\n  json: [true\n"), "katana.yaml:2: not YAML: '[' is not closed");
  EXPECT_EQ(refusal_of("log: {json: true}\n---\nlog: {json: false}\n"),
            "katana.yaml:2: a second document begins here. Give one");
  EXPECT_EQ(refusal_of("[1]: 2\n"), "katana.yaml:1: a key that is not text");
  EXPECT_EQ(
      refusal_of("log: {json: *nothing}\n"),
      "katana.yaml:1: not YAML: an alias '*name' without its anchor '&name' above: quote a text "
      "that begins with '*'");
}

TEST_F(ConfigTest, a_syntax_error_is_told_in_words_with_the_line_that_has_to_be_mended) {
  struct Wrong {
    const char* text;
    const char* words;
  };
  constexpr Wrong all[] = {
      {"a:\n  b: {c: 1,\n  d: 2\n", "2: not YAML: '{' is not closed"},
      {"a: [1, [2, 3]\nb: 1\n", "1: not YAML: '[' is not closed"},
      {"network:\n  http:\n    address: \"a\n", "4: not YAML: a quote is not closed"},
      {"log: 1]\nb: ]\n", "2: not YAML: a bracket closes what was not opened"},
      {"log:\n  json: a: b\n",
       "2: not YAML: a second value on one line: quote a text that has ': ' "
       "in it, or begin a new line"},
      {"log:\n    json: 1\n  sample: 2\n",
       "3: not YAML: expected a key with the indentation of the keys above, or the end of their "
       "group"},
      {"a: \"\\q\"\n",
       "1: not YAML: '\\q' is no escape: write '\\\\' for a backslash, or use single "
       "quotes"},
      {"a: @b\n",
       "1: not YAML: a character that cannot begin a value: quote the text, and indent by "
       "spaces, not tabs"},
  };
  for (const Wrong& each : all) {
    EXPECT_EQ(refusal_of(each.text), std::string("katana.yaml:") + each.words) << each.text;
  }
}

TEST_F(ConfigTest, a_flag_that_stands_for_a_key_is_named_and_the_key_is_not) {
  sources.sets = {"network.http.port=abc", "network.http.port=abd"};
  sources.set_flags = {"--port"};
  const std::string refused = refusal_of("");
  EXPECT_EQ(refused, "--set network.http.port: expected a whole number from 0 to 65535, got 'abd'");
  sources.sets.pop_back();
  EXPECT_EQ(refusal_of(""), "--port: expected a whole number from 0 to 65535, got 'abc'");
}

TEST_F(ConfigTest, anchors_and_merged_keys_are_taken_over_as_copies) {
  sources.sets = {"network.admin.port=3"};
  const Program value = value_of(R"(network:
  http: &base
    port: 1
    address: a
  admin:
    <<: *base
    address: b
)");
  EXPECT_EQ(value.network.http.port, 1);
  EXPECT_EQ(value.network.admin->port, 3);
  EXPECT_EQ(value.network.admin->address, "b");
  EXPECT_EQ(refusal_of("log:\n  <<: 3\n"),
            "katana.yaml:2: <<: expected an alias of a group of keys");
}

TEST_F(ConfigTest, aliases_that_multiply_and_deep_nesting_are_bounded) {
  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int level = 1; level < 12; ++level) {
    laughs += fmt::format("a{0}: &a{0} [", level);
    for (int count = 0; count < 9; ++count) laughs += fmt::format("*a{}, ", level - 1);
    laughs += "]\n";
  }
  EXPECT_NE(refusal_of(laughs).find("more than 100000 values, with what aliases repeat"),
            std::string::npos);
  EXPECT_EQ(refusal_of("a: " + std::string(100, '[')), "katana.yaml:1: more than 64 levels");
  EXPECT_EQ(refusal_of("a: &a [*a]"), "katana.yaml:1: an alias inside of what it stands for");
}

TEST_F(ConfigTest, flags_that_name_no_value_are_refused) {
  sources.sets = {"log.json"};
  EXPECT_EQ(refusal_of(""), "--set log.json: has no value: write KEY=VALUE");
  sources.sets = {"log=1"};
  EXPECT_EQ(refusal_of(""), "--set log: a group of keys: name one of them (json, sample, levels)");
  sources.sets = {"log.json.more=1"};
  EXPECT_EQ(refusal_of(""), "--set log.json.more: 'json' has no keys: give it as a whole");
  sources.sets = {"peers=[{"};
  EXPECT_EQ(refusal_of(""), "--set peers: not YAML: '{' is not closed");
}

TEST_F(ConfigTest, prints_effective_values_with_their_origin_and_no_secrets) {
  sources.environment = {{"KATANA_LOG__JSON", "true"}};
  sources.sets = {"database.password=hunter2", "peers=[{name: \"a b\"}]"};
  write("network:\n  http:\n    port: 9000\n");
  const auto config = Config<Program>::load(sources);
  ASSERT_TRUE(config);
  EXPECT_EQ(without_folder(config->print()),
            R"(network:
  http:
    address: "127.0.0.1"                # default
    port: 9000                          # katana.yaml:3
    idle_timeout: 1m                    # default
    head_max: 16KiB                     # default
    engine: epoll                       # default
  admin: null                           # default
log:
  json: true                            # environment KATANA_LOG__JSON
  sample: 1                             # default
  levels: {}                            # default
database:
  password: ***                         # --set database.password
  pool: null                            # default
  shards: ***                           # default
peers: [{name: "a b", weight: 1, wait: "0s"}] # --set peers
)");
}

struct Door {
  int width = 80;
};
KATANA_DESCRIBE(Door, (width, help("in centimetres")))

struct House {
  std::string street = "Elm";
  Engine heating = Engine::epoll;
  Door front;
  std::map<std::string, Door> others;
};
KATANA_DESCRIBE(House, (street, reloadable, help("where it stands")), (heating, help("fuel")),
                front, (others, help("by name")))

TEST_F(ConfigTest, prints_defaults_with_their_meaning_that_can_be_read_again) {
  const std::string printed = print_defaults<House>();
  EXPECT_EQ(printed, R"(street: Elm                             # where it stands; reloadable
heating: epoll                          # fuel; one of epoll, io_uring
front:
  width: 80                             # in centimetres
others: {}                              # by name
  # NAME:
  #   width: 80                         # in centimetres
)");
  write(printed);
  EXPECT_TRUE(Config<House>::load(sources));
}

TEST_F(ConfigTest, what_is_printed_is_read_again_as_the_same) {
  struct Case {
    static std::string shown(const Program& value) { return write_value(value, true); }
  };
  const Program value = value_of(
      "network: {http: {address: \"\\x01\\\" : #\", idle_timeout: 90s}}\n"
      "log: {levels: {'null': '~', '': 'no', '1': '-'}}\npeers: [{name: 'é, ]'}]\n");
  write(Case::shown(value));
  const auto again = Config<Program>::load(sources);
  ASSERT_TRUE(again) << again.error().describe();
  EXPECT_EQ(Case::shown(*again->get()), Case::shown(value));
}

TEST_F(ConfigTest, values_that_do_not_go_together_are_refused_by_the_programs_own_check) {
  write("log: {json: true}");
  const auto config = Config<Program>::load(sources, [](const Program& value) -> Result<void> {
    if (value.log.json && value.peers.empty()) return fail(Code::invalid_argument, "json, no peer");
    return {};
  });
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().describe(), "json, no peer");
}

TEST(Environment, of_the_process_is_read) {
  ::setenv("KATANA_CONFIG_TEST", "a=b", 1);
  const auto all = process_environment();
  EXPECT_NE(
      std::ranges::find(all, std::pair<std::string, std::string>("KATANA_CONFIG_TEST", "a=b")),
      all.end());
}

}  // namespace
}  // namespace katana::config

// SPDX-License-Identifier: Apache-2.0
