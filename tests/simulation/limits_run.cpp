#include "tests/simulation/limits_run.hpp"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <memory>
#include <utility>

#include "tests/simulation/http2_client.hpp"
#include "tests/simulation/limits_service.hpp"
#include "tests/simulation/requests.hpp"

namespace katana::simulation {
namespace {

constexpr std::uint64_t limits_turns_max = 60'000;

struct Wanted {
  std::string path;
  std::string content = {};
  std::string key = {};  // empty: none
  bool is_socket = false;
};

std::string list_of(std::size_t octets) {
  std::string text = "[1";
  while (text.size() + 3 < octets) text += ",1";
  return text + "]";
}

Wanted draw_request(Random& random, std::uint64_t number) {
  static constexpr std::array<const char*, 5> kinds = {"wait", "json", "spawn", "stream", "plain"};
  const std::string kind = kinds[random.below(kinds.size())];
  Wanted wanted;
  if (random.chance(96)) return {.path = "/limited/socket", .is_socket = true};
  wanted.path = random.chance(640) ? "/limited/" : "/free/";
  wanted.path += kind;
  // Some take longer than a handler may.
  if (kind != "plain") wanted.path += fmt::format("/{}", random.below(260));
  const std::size_t octets = random.below(std::size_t{1} << random.between(0, 16));
  wanted.content = kind == "json" ? list_of(octets / 8) : content_of(octets, number);
  if (random.chance(800)) wanted.key = fmt::format("\"k{}\"", random.below(64));
  return wanted;
}

class LeavingClient {
 public:
  explicit LeavingClient(World& world, std::uint64_t number)
      : world_(world), name_(fmt::format("c{}", number)) {}
  virtual ~LeavingClient() = default;
  virtual void ask(const Wanted& wanted) = 0;
  virtual SimPeer& peer() = 0;
  virtual void reset_some_stream(std::uint64_t) {}

  void leave(Exit how) {
    switch (how) {
      case Exit::reset: peer().reset(); break;
      case Exit::close: peer().close(); break;
      case Exit::half_close: peer().finish(); break;
      case Exit::reset_stream: reset_some_stream(0); break;
    }
    left_ = left_ || how != Exit::reset_stream;
  }
  bool has_left() const { return left_; }

 protected:
  World& world_;
  const std::string name_;

 private:
  bool left_ = false;
};

class OldLeaver final : public LeavingClient {
 public:
  OldLeaver(World& world, std::uint64_t number)
      : LeavingClient(world, number), peer_(world.network()) {
    peer_.on_over = [this] {
      if (peer_.saw_end()) peer_.close();
    };
    peer_.connect(world.port(Site::trial));
  }
  SimPeer& peer() override { return peer_; }
  void ask(const Wanted& wanted) override {
    if (has_left()) return;
    if (wanted.is_socket) {
      peer_.send(head_of("GET", wanted.path,
                         "Upgrade: websocket\r\nConnection: Upgrade\r\n"
                         "Sec-WebSocket-Version: 13\r\n"
                         "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"));
      return;
    }
    std::string fields = "X-Connection: \r\n";  // it has one request at a time
    if (!wanted.key.empty()) fields += "Idempotency-Key: " + wanted.key + "\r\n";
    fields += fmt::format("Content-Type: application/json\r\nContent-Length: {}\r\n",
                          wanted.content.size());
    peer_.send(head_of("POST", wanted.path, fields) + wanted.content);
  }

 private:
  SimPeer peer_;
};

class NewLeaver final : public LeavingClient {
 public:
  NewLeaver(World& world, std::uint64_t number) : LeavingClient(world, number), client_(world) {
    client_.peer().on_over = [this] {
      if (client_.peer().saw_end()) client_.peer().close();
    };
  }
  SimPeer& peer() override { return client_.peer(); }
  void ask(const Wanted& wanted) override {
    if (has_left()) return;
    if (wanted.is_socket) {
      ids_.push_back(client_.connect(wanted.path, {{"x-connection", name_}}));
      return;
    }
    http2::Fields fields = {{"x-connection", name_}, {"content-type", "application/json"}};
    if (!wanted.key.empty()) fields.emplace_back("idempotency-key", wanted.key);
    ids_.push_back(client_.ask("POST", wanted.path, wanted.content, fields));
  }
  void reset_some_stream(std::uint64_t number) override {
    if (has_left() || ids_.empty()) return;
    const std::uint32_t id = ids_[number % ids_.size()];
    if (client_.is_over(id)) return;
    client_.send(http2::FrameType::rst_stream, 0, id, http2::number(8));
    client_.reply(id).reset = 8;
  }

 private:
  Http2Client client_;
  std::vector<std::uint32_t> ids_;
};

std::unique_ptr<LeavingClient> make_client(World& world, bool is_http2, std::uint64_t number) {
  if (is_http2) return std::make_unique<NewLeaver>(world, number);
  return std::make_unique<OldLeaver>(world, number);
}

// The clients of one seed, and their plans.
class LimitsRun {
 public:
  explicit LimitsRun(std::uint64_t seed)
      : random_(seed ^ 0x6c696d697473),
        service_(draw_limits(), random_.next()),
        world_(options(seed)) {
    world_.on_turn = [this] { service_.check(world_, verdict_.faults); };
    const std::size_t count = random_.between(3, 9);
    for (std::size_t number = 0; number < count; ++number) add_client(number);
    world_.run_to_rest(limits_turns_max);
    service_.check_at_rest(world_, verdict_.faults);
  }

  LimitsVerdict verdict() {
    verdict_.begun = service_.begun();
    verdict_.ended = service_.ended();
    verdict_.most_at_once = service_.most_at_once();
    if (!verdict_.faults.empty()) verdict_.explanation = world_.network().explain();
    return std::move(verdict_);
  }

 private:
  ServiceLimits draw_limits() {
    ServiceLimits limits;
    limits.running_max = static_cast<std::uint32_t>(random_.between(1, 4));
    limits.waiting_max = static_cast<std::uint32_t>(random_.between(0, 4));
    limits.requests_max = static_cast<std::uint32_t>(random_.between(2, 10));
    limits.streams_max = static_cast<std::uint32_t>(random_.between(1, 6));
    limits.held_bytes_max = std::size_t{1} << random_.between(17, 21);
    return limits;
  }
  WorldOptions options(std::uint64_t seed) {
    WorldOptions options = service_.options();
    options.seed = seed;
    options.faults = SimFaults::random(seed).lossless();
    return options;
  }

  void add_client(std::size_t number) {
    const bool is_http2 = random_.chance(512);
    const auto start = static_cast<std::int64_t>(random_.below(20'000));
    clients_.emplace_back();
    world_.network().after(microseconds(start), [this, number, is_http2] {
      clients_[number] = make_client(world_, is_http2, number);
    });
    const std::size_t requests = is_http2 ? random_.between(1, 16) : random_.between(1, 3);
    for (std::size_t count = 0; count < requests; ++count) {
      const Wanted wanted = draw_request(random_, random_.next());
      later(start, [this, number, wanted] { clients_[number]->ask(wanted); });
    }
    for (std::size_t count = is_http2 ? random_.below(2 * requests) : 0; count > 0; --count) {
      const std::uint64_t which = random_.next();
      later(start, [this, number, which] { clients_[number]->reset_some_stream(which); });
    }
    static constexpr std::array<Exit, 3> exits = {Exit::reset, Exit::close, Exit::half_close};
    const Exit how = exits[random_.below(exits.size())];
    later(start, [this, number, how] { clients_[number]->leave(how); });
    // A client that has ended one side only closes at last.
    world_.network().after(seconds(2), [this, number] { clients_[number]->peer().close(); });
  }
  void later(std::int64_t start_us, std::function<void()> action) {
    const auto after_us = static_cast<std::int64_t>(random_.below(200'000));
    world_.network().after(microseconds(start_us + after_us + 1), std::move(action));
  }

  Random random_;
  LimitedService service_;
  World world_;
  std::vector<std::unique_ptr<LeavingClient>> clients_;
  LimitsVerdict verdict_;
};

}  // namespace

LimitsVerdict run_limits(std::uint64_t seed) { return LimitsRun(seed).verdict(); }

LimitsVerdict run_exit(const ExitPlan& plan) {
  LimitedService service({}, 7);
  World world(service.options());
  LimitsVerdict verdict;
  world.on_turn = [&] { service.check(world, verdict.faults); };
  const auto client = make_client(world, plan.is_http2, 1);
  const bool is_socket = Bytes(plan.path).ends_with("/socket");
  client->ask({.path = plan.path,
               .content = list_of(2'000),
               .key = plan.has_key ? "\"key\"" : "",
               .is_socket = is_socket});
  for (unsigned turn = 0; turn < plan.turns; ++turn) world.turn(milliseconds(1));
  client->leave(plan.how);
  world.run_for(seconds(1));
  client->peer().close();
  world.run_to_rest(limits_turns_max);
  service.check_at_rest(world, verdict.faults);
  verdict.begun = service.begun();
  verdict.ended = service.ended();
  verdict.most_at_once = service.most_at_once();
  if (!verdict.faults.empty()) verdict.explanation = world.network().explain();
  return verdict;
}

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
