#include "katana/testing/test_websocket.hpp"

#include <fmt/format.h>

#include <array>
#include <deque>
#include <optional>
#include <utility>

#include "katana/base/memory/block_pool.hpp"
#include "katana/base/memory/outbox.hpp"
#include "katana/wire/ws/handshake.hpp"
#include "katana/wire/ws/machine.hpp"

namespace katana::testing {
namespace {

// It need not be random: no cache stands between this client and its server.
constexpr std::string_view key = "dGhlIHNhbXBsZSBub25jZQ==";
constexpr std::size_t message_bytes_max = 64 * 1024 * 1024;
constexpr std::size_t block_bytes = 16 * 1024;
constexpr ws::DeflateOptions deflate{.enabled = true};

ws::Limits client_limits() {
  ws::Limits limits;
  limits.message_bytes_max = message_bytes_max;
  limits.frame_bytes_max = message_bytes_max;
  limits.fragments_max = 1'000'000;
  return limits;
}

}  // namespace

struct TestWebSocket::Inner {
  Inner(PendingReply given, const TestSocketOptions& how)
      : pending(std::move(given)),
        options(how),
        memory(how.compression ? ws::DeflatePool::bytes_needed(deflate) : 0),
        blocks(block_bytes, message_bytes_max / block_bytes + 256),
        outbox(blocks),
        context(client_limits(), ws::Role::client, how.compression ? make_pool() : nullptr) {
    state().on_more = [this] { take(); };
  }
  ~Inner() {
    state().on_more = nullptr;
    outbox.clear();
    pending.reset();
  }
  ws::DeflatePool* make_pool() { return &pool.emplace(deflate, std::span<char>(memory)); }
  detail::PendingState& state() const noexcept { return *pending.state_; }

  void open() {
    pending.wait_for_head();
    if (!state().is_tunnel) {
      handshake = pending.reply();
      return;
    }
    handshake = TestReply(state().status, state().fields, {});
    const std::string* const accept = detail::find_field(state().fields, "sec-websocket-accept");
    const auto expected = ws::accept_of(key);
    const bool is_stream = state().status == 200;
    if (!is_stream && (accept == nullptr || *accept != Bytes(expected.data(), expected.size()))) {
      handshake = TestReply(fmt::format("{}: the handshake has a wrong Sec-WebSocket-Accept: '{}'",
                                        state().request, accept != nullptr ? *accept : "none"));
      return pending.reset();
    }
    const std::string* const extensions =
        detail::find_field(state().fields, "sec-websocket-extensions");
    is_compressed = extensions != nullptr && extensions->starts_with("permessage-deflate");
    machine.emplace(context, now(), is_compressed ? deflate.window_bits : 0);
    take();
  }
  // The time of this client, which has no timers: only the order of moments counts.
  Instant now() const noexcept { return Instant{}; }
  bool is_connected() const noexcept { return state().connection != nullptr && state().is_tunnel; }

  void take() {
    if (!machine) return;
    input += std::exchange(state().content, {});
    Bytes left = input;
    for (;;) {
      const ws::Step step = machine->next(left, now());
      if (step.event == ws::Event::need_bytes) {
        left.remove_prefix(step.consumed);
        break;
      }
      obey(step);
      left.remove_prefix(step.consumed);
      if (step.event == ws::Event::closed || step.event == ws::Event::refused) break;
    }
    input.erase(0, input.size() - left.size());
  }
  void obey(const ws::Step& step) {
    switch (step.event) {
      case ws::Event::data: take_piece(step); break;
      case ws::Event::packed: take_packed(step); break;
      case ws::Event::ping:
        ++pings;
        if (options.answers_pings) machine->pong(machine->payload(), outbox);
        break;
      case ws::Event::pong: ++pongs; break;
      case ws::Event::close:
        closed = TestClose{.code = static_cast<std::uint16_t>(machine->close_code()),
                           .reason = std::string(machine->payload()),
                           .problem = {}};
        machine->close(machine->close_code(), {}, now(), outbox);
        break;
      case ws::Event::refused: {
        const ws::RefusalText& text = ws::text_of(machine->refusal());
        closed = TestClose{
            .problem = fmt::format("the server broke a rule of WebSocket: {}", text.sentence)};
        machine->close(text.code, text.sentence, now(), outbox);
        break;
      }
      default: break;
    }
    flush();
  }
  void take_piece(const ws::Step& step) {
    if (step.first) message = {.content = {}, .is_text = step.text};
    message.content += machine->payload();
    if (step.last) messages.push_back(std::exchange(message, {}));
  }
  void take_packed(const ws::Step& step) {
    if (step.first) packed.clear();
    packed += machine->payload();
    if (!step.last) return;
    for (Bytes left = packed;;) {
      const ws::Step made = machine->unpack(left);
      if (made.event != ws::Event::data) return obey(made);
      take_piece(made);
      if (made.last) return;
    }
  }
  bool flush() {
    outbox.for_each_pending([&](Bytes part, const Retained*) {
      if (is_connected()) state().connection->send(state(), part, false);
    });
    outbox.clear();
    return is_connected();
  }
  // Handles the result of a command of the machine.
  bool sent(bool is_written) {
    if (!is_written) return false;
    const bool is_sent = flush();
    pending.run();
    return is_sent;
  }
  // The reason why there is nothing to receive.
  Error why_nothing(std::string_view wanted) const {
    const detail::PendingState& of = state();
    const auto error = [&](Code code, std::string_view why) {
      return Error(code, fmt::format("{}: no {}: {} (seed {})", of.request, wanted, why, of.seed));
    };
    if (!machine) {
      if (!handshake.problem().empty()) return Error(Code::unavailable, handshake.problem());
      return error(Code::unavailable, "no WebSocket was opened: " + handshake.describe());
    }
    if (closed && !closed->problem.empty()) return error(Code::unavailable, closed->problem);
    if (closed) {
      return error(Code::unavailable,
                   fmt::format("the server closed with {} '{}'", closed->code, closed->reason));
    }
    if (of.reply && !of.reply->problem().empty()) {
      return Error(Code::unavailable, of.reply->problem());
    }
    if (of.reply) {
      return error(Code::unavailable, "the server closed the connection without a close frame");
    }
    return error(Code::deadline_exceeded,
                 fmt::format("none in time; {} messages, {} pings and {} pongs came so far",
                             received, pings, pongs));
  }

  PendingReply pending;
  const TestSocketOptions options;
  std::vector<char> memory;
  std::optional<ws::DeflatePool> pool;
  BlockPool blocks;
  Outbox outbox;
  ws::Context context;
  std::optional<ws::Machine> machine;  // none: no handshake succeeded
  TestReply handshake{std::string()};
  std::string input, packed;
  TestMessage message;
  std::deque<TestMessage> messages;
  std::optional<TestClose> closed;  // by the server's close frame, or for its mistake
  std::size_t received = 0, pings = 0, pongs = 0;
  bool is_compressed = false;
  bool part_open = false;
};

TestFields TestWebSocket::handshake_fields(const TestSocketOptions& options) {
  TestFields fields = options.fields;
  const auto add = [&](const char* name, std::string_view value) {
    if (detail::find_field(fields, name) == nullptr) fields.emplace_back(name, value);
  };
  add("Connection", "Upgrade");
  add("Upgrade", "websocket");
  add("Sec-WebSocket-Version", "13");
  add("Sec-WebSocket-Key", key);
  std::string offered;
  for (const std::string& name : options.subprotocols) {
    offered += offered.empty() ? name : ", " + name;
  }
  if (!offered.empty()) add("Sec-WebSocket-Protocol", offered);
  if (options.compression) {
    add("Sec-WebSocket-Extensions",
        "permessage-deflate; server_no_context_takeover; client_no_context_takeover");
  }
  return fields;
}

TestWebSocket::TestWebSocket(PendingReply pending, const TestSocketOptions& options)
    : inner_(std::make_unique<Inner>(std::move(pending), options)) {
  inner_->open();
}
TestWebSocket::TestWebSocket(TestWebSocket&&) noexcept = default;
TestWebSocket& TestWebSocket::operator=(TestWebSocket&&) noexcept = default;
TestWebSocket::~TestWebSocket() = default;

bool TestWebSocket::is_open() const noexcept {
  return inner_->machine && inner_->machine->may_send() && inner_->is_connected();
}

const TestReply& TestWebSocket::handshake() const noexcept { return inner_->handshake; }

std::string_view TestWebSocket::subprotocol() const noexcept {
  return handshake().header("sec-websocket-protocol").value_or(std::string_view());
}

bool TestWebSocket::is_compressed() const noexcept { return inner_->is_compressed; }

bool TestWebSocket::send(std::string_view text) {
  return is_open() && inner_->sent(inner_->machine->send(ws::Opcode::text, text, inner_->outbox));
}

bool TestWebSocket::send_binary(std::string_view bytes) {
  return is_open() &&
         inner_->sent(inner_->machine->send(ws::Opcode::binary, bytes, inner_->outbox));
}

bool TestWebSocket::send_part(std::string_view text, bool last) {
  if (!is_open()) return false;
  const ws::Opcode kind = inner_->part_open ? ws::Opcode::continuation : ws::Opcode::text;
  const bool is_written = inner_->machine->send_part(kind, text, last, inner_->outbox);
  if (is_written) inner_->part_open = !last;
  return inner_->sent(is_written);
}

bool TestWebSocket::ping(std::string_view payload) {
  return is_open() && payload.size() <= ws::control_bytes_max &&
         inner_->sent(inner_->machine->ping(payload, inner_->outbox));
}

bool TestWebSocket::close(std::uint16_t code, std::string_view reason) {
  return is_open() && inner_->sent(inner_->machine->close(static_cast<ws::CloseCode>(code), reason,
                                                          inner_->now(), inner_->outbox));
}

bool TestWebSocket::send_frame(const TestFrame& frame) {
  std::array<char, ws::header_bytes_max> header;
  constexpr std::uint32_t mask = 0;  // the payload stays unchanged
  char* const end =
      ws::write_header(header.data(), static_cast<ws::Opcode>(frame.opcode), frame.last,
                       frame.compressed, frame.payload.size(), frame.masked, mask);
  return send_bytes(std::string(header.data(), end).append(frame.payload));
}

bool TestWebSocket::send_bytes(std::string_view bytes) {
  if (!inner_->is_connected()) return false;
  inner_->state().connection->send(inner_->state(), bytes, false);
  inner_->pending.run();
  return true;
}

Result<TestMessage> TestWebSocket::receive(Duration limit) {
  Inner& inner = *inner_;
  inner.pending.wait_for([&] { return !inner.machine || !inner.messages.empty() || inner.closed; },
                         limit);
  if (inner.messages.empty()) return std::unexpected(inner.why_nothing("message"));
  TestMessage oldest = std::move(inner.messages.front());
  inner.messages.pop_front();
  ++inner.received;
  return oldest;
}

std::size_t TestWebSocket::waiting() const noexcept { return inner_->messages.size(); }

Result<TestClose> TestWebSocket::wait_for_close(Duration limit) {
  Inner& inner = *inner_;
  inner.pending.wait_for([&] { return !inner.machine || inner.closed; }, limit);
  if (inner.closed) return *inner.closed;
  if (!inner.machine || !inner.state().reply) return std::unexpected(inner.why_nothing("close"));
  const std::string& problem = inner.state().reply->problem();
  return TestClose{.code = 1006, .reason = {}, .problem = problem};
}

bool TestWebSocket::wait_for_pong(Duration limit) {
  const std::size_t before = inner_->pongs;
  return inner_->pending.wait_for([&] { return inner_->pongs > before; }, limit);
}

std::size_t TestWebSocket::pings() const noexcept { return inner_->pings; }
std::size_t TestWebSocket::pongs() const noexcept { return inner_->pongs; }

void TestWebSocket::pause_reading() { inner_->pending.pause_reading(); }
void TestWebSocket::resume_reading() { inner_->pending.resume_reading(); }
void TestWebSocket::reset() { inner_->pending.reset(); }
void TestWebSocket::half_close() { inner_->pending.half_close(); }

std::string TestWebSocket::describe() const {
  if (is_open()) {
    return fmt::format("{}: open, {} messages waiting", inner_->state().request, waiting());
  }
  return std::string(inner_->why_nothing("open connection").message());
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
