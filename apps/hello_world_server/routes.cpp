#include "hello_world_server/routes.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "katana/http.hpp"

namespace hello {
namespace {

using namespace katana;

Reply plaintext() { return Reply::text("Hello, World!"); }

struct Greeting {
  std::string message;
};
KATANA_DESCRIBE(Greeting, message)

// Serialised for each request, as a service would do it.
Json<Greeting> json() { return {.value = {.message = "Hello, World!"}}; }

Reply greet(Path<std::string> name) { return Reply::text(format_text("Hello, {}!", *name)); }

// `n` bytes in bounded memory: made as the client takes them.
Reply bytes(Path<std::uint64_t> n) {
  constexpr std::uint64_t bytes_max = std::uint64_t{1} << 40;
  if (*n > bytes_max) return problem(400, "At most 1099511627776 bytes can be asked for.");
  return Reply::stream("application/octet-stream", static_cast<std::int64_t>(*n),
                       [left = *n](ContentSink& sink) mutable {
                         static constexpr auto piece = [] {
                           std::array<char, 16 * 1024> text{};
                           text.fill('k');
                           return text;
                         }();
                         while (left > 0) {
                           const auto count = std::min<std::uint64_t>(left, piece.size());
                           if (!sink.write({piece.data(), count})) return false;
                           left -= count;
                         }
                         return true;
                       });
}

// The first bytes are held back. If the request body turns out to be malformed early, the client
// gets a proper refusal instead of a reply that breaks off.
Task<void> echo(Request request, ContentReader content, ReplyWriter reply) {
  constexpr std::size_t held_bytes = 64 * 1024;
  const auto type = request.field("content-type");
  Reply head(200, "application/octet-stream", Text());
  if (type) head.set_content_type(*type);
  Text piece = co_await content.read_at_least(held_bytes);
  if (content.ended()) {
    reply.begin(head, static_cast<std::int64_t>(piece.size()));
    co_await reply.write(piece.bytes());
    co_return;
  }
  const auto length = content.length();
  reply.begin(head, length ? static_cast<std::int64_t>(*length) : http::unknown_length);
  while (!piece.empty()) {
    co_await reply.write(piece.bytes());
    piece = co_await content.read();
  }
}

// Sends every message back. One that finds the queue full waits, and the client with it.
class SocketEcho final : public WebSocketHandler {
 public:
  void on_message(WebSocket& socket, Bytes payload, MessageKind kind) override {
    if (socket.send(payload, kind) != SendOutcome::full) return;
    waiting_ = Text(payload);
    kind_ = kind;
    socket.pause();
  }
  void on_writable(WebSocket& socket) override {
    if (socket.send(waiting_.bytes(), kind_) == SendOutcome::full) return;
    waiting_ = Text();
    socket.resume();
  }

 private:
  Text waiting_;
  MessageKind kind_ = MessageKind::text;
};

}  // namespace

Result<Service> make_service(const std::function<void(Group&)>& add) {
  Router router;
  router.get("/", plaintext)
      .get("/plaintext", plaintext)
      .get("/json", json)
      .get("/hello/{name}", greet)
      .get("/bytes/{n}", bytes)
      .any("/echo", echo)
      .websocket("/ws", [](const RequestView&) { return std::make_unique<SocketEcho>(); });
  add(router);
  return std::move(router).build();
}

}  // namespace hello

// SPDX-License-Identifier: Apache-2.0
