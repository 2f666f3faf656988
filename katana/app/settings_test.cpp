#include "katana/app/settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <concepts>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "katana/app/nats/nats.hpp"
#include "katana/app/server_options.hpp"
#include "katana/app/settings_descriptions.hpp"
#include "katana/app/settings_parts_descriptions.hpp"
#include "katana/base/system/source_tree_test.hpp"
#include "katana/data/config/config.hpp"
#include "katana/data/config/printer.hpp"

namespace katana::app {
namespace {

using testing::HasSubstr;

// The options that a key can change, as text: those of the server, routes, forms, middleware, the
// client and records of failures.
std::string text_of(const ApplicationSettings& settings, const BusSettings& bus) {
  const server::HttpServerOptions options = server_options_of(settings);
  std::string text;
  const auto add = [&text](const auto& value) { text += config::write_value(value, true) + "\n"; };
  for_each_field<HttpSettings>([&](const auto& field) {
    using Struct = typename std::remove_cvref_t<decltype(field)>::Struct;
    if constexpr (std::same_as<Struct, session::HttpOptions>) add(options.http.*field.pointer);
    if constexpr (std::same_as<Struct, net::ReactorOptions>) add(options.reactor.*field.pointer);
  });
  for (const Duration each : {options.http.limits.head_timeout, options.http.limits.content_timeout,
                              options.http.limits.idle_timeout, options.drain_timeout}) {
    add(each);
  }
  for (const std::size_t each :
       {std::size_t{options.reactor.engine.links_max}, options.reactor.engine.receive_bytes_max,
        options.reactor.output_blocks_max, options.reactor.output_blocks_reserve,
        std::size_t{options.http.websocket.subscriptions_max},
        static_cast<std::size_t>(options.backlog)}) {
    add(each);
  }
  if (options.tls) add(options.tls->ticket_lifetime);
  const HttpSettings& http = settings.http;
  add(http.routes);
  add(http.forms);
  add(http.form_files_max);
  add(http.rate_limit);
  add(http.concurrency);
  add(http.load_shedding);
  add(options.clients);
  add(http.csrf);
  add(settings.sessions);
  add(settings.audit);
  add(settings.client);
  add(settings.auth);
  add(settings.cache);
  add(bus);
  add(settings.redis);
  add(settings.requests);
  add(settings.restart);
  return text;
}

using Loaded = Result<config::Config<ApplicationSettings>>;
Loaded load_with(const std::string& key, const std::string& value) {
  config::Sources sources{.environment_prefix = ""};
  sources.sets = {"http.tls.development=true"};
  if (!key.empty()) sources.sets.push_back(key + "=" + value);
  Parts parts;
  parts.add(nats());
  return config::Config<ApplicationSettings>::load(std::move(sources), nullptr, parts.additions());
}

constexpr const char* limits_page = "docs/reference/limits.md";
constexpr const char* attacks_page = "docs/known-attacks.md";

// The keys of each row of the tables of a page that have a column of keys.
std::map<std::string, std::vector<std::string>> rows_with_keys(const char* path) {
  std::map<std::string, std::vector<std::string>> rows;
  std::ifstream page(in_tree(path));
  bool in_table = false;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with('|')) in_table = false;
    if (line.ends_with("| key |")) in_table = true;
    if (!in_table || line.ends_with("| key |") || line.starts_with("|---")) continue;
    std::string last = line.substr(0, line.size() - 2);
    last = last.substr(last.rfind("| ") + 2);
    std::vector<std::string>& keys = rows[line];
    if (last == "fixed" || last.starts_with("in code: ")) continue;
    while (last.starts_with('`')) {
      const std::size_t end = last.find('`', 1);
      keys.push_back(last.substr(1, end - 1));
      last.erase(0, end + 1);
      if (last.starts_with(", ")) last.erase(0, 2);
    }
    EXPECT_FALSE(keys.empty() || !last.empty()) << "names no key: " << line;
  }
  return rows;
}

// Each key is set to another value, which is then in the options of the server.
TEST(Settings, every_limit_of_the_reference_is_set_by_the_key_it_names) {
  const auto defaults = load_with("", "");
  ASSERT_TRUE(defaults) << defaults.error().describe();
  const std::string before = text_of(*defaults->get(), *defaults->group<BusSettings>("bus"));
  std::size_t keys = 0;
  auto rows = rows_with_keys(limits_page);
  rows.merge(rows_with_keys(attacks_page));
  for (const auto& [row, names] : rows) {
    for (const std::string& key : names) {
      ++keys;
      bool set = false;
      std::string refusals;
      for (const char* value : {"77", "7s", "7m", "2KiB", "96KiB", "7MiB", "0.5"}) {
        const auto loaded = load_with(key, value);
        if (!loaded) refusals += loaded.error().describe() + "\n";
        if (!loaded || defaults->print() == loaded->print()) continue;
        const auto settings = loaded->get();
        set = set || text_of(*settings, *loaded->group<BusSettings>("bus")) != before;
      }
      EXPECT_TRUE(set) << key << " changes nothing\n" << refusals;
    }
  }
  EXPECT_GT(keys, 150u);
}

// A table of limits whose keys are not named would not be tested either.
std::size_t tables_with_keys(const char* path, const std::vector<std::string>& sections) {
  std::ifstream page(in_tree(path));
  std::string section, before;
  std::size_t tables = 0;
  for (std::string line; std::getline(page, line); before = line) {
    if (line.starts_with("## ") || line.starts_with("### ")) section = line;
    const bool of_limits = std::ranges::find(sections, section) != sections.end();
    if (!of_limits || !line.starts_with("|---")) continue;
    ++tables;
    EXPECT_TRUE(before.ends_with("| key |")) << section << ": " << before;
  }
  return tables;
}

TEST(Settings, every_table_of_limits_in_the_reference_names_its_keys) {
  const std::vector<std::string> sections = {
      "## HTTP/1.1: sizes", "## HTTP/1.1: timeouts",
      "## HTTP/2",          "## WebSocket",
      "## Each reactor",    "## Each client",
      "## Each service",    "## TLS",
      "## HTTP client",     "## Sessions, passwords and the audit log",
      "## The bus",         "## Redis",
  };
  EXPECT_EQ(tables_with_keys(limits_page, sections), sections.size());
  EXPECT_EQ(tables_with_keys(attacks_page, {"## HTTP/2"}), 1u);
}

TEST(Settings, the_console_has_a_form_and_the_words_that_it_had_before) {
  const auto read = [](Bytes text) { return TextForm<ConsoleLog>::parse(text); };
  EXPECT_EQ(read("text"), ConsoleLog::text);
  EXPECT_EQ(read("json"), ConsoleLog::json);
  EXPECT_EQ(read("off"), ConsoleLog::off);
  EXPECT_EQ(read("true"), ConsoleLog::text);
  EXPECT_EQ(read("false"), ConsoleLog::off);
  for (const char* wrong : {"", "yes", "JSON", "binary"}) EXPECT_FALSE(read(wrong)) << wrong;
  for (const ConsoleLog each : {ConsoleLog::off, ConsoleLog::text, ConsoleLog::json}) {
    EXPECT_EQ(read(TextForm<ConsoleLog>::write(each)), each);
  }
}

TEST(Settings, every_value_says_what_it_means) {
  Parts parts;
  parts.add(nats());
  const config::Composition composition(config::type_of<ApplicationSettings>(),
                                        &config::make_value<ApplicationSettings>,
                                        parts.additions());
  std::istringstream lines(composition.print_defaults());
  for (std::string line; std::getline(lines, line);) {
    const std::string key = line.substr(line.find_first_not_of(" #"));
    const bool has_value = !key.ends_with(':');
    if (has_value) EXPECT_THAT(key, HasSubstr(" # ")) << "give it a help(\"…\")";
  }
}

}  // namespace
}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
