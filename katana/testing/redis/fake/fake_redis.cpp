#include "katana/testing/redis/fake/fake_redis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

namespace katana::testing {
namespace {

// The result of reading a command.
enum class ReadState : std::uint8_t { whole, partial, wrong };

// "*2\r\n": the number behind the sign.
ReadState read_count(Bytes input, std::size_t& place, char sign, std::size_t& count) {
  const std::size_t end = input.find("\r\n", place);
  if (end == Bytes::npos) {
    return input.size() - place > 64 ? ReadState::wrong : ReadState::partial;
  }
  if (input[place] != sign) return ReadState::wrong;
  const char* const first = input.data() + place + 1;
  const auto read = std::from_chars(first, input.data() + end, count);
  if (read.ec != std::errc() || read.ptr != input.data() + end) return ReadState::wrong;
  place = end + 2;
  return ReadState::whole;
}

// A command is an array of bulk strings. `place` ends behind it.
ReadState read_command(Bytes input, std::size_t& place, RedisWords& words) {
  std::size_t count = 0;
  if (const auto state = read_count(input, place, '*', count); state != ReadState::whole) {
    return state;
  }
  for (std::size_t index = 0; index < count; ++index) {
    if (place >= input.size()) return ReadState::partial;
    std::size_t size = 0;
    if (const auto state = read_count(input, place, '$', size); state != ReadState::whole) {
      return state;
    }
    if (input.size() < place + size + 2) return ReadState::partial;
    words.emplace_back(input.substr(place, size));
    place += size + 2;
  }
  return words.empty() ? ReadState::wrong : ReadState::whole;
}

RedisValue push(std::vector<RedisValue> elements) {
  return {.type = RedisValue::Type::push, .elements = std::move(elements)};
}

}  // namespace

class FakeRedis::Session final : public SharedSession {
 public:
  Session(FakeRedis& redis, std::int64_t id) noexcept : redis_(redis), id_(id) {}

  void tell_changed(const std::string& key) {
    if (!tracks_) return;
    const auto is_wanted = [&key](const std::string& prefix) { return key.starts_with(prefix); };
    if (!prefixes_.empty() && std::ranges::none_of(prefixes_, is_wanted)) return;
    say(push({RedisValue::bulk("invalidate"), RedisValue::array({RedisValue::bulk(key)})}));
  }
  bool tell(const std::string& channel, const std::string& message) {
    if (!channels_.contains(channel)) return false;
    say(push({RedisValue::bulk("message"), RedisValue::bulk(channel), RedisValue::bulk(message)}));
    return true;
  }

 private:
  void say(const RedisValue& value) { write(value.wire()); }

  std::size_t on_bytes(Bytes input) override {
    std::size_t place = 0;
    RedisWords words;
    const ReadState state = read_command(input, place, words);
    if (state == ReadState::partial) return 0;
    if (state == ReadState::wrong) {
      say(RedisValue::error("ERR Protocol error: a command is an array of bulk strings"));
      close();
      return input.size();
    }
    ++redis_.commands_;
    take(words);
    redis_.tell_changed();
    return place;
  }
  void take(const RedisWords& words) {
    const std::string name = upper_case(words[0]);
    if (name == "HELLO") return say(hello(words));
    if (name == "PING") return say(RedisValue::status("PONG"));
    if (name == "ECHO" && words.size() == 2) return say(RedisValue::bulk(words[1]));
    if (name == "SELECT" || name == "AUTH") return say(RedisValue::ok());
    if (name == "CLIENT") return say(client(words));
    if (name == "SUBSCRIBE" || name == "UNSUBSCRIBE") return subscribe(words, name);
    if (name == "PUBLISH" && words.size() == 3) {
      const std::size_t count = redis_.publish(words[1], words[2]);
      return say(RedisValue::count(static_cast<std::int64_t>(count)));
    }
    say(redis_.data_.execute(words, redis_.wall_clock_us()));
  }
  RedisValue hello(const RedisWords& words) const {
    if (words.size() > 1 && words[1] != "3") {
      return RedisValue::error("NOPROTO a FakeRedis speaks RESP3 only");
    }
    RedisValue made{.type = RedisValue::Type::map};
    const auto add = [&made](const char* key, RedisValue value) {
      made.elements.push_back(RedisValue::bulk(key));
      made.elements.push_back(std::move(value));
    };
    add("server", RedisValue::bulk("redis"));
    add("version", RedisValue::bulk("7.0.0"));
    add("proto", RedisValue::count(3));
    add("id", RedisValue::count(id_));
    add("mode", RedisValue::bulk("standalone"));
    add("role", RedisValue::bulk("master"));
    add("modules", RedisValue::array());
    return made;
  }
  RedisValue client(const RedisWords& words) {
    const std::string what = words.size() > 1 ? upper_case(words[1]) : "";
    if (what == "SETNAME" || what == "SETINFO") return RedisValue::ok();
    if (what == "ID") return RedisValue::count(id_);
    if (what != "TRACKING" || words.size() < 3) {
      return RedisValue::error("ERR unknown subcommand of CLIENT: a FakeRedis has no such");
    }
    tracks_ = upper_case(words[2]) == "ON";
    bool is_broadcast = false;
    for (std::size_t index = 3; index < words.size(); ++index) {
      is_broadcast |= upper_case(words[index]) == "BCAST";
      const bool is_prefix = upper_case(words[index]) == "PREFIX" && index + 1 < words.size();
      if (is_prefix) prefixes_.insert(words[++index]);
    }
    if (!tracks_) prefixes_.clear();
    if (tracks_ && !is_broadcast) {
      return RedisValue::error("ERR a FakeRedis tracks keys with BCAST only");
    }
    return RedisValue::ok();
  }
  void subscribe(const RedisWords& words, const std::string& name) {
    for (std::size_t index = 1; index < words.size(); ++index) {
      if (name == "SUBSCRIBE") {
        channels_.insert(words[index]);
      } else {
        channels_.erase(words[index]);
      }
      say(push({RedisValue::bulk(name == "SUBSCRIBE" ? "subscribe" : "unsubscribe"),
                RedisValue::bulk(words[index]),
                RedisValue::count(static_cast<std::int64_t>(channels_.size()))}));
    }
  }

  FakeRedis& redis_;
  const std::int64_t id_;
  bool tracks_ = false;
  std::set<std::string> prefixes_;
  std::set<std::string> channels_;
};

FakeRedis::FakeRedis(TestHost host, FakeRedisOptions options)
    : SharedServer(std::move(host), options.port),
      options_(options),
      data_(options.replica_lag.ns / 1'000) {}

FakeRedis::~FakeRedis() { reset_sessions(); }

std::shared_ptr<SharedSession> FakeRedis::make_session() {
  std::erase_if(clients_, [](const auto& each) { return each.expired(); });
  auto made = std::make_shared<Session>(*this, ++last_id_);
  clients_.push_back(made);
  return made;
}

void FakeRedis::tell_changed() {
  const auto clients = clients_;
  for (const std::string& key : data_.take_changed()) {
    for (const auto& each : clients) {
      const auto session = each.lock();
      if (session != nullptr && !session->is_over()) session->tell_changed(key);
    }
  }
}

std::size_t FakeRedis::publish(const std::string& channel, const std::string& message) {
  const auto clients = clients_;
  std::size_t count = 0;
  for (const auto& each : clients) {
    const auto session = each.lock();
    if (session != nullptr && !session->is_over()) count += session->tell(channel, message) ? 1 : 0;
  }
  return count;
}

void FakeRedis::go_down() {
  SharedServer::go_down();
  if (!options_.keeps_keys) data_.clear();
  data_.forget_scripts();
}

std::string FakeRedis::fail_over() {
  reset_sessions();
  return fmt::format("{} writes", data_.fail_over(wall_clock_us()));
}

bool FakeRedis::evict(const std::string& key) {
  const bool was_there = data_.evict(key);
  tell_changed();
  return was_there;
}

RedisValue FakeRedis::execute(const RedisWords& words) {
  RedisValue reply = data_.execute(words, wall_clock_us());
  tell_changed();
  return reply;
}

std::optional<std::string> FakeRedis::text(const std::string& key) {
  return data_.text(key, wall_clock_us());
}

std::size_t FakeRedis::size() { return data_.size(wall_clock_us()); }

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
