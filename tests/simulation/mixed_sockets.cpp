#include "tests/simulation/mixed_sockets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "katana/net/reactor/reactor.hpp"

namespace katana::simulation {
namespace {

constexpr const char* topic = "all";
constexpr Bytes bye = "bye";

// Echoes messages. Now and then it waits a while before it takes the next message, as a handler
// does that asks another service.
class EchoHandler final : public WebSocketHandler, private net::TimerEntry {
 public:
  EchoHandler(SocketNote& note, Topics& topics)
      : net::TimerEntry(
            [](net::TimerEntry& entry) noexcept { static_cast<EchoHandler&>(entry).go_on(); }),
        note_(note),
        topics_(topics) {}

  void on_open(WebSocket& socket) override {
    expect(++note_.opened == 1, "opened twice");
    socket_ = &socket;
    topics_.subscribe(socket, topic);
  }
  void on_message(WebSocket& socket, Bytes payload, MessageKind) override {
    expect(note_.opened == 1 && note_.closed == 0, "a message outside of open and close");
    if (payload == bye) return socket.close(CloseCode::normal, "as you wish");
    if (payload.starts_with('/')) {
      (void)topics_.publish(topic, payload, MessageKind::text);
      return;
    }
    expect(payload.starts_with(std::to_string(note_.received) + ":"), "a message out of order");
    ++note_.received;
    if (!unsent_.empty() || socket.send_text(payload) == SendOutcome::full) {
      unsent_.emplace_back(payload);
      socket.pause();
    } else if (note_.received % 16 == 5) {
      socket.pause();
      socket.reactor().timers().arm(*this, socket.reactor().now() + milliseconds(7));
    }
  }
  void on_writable(WebSocket& socket) override {
    while (!unsent_.empty() && socket.send_text(unsent_.front()) == SendOutcome::sent) {
      unsent_.pop_front();
    }
    if (unsent_.empty() && !armed()) socket.resume();
  }
  void on_close(WebSocket&, CloseCode, Bytes) override {
    expect(++note_.closed == 1, "closed twice");
    socket_ = nullptr;
  }

 private:
  void go_on() noexcept {
    if (socket_ != nullptr && unsent_.empty()) socket_->resume();
  }
  void expect(bool holds, const char* fault) {
    if (!holds && note_.fault.empty()) note_.fault = fault;
  }

  SocketNote& note_;
  Topics& topics_;
  WebSocket* socket_ = nullptr;
  std::deque<std::string> unsent_;
};

}  // namespace

void MixedSockets::add_routes(Router& router) {
  router.websocket("/socket/{client}", [this](const RequestView& request) {
    const std::string number(request.parameters()[0].value);
    return std::make_unique<EchoHandler>(notes_[std::stoul(number)], topics_);
  });
}

SocketScript::SocketScript(const SocketPlan& plan, std::uint64_t seed,
                           std::function<void(Bytes)> send_bytes)
    : plan_(plan), random_(seed) {
  talk_.send_bytes = std::move(send_bytes);
  talk_.on_message = [this](const std::string& text) { on_message(text); };
}

void SocketScript::begin() { pump(); }

// The text is a function of its number, so that an echo can be judged without keeping it.
std::string SocketScript::text_of(std::uint64_t number) const {
  Random random(number * 1'000 + plan_.client);
  std::string text = fmt::format("{}:", number);
  const std::size_t size = random.below(plan_.bytes_max + 1);
  text.append(size, static_cast<char>('a' + number % 26));
  return text;
}

void SocketScript::send(const std::string& text) {
  if (!plan_.fragments || text.size() < 4) return talk_.send(text);
  const std::size_t cut = random_.between(1, text.size() - 1);
  talk_.send(Bytes(text).substr(0, cut), ws::Opcode::text, false);
  if (random_.chance(256)) talk_.send("between", ws::Opcode::ping);
  talk_.send(Bytes(text).substr(cut), ws::Opcode::continuation, true);
}

void SocketScript::pump() {
  while (sent_ < plan_.messages && sent_ - echoed_ < plan_.depth && talk_.closed() == 0) {
    if (random_.chance(plan_.publishes)) send(fmt::format("/{}/{}", plan_.client, sent_));
    send(text_of(sent_++));
  }
  if (echoed_ < plan_.messages || talk_.close_sent()) return;
  if (plan_.server_closes) {
    talk_.send(bye);
  } else {
    talk_.close(1000);
  }
}

void SocketScript::on_message(const std::string& text) {
  if (text.starts_with('/')) return on_published(text);
  if (fault_.empty() && (echoed_ >= sent_ || text != text_of(echoed_))) {
    fault_ = fmt::format("echo {} of {} is {}", echoed_, sent_, text.substr(0, 40));
  }
  ++echoed_;
  pump();
}

void SocketScript::on_published(const std::string& text) {
  const std::size_t slash = text.rfind('/');
  const std::string publisher = text.substr(0, slash);
  const std::uint64_t number = std::stoull(text.substr(slash + 1)) + 1;
  std::uint64_t& last = heard_[publisher];
  if (number <= last && fault_.empty()) fault_ = "published twice, or out of order: " + text;
  last = std::max(last, number);
}

}  // namespace katana::simulation

// SPDX-License-Identifier: Apache-2.0
