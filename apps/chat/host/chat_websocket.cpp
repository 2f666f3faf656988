#include "apps/chat/host/chat_websocket.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "apps/chat/chat_client.hpp"
#include "apps/chat/host/chat_page.hpp"

namespace katana::chat {
namespace {

// A talk whose lines are messages.
class WebSocketChatClient final : private chat::ChatClient {
 public:
  WebSocketChatClient(chat::ChatProtocol& protocol, WebSocket& socket)
      : ChatClient(protocol, socket.outbox(), protocol.hub().directory().admit(),
                   socket.reactor().now()),
        socket_(socket) {
    begin(socket.reactor().draining());
    arm();
  }
  ~WebSocketChatClient() { cease(); }

  void hear(Bytes lines) {
    lines_.append(lines);
    if (!lines.ends_with('\n')) lines_.push_back('\n');
    go_on();
  }
  void on_writable() {
    if (!refill()) socket_.want_writable();
  }
  void on_peer_end() {
    if (!std::exchange(ended_, true)) leave();
  }
  using ChatClient::drain;

 private:
  struct Alarm : net::TimerEntry {
    explicit Alarm(WebSocketChatClient& owner) noexcept
        : TimerEntry(
              [](net::TimerEntry& entry) noexcept { static_cast<Alarm&>(entry).voice.on_alarm(); }),
          voice(owner) {}
    WebSocketChatClient& voice;
  };

  // ---- Member ----
  void on_output() noexcept override {}  // sending on a WebSocket sends it at once
  void on_backlog() noexcept override { socket_.want_writable(); }
  void on_may_publish() noexcept override {
    relay_waits_ = false;
    restart_deadline();
  }
  void on_turn() noexcept override { go_on(); }
  bool put(Bytes lines, Batch& batch) noexcept override {
    return socket_.send_shared(lines, batch, MessageKind::text) == SendOutcome::sent;
  }
  bool put(Bytes lines) noexcept override { return socket_.send_text(lines) == SendOutcome::sent; }
  // ---- ChatClient ----
  Instant now() const noexcept override { return socket_.reactor().now(); }
  bool paused() const noexcept override { return relay_waits_ || rate_waits_; }
  bool ending() const noexcept override { return ended_; }
  void wait_for_relay() noexcept override { relay_waits_ = true; }
  void wait_for_rate() noexcept override { rate_waits_ = true; }
  void finish(bool) noexcept override {
    ended_ = true;
    const bool draining = socket_.reactor().draining();
    socket_.close(draining ? CloseCode::going_away : CloseCode::normal, {});
  }
  void give_up() noexcept override { finish(false); }
  void note_reply() noexcept override {}  // the session does not read on while its outbox is full

  // Lines of a message that waited go first; until they are read no more messages are.
  void go_on() noexcept {
    const std::size_t done = read(lines_.bytes());
    if (ended_) return;
    if (done == lines_.size()) {
      lines_ = Text();
    } else {
      lines_ = Text(lines_.bytes().substr(done));
    }
    if (paused()) {
      socket_.pause();
    } else {
      socket_.resume();
    }
    arm();
  }
  void arm() noexcept {
    const Instant at = deadline();
    if (at == never || ended_) {
      alarm_.cancel();
    } else if (!alarm_.armed() || at < alarm_.expiry()) {
      socket_.reactor().timers().arm(alarm_, at);
    }
  }
  void on_alarm() noexcept {
    if (ended_) return;
    const bool goes_on = end_throttle();
    if (goes_on) rate_waits_ = false;
    meet_deadline();
    if (ended_) return;
    if (goes_on) go_on();
    arm();
  }

  WebSocket& socket_;
  Text lines_;
  Alarm alarm_{*this};
  bool relay_waits_ = false;
  bool rate_waits_ = false;
  bool ended_ = false;
};

class ChatHandler final : public WebSocketHandler {
 public:
  explicit ChatHandler(chat::ChatProtocol& protocol) noexcept : protocol_(protocol) {}

  void on_open(WebSocket& socket) override { voice_.emplace(protocol_, socket); }
  void on_message(WebSocket& socket, Bytes payload, MessageKind kind) override {
    if (kind == MessageKind::binary) {
      socket.close(CloseCode::unsupported_data, "Lines are text.");
      return;
    }
    voice_->hear(payload);
  }
  void on_writable(WebSocket&) override { voice_->on_writable(); }
  void on_drain(WebSocket&) override { voice_->drain(); }
  void on_close(WebSocket&, CloseCode, Bytes) override { voice_->on_peer_end(); }

 private:
  chat::ChatProtocol& protocol_;
  std::optional<WebSocketChatClient> voice_;
};

// The page is this server's, and so is all that it may load or talk to.
Reply page() {
  return Reply::html(chat_page)
      .with("Content-Security-Policy",
            "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
            "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
      .with("X-Content-Type-Options", "nosniff")
      .with("Cache-Control", "no-cache");
}

}  // namespace

void mount_chat(Group& routes, std::function<chat::ChatProtocol&()> here) {
  routes.get("/", page);
  routes.websocket("/chat", [here = std::move(here)](const RequestView&) {
    return std::make_unique<ChatHandler>(here());
  });
}

session::WebSocketOptions chat_websocket_options(const chat::ChatOptions& chat) noexcept {
  session::WebSocketOptions options;
  options.limits.message_bytes_max = 2 * chat.limits.line_bytes_max;
  options.limits.frame_bytes_max = options.limits.message_bytes_max;
  // The hub keeps the outbox within its window, and the backlog within its queue.
  options.queue_bytes_max = 2 * chat.hub.queue_bytes_max;
  return options;
}

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
