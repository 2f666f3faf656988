#include "katana/testing/redis/fake/redis_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "katana/base/values/sha1.hpp"
#include "katana/testing/redis/fake/lua_run.hpp"
#include "katana/testing/redis/fake/redis_commands.hpp"

namespace katana::testing {
namespace {

std::string digest_of(const std::string& script) {
  std::string made;
  for (const std::uint8_t octet : sha1(script)) made += fmt::format("{:02x}", octet);
  return made;
}

}  // namespace

RedisValue RedisData::execute(const RedisWords& words, std::int64_t now_us) {
  keys_.set_time(now_us);
  return run(words, false);
}

RedisValue RedisData::run(const RedisWords& given, bool is_in_script) {
  RedisWords words = given;
  words[0] = upper_case(words[0]);
  try {
    if (words[0] == "EVAL" || words[0] == "EVALSHA") return run_script(words, words[0] != "EVAL");
    if (words[0] == "SCRIPT" && words.size() == 3 && upper_case(words[1]) == "LOAD") {
      scripts_[digest_of(words[2])] = std::make_shared<lua::Block>(lua::parse_lua(words[2]));
      return RedisValue::bulk(digest_of(words[2]));
    }
    const RedisCommands::Row* const row = RedisCommands::find(words[0]);
    if (row == nullptr) {
      return RedisValue::error(fmt::format("ERR unknown command '{}': a FakeRedis has no such",
                                           given[0].substr(0, 100)));
    }
    if (words.size() < row->words_min || (row->words_max != 0 && words.size() > row->words_max)) {
      return RedisValue::error(
          fmt::format("ERR wrong number of arguments for '{}' command", given[0].substr(0, 100)));
    }
    RedisCommands commands(keys_, words, is_in_script);
    return (commands.*row->run)();
  } catch (const RedisRefusal& refusal) {
    return RedisValue::error(refusal.text);
  } catch (const lua::LuaProblem& problem) {
    return RedisValue::error(problem.what());
  }
}

RedisValue RedisData::run_script(const RedisWords& words, bool by_digest) {
  std::size_t keys = 0;
  const char* const digits = words.size() > 2 ? words[2].c_str() : "";
  const auto read = std::from_chars(digits, digits + std::string_view(digits).size(), keys);
  if (words.size() < 3 || read.ec != std::errc() || keys > words.size() - 3) {
    return RedisValue::error("ERR Number of keys can't be greater than number of args");
  }
  std::shared_ptr<const lua::Block> script;
  if (by_digest) {
    const auto found = scripts_.find(words[1]);
    if (found == scripts_.end()) {
      return RedisValue::error("NOSCRIPT No matching script. Please use EVAL.");
    }
    script = found->second;
  } else {
    script = std::make_shared<lua::Block>(lua::parse_lua(words[1]));
    scripts_[digest_of(words[1])] = script;
  }
  const auto first = words.begin() + 3;
  const auto first_argument = first + static_cast<std::ptrdiff_t>(keys);
  return lua::run_lua(*script, {first, first_argument}, {first_argument, words.end()},
                      [this](const RedisWords& command) {
                        if (command.empty()) return RedisValue::error("ERR no command");
                        return run(command, true);
                      });
}

std::size_t RedisData::size(std::int64_t now_us) {
  keys_.set_time(now_us);
  return keys_.names().size();
}

std::optional<std::string> RedisData::text(const std::string& key, std::int64_t now_us) {
  keys_.set_time(now_us);
  const RedisEntry* const entry = keys_.find(key);
  const auto* const value = entry == nullptr ? nullptr : std::get_if<std::string>(&entry->value);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

bool RedisData::evict(const std::string& key) {
  if (!keys_.erase(key)) return false;
  keys_.note(key);
  return true;
}

std::size_t RedisData::fail_over(std::int64_t now_us) {
  keys_.set_time(now_us);
  scripts_.clear();
  return keys_.fail_over();
}

void RedisData::clear() {
  keys_.clear();
  scripts_.clear();
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
