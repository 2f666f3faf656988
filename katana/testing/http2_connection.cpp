// One connection of a test's client by HTTP/2. It carries as many requests as the server takes at
// once; further ones wait.
#include <fmt/format.h>

#include <array>
#include <list>
#include <utility>

#include "katana/base/memory/block_pool.hpp"
#include "katana/base/memory/outbox.hpp"
#include "katana/base/system/check.hpp"
#include "katana/net/engine/sim/sim_peer.hpp"
#include "katana/testing/client_exchange.hpp"
#include "katana/wire/http2/client_machine.hpp"

namespace katana::testing::detail {
namespace {

using http2::ClientEvent;
using http2::ClientStreamState;
using http2::Lost;

constexpr std::size_t block_bytes = 16 * 1024;
constexpr std::size_t blocks_max = 4096;

http2::Limits client_limits() {
  http2::Limits limits;
  // A stream whose reading is paused must not hold up others.
  limits.connection_window_bytes = 64 * 1024 * 1024;
  limits.head_bytes_max = 48 * 1024;
  limits.block_bytes_max = 64 * 1024;
  return limits;
}

std::string_view why_lost(Lost lost) {
  switch (lost) {
    case Lost::reset: return "the server reset the stream";
    case Lost::refused: return "the server refused the stream";
    case Lost::unprocessed: return "the server goes away and did not process the request";
    case Lost::malformed: return "the reply is malformed";
    case Lost::too_large: return "the head of the reply is too large for the client";
    default: return "the stream is over";
  }
}

TestReply::Fields fields_of_head(const http::Head& head) {
  TestReply::Fields fields;
  for (std::size_t index = 0; index < head.field_count(); ++index) {
    fields.emplace_back(head.name(index), head.value(index));
  }
  return fields;
}

bool is_left_out(std::string_view name) {
  return is_same_name(name, "host") || is_same_name(name, "content-length") ||
         is_same_name(name, "transfer-encoding") || is_same_name(name, "connection") ||
         is_same_name(name, "upgrade") || is_same_name(name, "sec-websocket-key");
}

// Writes a literal that is in no table, without indexing (RFC 7541 §6.2.2).
void put_literal(std::string& to, Bytes name, Bytes value) {
  std::array<char, 16> number;
  to.push_back('\0');
  for (const Bytes text : {name, value}) {
    char* const end = http2::put_integer(number.data(), 0, 7, text.size());
    to.append(number.data(), end).append(text);
  }
}

// The head of a request, or the reason why it cannot be sent.
struct HeadBlock {
  std::string bytes;
  std::string problem;
};

HeadBlock block_of(const ClientRequest& request, bool upgrades) {
  HeadBlock block;
  std::string lines;
  for (const auto& [name, value] : request.fields) {
    if (!http::valid_field(name, value)) {
      block.problem = fmt::format(
          "field '{}' cannot be sent over HTTP/2: a name is a token, a "
          "value has no control character; use TestProtocol::http1",
          name);
      return block;
    }
    if (!is_left_out(name)) lines += fmt::format("{}: {}\r\n", name, value);
  }
  const std::string* const host = find_field(request.fields, "host");
  std::string_view authority = "test.example";
  if (host != nullptr) authority = *host;
  if (upgrades) {  // extended CONNECT (RFC 8441 §4)
    put_literal(block.bytes, ":method", "CONNECT");
    put_literal(block.bytes, ":protocol", "websocket");
    put_literal(block.bytes, ":scheme", "http");
    put_literal(block.bytes, ":path", request.target);
    put_literal(block.bytes, ":authority", authority);
    const std::size_t at = block.bytes.size();
    block.bytes.resize(at + http2::lines_bytes_max(lines));
    char* const end = http2::put_lines(block.bytes.data() + at, lines);
    block.bytes.resize(static_cast<std::size_t>(end - block.bytes.data()));
    return block;
  }
  http2::RequestHead head{.method = request.method,
                          .scheme = "http",
                          .authority = authority,
                          .target = request.target,
                          .fields = lines};
  if (request.has_content && !request.in_pieces) {
    head.content_length = static_cast<std::int64_t>(request.content.size());
  }
  if (!http2::is_sendable(head)) {
    block.problem = "the request cannot be sent over HTTP/2; use TestProtocol::http1";
    return block;
  }
  block.bytes.resize(http2::request_bytes_max(head));
  char* const end = http2::put_request(block.bytes.data(), head);
  block.bytes.resize(static_cast<std::size_t>(end - block.bytes.data()));
  return block;
}

struct Stream : http2::ClientStream {
  std::shared_ptr<ClientExchange> exchange;
  std::string block;   // until it has begun
  std::string unsent;  // content
  bool has_more = false;
  bool is_read = true;
  std::size_t unconsumed = 0;
};

class Http2Connection final : public ClientConnection {
 public:
  Http2Connection(engine::SimNetwork& network, const ClientOptions& options)
      : network_(network),
        options_(options),
        peer_(network),
        blocks_(block_bytes, blocks_max),
        outbox_(blocks_),
        context_(client_limits()),
        machine_(context_, network.now()) {
    peer_.on_received = [this] { take(); };
    peer_.on_over = [this] { end(); };
    peer_.connect(options.from, options.to, options.port);
    KATANA_CHECK(machine_.start(outbox_));
    flush();
  }
  ~Http2Connection() override {
    give_up("the client left");
    outbox_.clear();
  }

  bool is_over() const override { return streams_.empty() && !may_begin(); }
  bool may_begin() const override { return !ended_ && !peer_.over() && machine_.is_usable(); }

  void begin(std::shared_ptr<ClientExchange> exchange, const ClientRequest& request) override {
    HeadBlock block = block_of(request, exchange->upgrades);
    if (!block.problem.empty()) {
      exchange->reply = failed(*exchange, block.problem, network_.seed());
      return;
    }
    exchange->connection = this;
    Stream& stream = streams_.emplace_back();
    stream.exchange = std::move(exchange);
    stream.block = std::move(block.bytes);
    stream.unsent = request.content;
    stream.has_more = request.in_pieces || stream.exchange->upgrades;
    pump();
  }
  void send(ClientExchange& exchange, Bytes bytes, bool last) override {
    Stream& stream = *find(exchange);
    stream.unsent += bytes;
    if (last) stream.has_more = false;
    pump();
  }
  void reset(ClientExchange& exchange, std::string_view why) override {
    const auto found = find(exchange);
    if (found->state != ClientStreamState::idle) {
      machine_.reset(*found, http2::ErrorCode::cancel, outbox_);
    }
    machine_.consume(nullptr, std::exchange(found->unconsumed, 0), outbox_);
    fail(*found, why);
    streams_.erase(found);
    flush();
  }
  void half_close() override {
    ended_ = true;
    sends_ = false;
    peer_.finish();
  }
  void set_reading(ClientExchange& exchange, bool reads) override {
    Stream& stream = *find(exchange);
    stream.is_read = reads;
    if (!reads || stream.unconsumed == 0) return;
    machine_.consume(&stream, std::exchange(stream.unconsumed, 0), outbox_);
    flush();
  }
  void give_up(std::string_view why) override {
    for (; !streams_.empty(); streams_.pop_front()) {
      Stream& stream = streams_.front();
      let_go(stream);
      fail(stream, why);
    }
    peer_.reset();
    ended_ = true;
    sends_ = false;
  }

 private:
  std::list<Stream>::iterator find(const ClientExchange& exchange) {
    auto found = streams_.begin();
    while (found->exchange.get() != &exchange) ++found;
    return found;
  }
  void let_go(Stream& stream) {
    const bool is_held =
        stream.state != ClientStreamState::idle && stream.state != ClientStreamState::closed;
    if (is_held) machine_.reset(stream, http2::ErrorCode::cancel, outbox_);
    machine_.consume(nullptr, std::exchange(stream.unconsumed, 0), outbox_);
  }
  void flush() {
    if (sends_) outbox_.for_each_pending([&](Bytes part, const Retained*) { peer_.send(part); });
    outbox_.clear();
  }
  // Begins waiting requests, and sends as much as the windows allow.
  void pump() {
    if (!machine_.is_usable()) give_up_waiting();
    for (Stream& stream : streams_) {
      if (stream.state == ClientStreamState::idle && machine_.can_begin()) begin(stream);
      if (stream.state == ClientStreamState::open) write(stream);
      flush();
    }
  }
  // Called when no request can be begun any more.
  void give_up_waiting() {
    streams_.remove_if([&](Stream& stream) {
      if (stream.state != ClientStreamState::idle) return false;
      fail(stream, "the server goes away and takes no new request");
      return true;
    });
  }
  void begin(Stream& stream) {
    const bool last = stream.unsent.empty() && !stream.has_more;
    KATANA_CHECK(machine_.begin_block(stream, stream.block, stream.exchange->to_head, last,
                                      outbox_) == http2::Begun::yes);
    stream.block.clear();
  }
  void write(Stream& stream) {
    const bool last = !stream.has_more;
    Bytes left = stream.unsent;
    while (stream.state == ClientStreamState::open && (last || !left.empty())) {
      const std::size_t before = left.size();
      if (!machine_.write_content(stream, left, false, last, block_bytes, outbox_)) break;
      flush();
      if (left.size() == before && before != 0) break;  // the window is closed
    }
    stream.unsent.erase(0, stream.unsent.size() - left.size());
  }

  void take() {
    input_ += peer_.take_received();
    Bytes left = input_;
    for (;;) {
      const http2::ClientStep step = machine_.next(left, network_.now(), outbox_);
      if (step.event == ClientEvent::closed) {
        close();
        break;
      }
      if (step.event == ClientEvent::need_bytes && step.consumed == 0) break;
      on_step(step);
      left.remove_prefix(step.consumed);
    }
    input_.erase(0, input_.size() - left.size());
    if (std::exchange(is_reset_due_, false)) {
      give_up(fmt::format("the client reset the connection after {} bytes",
                          options_.reset_after_bytes));
    }
    pump();
    flush();
  }
  void on_step(const http2::ClientStep& step) {
    if (step.stream == nullptr) return;
    Stream& stream = static_cast<Stream&>(*step.stream);
    // The hook may destroy the exchange's owner; this keeps the exchange.
    const std::shared_ptr<ClientExchange> exchange = stream.exchange;
    exchange->received += step.event == ClientEvent::over ? 0 : step.consumed;
    switch (step.event) {
      case ClientEvent::interim:
        exchange->interims.emplace_back(context_.reader.status(),
                                        fields_of_head(context_.reader.fields()), std::string());
        return;
      case ClientEvent::head:
        exchange->status = context_.reader.status();
        exchange->fields = fields_of_head(context_.reader.fields());
        exchange->is_tunnel = exchange->upgrades && exchange->status == 200;
        break;
      case ClientEvent::content: take_content(stream, step.last); break;
      case ClientEvent::trailers:
        exchange->trailers = fields_of_head(context_.reader.fields());
        break;
      case ClientEvent::over:
        finish(stream, fmt::format("{} ({})", why_lost(step.lost), http2::name_of(step.code)));
        return;
      default: return;
    }
    const bool is_too_large = exchange->content.size() > options_.content_bytes_max;
    if (is_too_large) {
      finish(stream, fmt::format("the content exceeds {} bytes; raise content_bytes_max",
                                 options_.content_bytes_max));
    } else if (step.last) {
      finish(stream, {});
    } else if (exchange->is_tunnel && exchange->on_more) {
      exchange->on_more();
    }
    if (options_.reset_after_bytes != 0 && exchange->received >= options_.reset_after_bytes) {
      is_reset_due_ = true;
    }
  }
  void take_content(Stream& stream, bool last) {
    const Bytes piece = machine_.content();
    stream.exchange->content += piece;
    if (stream.is_read) {
      machine_.consume(last ? nullptr : &stream, piece.size(), outbox_);
    } else {
      stream.unconsumed += piece.size();
    }
  }
  // `why` is empty: the reply is complete.
  void finish(Stream& stream, std::string_view why) {
    let_go(stream);
    if (why.empty()) {
      stream.exchange->reply = completed(*stream.exchange);
      stream.exchange->connection = nullptr;
    } else {
      fail(stream, why);
    }
    streams_.remove_if([&](const Stream& each) { return &each == &stream; });
  }
  void fail(Stream& stream, std::string_view why) {
    stream.exchange->reply = failed(*stream.exchange, why, network_.seed());
    stream.exchange->connection = nullptr;
  }
  void close() {
    const http2::FailureText& text = http2::text_of(machine_.failure());
    give_up(text.detail.empty()
                ? fmt::format("the server closed the connection (HTTP/2: {})", text.name)
                : fmt::format("the HTTP/2 connection failed: {}", text.detail));
  }
  void end() {
    if (peer_.refused()) return give_up("the server refused the connection");
    give_up(peer_.saw_reset() ? "the server reset the connection"
                              : "the server closed the connection");
  }

  engine::SimNetwork& network_;
  const ClientOptions options_;
  engine::SimPeer peer_;
  BlockPool blocks_;
  Outbox outbox_;
  http2::ClientContext context_;
  http2::ClientMachine machine_;
  std::list<Stream> streams_;
  std::string input_;
  bool ended_ = false;  // no request can be begun any more
  bool sends_ = true;
  bool is_reset_due_ = false;
};

}  // namespace

std::unique_ptr<ClientConnection> make_http2_connection(engine::SimNetwork& network,
                                                        const ClientOptions& options) {
  return std::make_unique<Http2Connection>(network, options);
}

}  // namespace katana::testing::detail

// SPDX-License-Identifier: Apache-2.0
