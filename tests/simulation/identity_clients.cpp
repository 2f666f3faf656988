#include "tests/simulation/identity_clients.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "tests/simulation/http2_client.hpp"
#include "tests/simulation/requests.hpp"
#include "tests/simulation/scripted_client.hpp"
#include "tests/simulation/websocket_talk.hpp"

namespace katana::simulation {
namespace {

constexpr std::size_t messages_of_a_socket = 3;
constexpr Duration window_pause = milliseconds(5);
// A network that loses bytes does not keep a run going for ever.
constexpr int rounds_max = 10'000;

// Does a reply belong to this request?
struct Expectation {
  const Identity& identity;
  bool named;

  std::string wrong(unsigned status, const std::string& content, const std::string& head) const {
    const bool fails = identity.route == "/throw";
    const bool to_head = identity.method == "HEAD";
    if (status != (fails ? 500u : 200u)) return fmt::format("status {}", status);
    if (!fails && content != (to_head ? "" : identity.reply())) {
      return fmt::format("content '{}' of {} octets", content.substr(0, 40), content.size());
    }
    if (to_head && !content.empty()) return "content to HEAD";
    if (named && head.find(identity.text) == std::string::npos) return "fields: " + head;
    if (identity.route == "/guarded" && head.find("fter: " + identity.text) == std::string::npos) {
      return "no X-After of its own: " + head;
    }
    return "";
  }
};

bool has_content(const Identity& identity) { return identity.method == "POST"; }

// Sends messages of its identity, and expects them back.
class IdentityTalk {
 public:
  IdentityTalk(std::string id, std::function<void(Bytes)> send_bytes,
               const IdentityClient::Fault& fault)
      : id_(std::move(id)), fault_(fault) {
    talk_.send_bytes = std::move(send_bytes);
    talk_.on_message = [this](const std::string& text) {
      if (text != message(echoed_)) fault_(fmt::format("socket {} got '{}'", id_, text));
      if (++echoed_ < messages_of_a_socket) return talk_.send(message(echoed_));
      talk_.close(1000);
    };
  }
  void begin() { talk_.send(message(0)); }
  void feed(Bytes bytes) { talk_.feed(bytes); }
  void check(bool complete) {
    if (!talk_.error().empty()) fault_(fmt::format("socket {}: {}", id_, talk_.error()));
    if (complete && echoed_ != messages_of_a_socket) {
      fault_(fmt::format("socket {}: {} echoes", id_, echoed_));
    }
  }

 private:
  std::string message(std::size_t number) const { return fmt::format("{} {}", id_, number); }
  const std::string id_;
  const IdentityClient::Fault& fault_;
  WebSocketTalk talk_;
  std::size_t echoed_ = 0;
};

std::string id_in(const std::string& target) { return target.substr(target.size() - 16); }

class Http1IdentityClient final : public IdentityClient {
 public:
  Http1IdentityClient(World& world, IdentityClientPlan plan, Fault fault)
      : plan_(std::move(plan)),
        fault_(std::move(fault)),
        port_(world.port(Site::trial)),
        peer_(world.network()) {
    peer_.on_received = [this] { take(peer_.take_received()); };
    peer_.on_over = [this] {
      if (peer_.saw_end()) peer_.close();
    };
  }

  void begin() override {
    peer_.connect(port_);
    pump();
  }
  void reset() override {
    peer_.reset();
    left_ = true;
  }

  std::size_t check(bool complete) override {
    const auto& replies = reader_.replies();
    if (!reader_.error().empty()) fault_(reader_.error());
    const std::size_t count = std::min(replies.size(), plan_.requests.size());
    for (std::size_t number = 0; number < count; ++number) {
      const ReceivedReply& reply = replies[number];
      const Expectation expected{plan_.requests[number], plan_.named};
      const std::string wrong = expected.wrong(reply.status, reply.content, reply.head);
      if (!wrong.empty()) fault_(describe(plan_.requests[number]) + wrong);
    }
    if (complete && replies.size() != plan_.requests.size()) {
      fault_(fmt::format("{} replies to {} requests of HTTP/1.1", replies.size(),
                         plan_.requests.size()));
    }
    if (talk_ != nullptr) talk_->check(complete);
    return count;
  }

 private:
  static std::string describe(const Identity& of) {
    return fmt::format("{} {}: ", of.method, of.target());
  }
  std::string head(const std::string& method, const std::string& target,
                   const Identity& identity) const {
    std::string fields;
    for (const auto& [name, value] : identity.fields()) fields += name + ": " + value + "\r\n";
    if (has_content(identity)) fields += fmt::format("Content-Length: {}\r\n", plan_.content_bytes);
    return head_of(method, target, fields);
  }
  void pump() {
    if (left_) return;
    while (next_ < plan_.requests.size() && next_ - reader_.replies().size() < plan_.depth) {
      const Identity& each = plan_.requests[next_++];
      reader_.expect(each.method == "HEAD");
      const std::string content = has_content(each) ? each.content(plan_.content_bytes) : "";
      peer_.send(head(each.method, each.target(), each) + content);
    }
    if (reader_.replies().size() < plan_.requests.size() || std::exchange(asked_, true)) return;
    if (plan_.socket_path.empty()) return peer_.close();
    Identity identity{id_in(plan_.socket_path), "GET", "/socket", 0, 1};
    std::string bytes = head("GET", plan_.socket_path, identity);
    bytes.insert(bytes.size() - 2,
                 "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                 "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n");
    talk_ = std::make_unique<IdentityTalk>(
        identity.text, [this](Bytes out) { peer_.send(out); }, fault_);
    peer_.send(bytes);
  }
  void take(const std::string& bytes) {
    if (talk_ == nullptr) {
      reader_.feed(bytes);
      return pump();
    }
    if (upgraded_) return talk_->feed(bytes);
    answer_ += bytes;
    const std::size_t end = answer_.find("\r\n\r\n");
    if (end == std::string::npos) return;
    if (!answer_.starts_with("HTTP/1.1 101 ")) return fault_("no upgrade: " + answer_);
    upgraded_ = true;
    talk_->begin();
    talk_->feed(Bytes(answer_).substr(end + 4));
  }

  const IdentityClientPlan plan_;
  const Fault fault_;
  const std::uint16_t port_;
  SimPeer peer_;
  ReplyReader reader_;
  std::unique_ptr<IdentityTalk> talk_;
  std::string answer_;
  std::size_t next_ = 0;
  bool asked_ = false;  // for what comes behind the requests
  bool upgraded_ = false;
  bool left_ = false;
};

class Http2IdentityClient final : public IdentityClient {
 public:
  Http2IdentityClient(World& world, IdentityClientPlan plan, Fault fault)
      : world_(world), plan_(std::move(plan)), fault_(std::move(fault)) {}

  void begin() override {
    Http2ClientOptions options;
    options.stream_window = plan_.window;
    options.connection_window = 1'000'000;
    options.opens_windows = false;
    client_ = std::make_unique<Http2Client>(world_, options);
    client_->on_head = [this](std::uint32_t id) {
      if (id == socket_id_ && client_->reply(id).status == "200") talk_->begin();
    };
    client_->on_content = [this](std::uint32_t id, Bytes bytes) {
      if (id == socket_id_) talk_->feed(bytes);
    };
    client_->on_end = [this](std::uint32_t) {
      if (++ended_ < ids_.size() + (socket_id_ != 0 ? 1 : 0)) return;
      world_.network().after({}, [this] { client_->channel().close(); });
    };
    for (const Identity& each : plan_.requests) {
      const std::string content = has_content(each) ? each.content(plan_.content_bytes) : "";
      ids_.push_back(client_->ask(each.method, each.target(), content, each.fields()));
    }
    if (!plan_.socket_path.empty()) {
      const Identity identity{id_in(plan_.socket_path), "GET", "/socket", 0, 1};
      talk_ = std::make_unique<IdentityTalk>(
          identity.text, [this](Bytes bytes) { client_->send_data(socket_id_, bytes); }, fault_);
      socket_id_ = client_->connect(plan_.socket_path, identity.fields());
    }
    open_later();
  }
  void reset() override {
    if (client_ != nullptr) client_->peer().reset();
    left_ = true;
  }

  std::size_t check(bool complete) override {
    std::size_t checked = 0;
    for (std::size_t number = 0; number < ids_.size(); ++number) {
      const Identity& identity = plan_.requests[number];
      const Http2Reply& reply = client_->reply(ids_[number]);
      if (!reply.ended) {
        if (complete) {
          fault_(fmt::format("no reply of HTTP/2 to {}: {} octets, GOAWAY {}, reset {}",
                             identity.target(), reply.content.size(), client_->goaway(),
                             reply.reset));
        }
        continue;
      }
      ++checked;
      std::string head;
      for (const auto& [name, value] : reply.fields) head += name + ": " + value + "\n";
      const Expectation expected{identity, plan_.named};
      const auto status = static_cast<unsigned>(std::stoul(reply.status));
      const std::string wrong = expected.wrong(status, reply.content, head);
      if (!wrong.empty())
        fault_(fmt::format("h2 {} {}: {}", identity.method, identity.target(), wrong));
    }
    if (talk_ != nullptr) talk_->check(complete);
    return checked;
  }

 private:
  // Windows open late, by the bytes that they took: replies then wait for them.
  void open_later() {
    world_.network().after(pause_, [this] {
      const bool over = ended_ >= ids_.size() + (socket_id_ != 0 ? 1 : 0);
      if (left_ || over || client_->peer().over() || ++rounds_ > rounds_max) return;
      pause_ = std::min(Duration{pause_.ns * 2}, seconds(1));
      for (const std::uint32_t id : ids_) open(id);
      if (socket_id_ != 0) open(socket_id_);
      open_later();
    });
  }
  void open(std::uint32_t id) {
    const Http2Reply& reply = client_->reply(id);
    const std::size_t taken = reply.content.size();
    if (taken == opened_[id] || client_->is_over(id)) return;
    client_->open_window_of(id, static_cast<std::uint32_t>(taken - opened_[id]));
    opened_[id] = taken;
    pause_ = window_pause;
  }

  World& world_;
  const IdentityClientPlan plan_;
  const Fault fault_;
  std::unique_ptr<Http2Client> client_;
  std::unique_ptr<IdentityTalk> talk_;
  std::vector<std::uint32_t> ids_;
  std::uint32_t socket_id_ = 0;
  std::map<std::uint32_t, std::size_t> opened_;  // bytes by which each stream opened
  std::size_t ended_ = 0;
  Duration pause_ = window_pause;
  int rounds_ = 0;
  bool left_ = false;
};

}  // namespace

std::unique_ptr<IdentityClient> http1_identity_client(World& world, IdentityClientPlan plan,
                                                      IdentityClient::Fault fault) {
  return std::make_unique<Http1IdentityClient>(world, std::move(plan), std::move(fault));
}

std::unique_ptr<IdentityClient> http2_identity_client(World& world, IdentityClientPlan plan,
                                                      IdentityClient::Fault fault) {
  return std::make_unique<Http2IdentityClient>(world, std::move(plan), std::move(fault));
}

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
