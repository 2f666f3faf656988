#include "tests/simulation/mixed_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "tests/simulation/http2_client.hpp"
#include "tests/simulation/mixed_sockets.hpp"
#include "tests/simulation/requests.hpp"
#include "tests/simulation/workload.hpp"

namespace katana::simulation {
namespace {

constexpr std::uint64_t mixed_turns_max = 60'000;

// Its key is RSA's and it gives no tickets: output then has the same length in every run.
tls::Credentials& shared_credentials() {
  static const auto made = [] {
    const tls::TestCertificate certificate({"localhost"}, true);
    tls::TlsOptions options;
    options.certificates.push_back(
        {.chain_text = certificate.certificate_text(), .key_text = certificate.key_text()});
    options.protocols = {"h2", "http/1.1"};
    options.ticket_lifetime = {};
    return tls::Credentials::load(options).value();
  }();
  return *made;
}

// The ways in which a client ends before it has everything; or it stays.
enum class Leaving : std::uint8_t { stays, closes, resets };

Planned draw_request(Random& random, std::size_t octets) {
  switch (random.below(5)) {
    case 0: {
      const std::size_t size = random.below(octets + 1);
      return get(fmt::format("/text/{}", size), trial_text(size));
    }
    case 1: {
      const auto ms = random.below(40);
      return get(fmt::format("/sleep/{}", ms), fmt::format("slept {} ms", ms));
    }
    case 2: return get("/ticks/4/3", trial_ticks(4));
    case 3: {
      const std::string content = content_of(random.below(octets + 1), random.next());
      return post("/collect", content, trial_digest(content));
    }
    default: {
      const std::string content = content_of(random.below(octets / 2 + 1), random.next());
      return post("/mirror/0", content, trial_mirrored(content));
    }
  }
}

std::string with_upgrade(std::size_t client) {
  return head_of("GET", fmt::format("/socket/{}", client),
                 "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                 "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n");
}

class MixedClient {
 public:
  explicit MixedClient(Leaving leaving) : leaving_(leaving) {}
  virtual ~MixedClient() = default;
  virtual std::string name() const = 0;
  virtual void begin() = 0;
  virtual Channel& channel() = 0;
  // The mistakes in any case; with `complete`, the messages that are missing, too.
  virtual void check(bool complete, std::vector<std::string>& faults) = 0;

  bool stays() const { return leaving_ == Leaving::stays; }
  void leave() {
    if (leaving_ == Leaving::closes) channel().close();
    if (leaving_ == Leaving::resets) channel().peer().reset();
    left_ = true;
  }

 protected:
  bool left_ = false;

 private:
  const Leaving leaving_;
};

// HTTP/1.1: requests, several at once, and then perhaps a WebSocket connection.
class OldClient final : public MixedClient {
 public:
  OldClient(World& world, Site site, Leaving leaving, std::vector<Planned> requests,
            std::size_t depth, const std::optional<SocketPlan>& socket, std::uint64_t seed)
      : MixedClient(leaving),
        channel_(world),
        site_(site),
        requests_(std::move(requests)),
        depth_(depth) {
    if (socket) {
      socket_ =
          std::make_unique<SocketScript>(*socket, seed, [this](Bytes bytes) { send_bytes(bytes); });
    }
    channel_.on_bytes = [this](Bytes bytes) { take(bytes); };
    channel_.on_over = [this] {
      if (channel_.peer().saw_end()) channel_.close();
    };
  }
  std::string name() const override { return socket_ ? "WebSocket on HTTP/1.1" : "HTTP/1.1"; }
  Channel& channel() override { return channel_; }
  void begin() override {
    channel_.connect(site_, {"http/1.1"});
    pump();
  }
  void send_bytes(Bytes bytes) {
    if (!left_) channel_.send(bytes);
  }

  void check(bool complete, std::vector<std::string>& faults) override {
    const auto& replies = reader_.replies();
    if (!reader_.error().empty()) faults.push_back(reader_.error());
    for (std::size_t number = 0; number < std::min(replies.size(), requests_.size()); ++number) {
      const bool right = replies[number].status == requests_[number].status &&
                         replies[number].content == requests_[number].reply;
      if (!right) faults.push_back("not the reply to " + requests_[number].name);
    }
    if (socket_ && !socket_->fault().empty()) faults.push_back(socket_->fault());
    if (!complete) return;
    if (replies.size() != requests_.size()) {
      faults.push_back(fmt::format("{} replies to {} requests", replies.size(), requests_.size()));
    }
    if (socket_ && !socket_->complete()) {
      faults.push_back(fmt::format("{} echoes of {}", socket_->echoed(), socket_->plan().messages));
    }
    if (socket_ && !channel_.ended_in_order()) faults.push_back("the end was not in order");
  }

 private:
  void pump() {
    while (next_ < requests_.size() && next_ - reader_.replies().size() < depth_) {
      reader_.expect(false);
      const Planned& request = requests_[next_++];
      send_bytes(request.head + request.content);
    }
    if (reader_.replies().size() < requests_.size()) return;
    if (socket_ && !std::exchange(asked_, true)) {
      send_bytes(with_upgrade(socket_->plan().client));
    } else if (!socket_ && !left_) {
      left_ = true;
      channel_.close();
    }
  }
  void take(Bytes bytes) {
    if (upgraded_) return socket_->feed(bytes);
    if (!asked_) {
      reader_.feed(bytes);
      return pump();
    }
    answer_ += bytes;
    const std::size_t end = answer_.find("\r\n\r\n");
    if (end == std::string::npos) return;
    upgraded_ = true;
    EXPECT_TRUE(answer_.starts_with("HTTP/1.1 101 ")) << answer_;
    socket_->begin();
    socket_->feed(Bytes(answer_).substr(end + 4));
  }

  Channel channel_;
  const Site site_;
  const std::vector<Planned> requests_;
  const std::size_t depth_;
  std::unique_ptr<SocketScript> socket_;  // null: requests alone
  ReplyReader reader_;
  std::string answer_;
  std::size_t next_ = 0;
  bool asked_ = false;  // for the upgrade
  bool upgraded_ = false;
};

// HTTP/2: requests and WebSocket connections on the streams of one connection.
class NewClient final : public MixedClient {
 public:
  NewClient(World& world, Site site, Leaving leaving, std::vector<Planned> requests,
            std::vector<SocketPlan> sockets, std::uint64_t seed)
      : MixedClient(leaving),
        world_(world),
        site_(site),
        requests_(std::move(requests)),
        plans_(std::move(sockets)),
        seed_(seed) {}
  std::string name() const override { return "HTTP/2"; }
  Channel& channel() override { return client_->channel(); }

  void begin() override {
    Http2ClientOptions options;
    options.site = site_;
    options.stream_window = 1'000 + static_cast<std::uint32_t>(seed_ % 30'000);
    client_ = std::make_unique<Http2Client>(world_, options);
    client_->on_head = [this](std::uint32_t id) { on_head(id); };
    client_->on_content = [this](std::uint32_t id, Bytes bytes) { on_content(id, bytes); };
    client_->on_end = [this](std::uint32_t id) { on_end(id); };
    for (const Planned& each : requests_) {
      const bool is_get = each.content.empty() && each.head.starts_with("GET ");
      const std::string path =
          each.head.substr(each.head.find('/'), each.head.find(" HTTP/") - each.head.find('/'));
      ids_.push_back(is_get ? client_->get(path) : client_->post(path, each.content));
    }
    for (const SocketPlan& each : plans_) {
      const auto id = client_->connect(fmt::format("/socket/{}", each.client));
      sockets_[id] = std::make_unique<SocketScript>(
          each, seed_ + id, [this, id](Bytes bytes) { client_->send_data(id, bytes); });
    }
    left_to_end_ = ids_.size() + sockets_.size();
  }

  void check(bool complete, std::vector<std::string>& faults) override {
    if (client_ == nullptr) return;
    for (std::size_t number = 0; number < ids_.size(); ++number) {
      const Http2Reply& reply = client_->reply(ids_[number]);
      const bool right = reply.status == std::to_string(requests_[number].status) &&
                         reply.content == requests_[number].reply;
      if (reply.ended && !right) faults.push_back("not the reply to " + requests_[number].name);
      if (complete && !reply.ended) faults.push_back("no reply to " + requests_[number].name);
    }
    for (const auto& [id, socket] : sockets_) {
      if (!socket->fault().empty()) faults.push_back(socket->fault());
      if (complete && !socket->complete()) {
        faults.push_back(fmt::format("stream {}: {} echoes of {}, closed with {}, reset {}", id,
                                     socket->echoed(), socket->plan().messages,
                                     socket->client().closed(), client_->reply(id).reset));
      }
    }
    if (complete && client_->goaway() > 0) faults.push_back("the connection was refused");
  }

 private:
  void on_content(std::uint32_t id, Bytes bytes) {
    const auto found = sockets_.find(id);
    if (found == sockets_.end()) return;
    found->second->feed(bytes);
  }
  void on_head(std::uint32_t id) {
    if (const auto found = sockets_.find(id); found != sockets_.end()) found->second->begin();
  }
  void on_end(std::uint32_t id) {
    if (sockets_.contains(id)) client_->send_data(id, {}, true);
    if (--left_to_end_ == 0 && !left_) {
      left_ = true;
      world_.network().after({}, [this] { channel().close(); });
    }
  }

  World& world_;
  const Site site_;
  const std::vector<Planned> requests_;
  const std::vector<SocketPlan> plans_;
  const std::uint64_t seed_;
  std::unique_ptr<Http2Client> client_;
  std::vector<std::uint32_t> ids_;
  std::map<std::uint32_t, std::unique_ptr<SocketScript>> sockets_;
  std::size_t left_to_end_ = 0;
};

// The plans of all clients of one seed, and their execution.
class MixedRun {
 public:
  MixedRun(std::uint64_t seed, std::size_t trace_lines_max)
      : seed_(seed), random_(seed ^ 0x6d69786564), lossless_(random_.below(4) != 0) {
    WorldOptions options = draw_options();
    options.trace_lines_max = trace_lines_max;
    world_ = std::make_unique<World>(options);
    const std::size_t count = random_.between(2, 6);
    for (std::size_t number = 0; number < count; ++number) add_client();
    world_->run_to_rest(mixed_turns_max);
  }

  World& world() { return *world_; }
  std::vector<std::string> faults();

 private:
  WorldOptions draw_options() {
    SimFaults faults = SimFaults::random(seed_);
    if (lossless_) faults = faults.lossless();
    octets_ = faults.segment_bytes.max <= 64     ? 1'500
              : faults.segment_bytes.max <= 1460 ? 8'000
                                                 : 40'000;
    if (faults.fragment > 512) octets_ /= 4;
    WorldOptions options = patient_options(seed_, faults);
    options.reactor.carry_extra_bytes += 16 * 1024;
    options.reactor.opening_timeout = seconds(120);
    options.credentials = &shared_credentials();
    options.http.http2.stall_timeout = seconds(600);
    options.http.http2.limits.head_timeout = seconds(120);
    options.http.http2.limits.settings_timeout = seconds(120);
    ws::Limits& limits = options.http.websocket.limits;
    limits.message_timeout = limits.pong_timeout = limits.close_timeout = seconds(300);
    small_queue_ = random_.chance(256);
    if (small_queue_) options.http.websocket.queue_bytes_max = 4'096;
    options.more_routes = [this](Router& router) { sockets_.add_routes(router); };
    return options;
  }

  SocketPlan draw_socket() {
    SocketPlan plan;
    plan.client = ++sockets_drawn_;
    plan.messages = random_.below(25);
    plan.bytes_max = random_.chance(256) ? octets_ / 2 : 40;
    plan.depth = random_.between(1, 8);
    // Messages that a subscriber with a full queue does not take end its connection. This is
    // correct, and not a subject of this test.
    plan.publishes = small_queue_ ? 0 : 200;
    plan.fragments = random_.chance(512);
    plan.server_closes = random_.chance(512);
    return plan;
  }

  void add_client() {
    const Site site = random_.chance(512) ? Site::trial : Site::trial_tls;
    const Leaving leaving = random_.chance(768)   ? Leaving::stays
                            : random_.chance(512) ? Leaving::closes
                                                  : Leaving::resets;
    std::vector<Planned> requests;
    for (std::size_t left = random_.below(6); left > 0; --left) {
      requests.push_back(draw_request(random_, octets_));
    }
    std::vector<SocketPlan> sockets;
    if (random_.chance(512)) {
      for (std::size_t left = random_.below(4); left > 0; --left) sockets.push_back(draw_socket());
      clients_.push_back(std::make_unique<NewClient>(*world_, site, leaving, std::move(requests),
                                                     std::move(sockets), random_.next()));
    } else {
      const auto socket =
          random_.chance(512) ? std::optional<SocketPlan>(draw_socket()) : std::nullopt;
      clients_.push_back(std::make_unique<OldClient>(*world_, site, leaving, std::move(requests),
                                                     random_.between(1, 4), socket,
                                                     random_.next()));
    }
    MixedClient& client = *clients_.back();
    const auto start_us = static_cast<std::int64_t>(random_.below(20'000));
    world_->network().after(microseconds(start_us), [&client] { client.begin(); });
    if (client.stays()) return;
    const auto stay_us = static_cast<std::int64_t>(random_.below(60'000));
    world_->network().after(microseconds(start_us + stay_us), [&client] { client.leave(); });
  }

  void check_memory(std::vector<std::string>& faults);

  const std::uint64_t seed_;
  Random random_;
  const bool lossless_;
  std::size_t octets_ = 0;
  bool small_queue_ = false;
  std::size_t sockets_drawn_ = 0;
  MixedSockets sockets_;
  std::unique_ptr<World> world_;
  std::vector<std::unique_ptr<MixedClient>> clients_;
};

// The most memory of a connection: pending output, sealed output, the queues of its sockets, and a
// block of each that is not full.
void MixedRun::check_memory(std::vector<std::string>& faults) {
  const net::ReactorOptions& reactor = world_->reactor().options();
  const std::size_t of_connection = 2 * reactor.outbox_high_bytes + reactor.sealed_high_bytes +
                                    64 * 1024 + 8 * reactor.output_block_bytes;
  const std::size_t of_socket = octets_ * 8 + 2 * reactor.output_block_bytes;
  const std::size_t most = clients_.size() * of_connection + sockets_drawn_ * of_socket;
  const net::MemoryBudget& peak = world_->memory_peak();
  if (peak.output > most) {
    faults.push_back(fmt::format("{} bytes of output at once; {} may be", peak.output, most));
  }
}

std::vector<std::string> MixedRun::faults() {
  std::vector<std::string> faults = world_->faults_at_rest();
  for (std::size_t index = 0; index < clients_.size(); ++index) {
    std::vector<std::string> mine;
    clients_[index]->check(lossless_ && clients_[index]->stays(), mine);
    for (const std::string& fault : mine) {
      faults.push_back(
          fmt::format("client {} ({}): {}", index + 1, clients_[index]->name(), fault));
    }
  }
  for (const auto& [client, note] : sockets_.notes()) {
    if (!note.fault.empty()) faults.push_back(fmt::format("socket {}: {}", client, note.fault));
    if (note.opened != note.closed) {
      faults.push_back(
          fmt::format("socket {}: {} opened, {} closed", client, note.opened, note.closed));
    }
  }
  const session::HttpCounters counters = world_->protocol(Site::trial).counters();
  if (counters.handler_failures + counters.websocket.handler_failures != 0) {
    faults.emplace_back("a handler failed");
  }
  if (counters.websocket.opened != counters.websocket.closed) {
    faults.emplace_back("WebSocket connections are left");
  }
  if (counters.websocket.disconnects + counters.websocket.dropped + counters.websocket.refused !=
      0) {
    faults.emplace_back("a WebSocket peer that did nothing wrong was refused");
  }
  if (sockets_.topics().subscribers("all") != 0) faults.emplace_back("subscriptions are left");
  check_memory(faults);
  return faults;
}

}  // namespace

SeedVerdict run_mixed_seed(std::uint64_t seed, std::size_t trace_lines_max, bool always_explain) {
  MixedRun run(seed, trace_lines_max);
  SeedVerdict verdict;
  verdict.faults = run.faults();
  verdict.requests = run.world().http_counters().requests;
  verdict.turns = run.world().turns();
  if (!verdict.faults.empty() || always_explain) {
    verdict.explanation = run.world().network().explain();
  }
  return verdict;
}

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
