// ExchangeTest: sessions of HTTP/1.1 and HTTP/2 on a reactor in virtual time, with a request
// handler that follows its test's instructions.
//
// Owns       the protocols, the handler and the reactor.
// Thread     one.
// Fails      by failing the test.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/http/session/exchange.hpp"
#include "katana/http/session/exchange_observer.hpp"
#include "katana/http/session/http1_protocol.hpp"
#include "katana/http/session/http2_protocol.hpp"
#include "katana/net/reactor/reactor_fixture_test.hpp"

namespace katana::session {

inline http::ReplyHead head_of(unsigned status,
                               std::int64_t content_length = http::unknown_length) {
  http::ReplyHead head;
  head.status = status;
  head.content_length = content_length;
  return head;
}

// Work that waits, and records its calls.
class Work final : public Pending {
 public:
  explicit Work(std::vector<std::string>& notes) : notes_(notes) {}
  ~Work() override { notes_.emplace_back("gone"); }
  bool on_content(Bytes piece, bool last) noexcept override {
    notes_.push_back("piece " + std::string(piece) + (last ? " last" : ""));
    return !at_content || at_content();
  }
  void on_writable() noexcept override {
    notes_.emplace_back("writable");
    if (at_writable) at_writable();
  }
  void on_drain() noexcept override { notes_.emplace_back("drain"); }

  std::function<bool()> at_content;
  std::function<void()> at_writable;

 private:
  std::vector<std::string>& notes_;
};

class ScriptedHandler final : public RequestHandler {
 public:
  void on_request(Exchange& exchange, const http::Head& head) noexcept override {
    notes.push_back(std::string(head.method_text()) + " " + std::string(head.target()));
    last = &exchange;
    at_request(exchange);
  }
  void on_content_collected(Exchange& exchange, const http::Head&,
                            Bytes content) noexcept override {
    notes.push_back("collected " + std::string(content.substr(0, 30)));
    if (at_collected) at_collected(exchange);
  }
  void on_resumed(Exchange& exchange, const http::Head& head) noexcept override {
    notes.push_back("resumed " + std::string(head.target()));
    if (at_resumed) at_resumed(exchange);
  }
  void on_refused(Exchange& exchange, const http::Head*, unsigned status,
                  Bytes detail) noexcept override {
    notes.push_back("refused " + std::to_string(status));
    if (at_refused) return at_refused(exchange);
    exchange.respond(head_of(status), detail, true);
  }
  // Holds work for the exchange, and returns it.
  Work& hold(Exchange& exchange) {
    auto work = std::make_unique<Work>(notes);
    Work& held = *work;
    exchange.hold(std::move(work));
    return held;
  }
  std::vector<std::string> taken() { return std::exchange(notes, {}); }

  std::function<void(Exchange&)> at_request = [](Exchange& exchange) {
    exchange.respond(head_of(200), "well", true);
  };
  std::function<void(Exchange&)> at_collected, at_resumed, at_refused;
  std::vector<std::string> notes;
  Exchange* last = nullptr;
};

// Records what it is told, and adds a field to each reply.
class NotingObserver final : public ExchangeObserver {
 public:
  std::unique_ptr<ExchangeContext> on_exchange_begin(const http::Head* head,
                                                     ClientSource&) noexcept override {
    notes.push_back(head != nullptr ? "begin " + std::string(head->target()) : "begin");
    auto context = std::make_unique<ExchangeContext>();
    context->reply_fields = "X-Observed: yes\r\n";
    return context;
  }
  void on_exchange_end(Exchange&, const ExchangeRecord& record) noexcept override {
    constexpr const char* ends[] = {"replied", "aborted", "left"};
    notes.push_back("end " + std::to_string(record.status) + " " +
                    std::to_string(record.content_bytes) + " " +
                    ends[static_cast<std::size_t>(record.end)] +
                    (record.kind == ExchangeKind::websocket ? " websocket" : ""));
  }
  std::vector<std::string> notes;
};

// Remembers the last session, which a test may call as the reactor does.
class RememberingProtocol final : public net::Protocol {
 public:
  explicit RememberingProtocol(net::Protocol& inner) : inner_(inner) {}
  std::size_t session_bytes() const noexcept override { return inner_.session_bytes(); }
  net::Session* open(void* memory, net::Connection& connection) noexcept override {
    connection_ = &connection;
    return session_ = inner_.open(memory, connection);
  }
  // As a reactor whose memory is scarce.
  std::size_t give_up_memory() {
    const std::size_t going = session_->on_memory_scarce();
    connection_->wake();
    return going;
  }

 private:
  net::Protocol& inner_;
  net::Session* session_ = nullptr;
  net::Connection* connection_ = nullptr;
};

class ExchangeTest : public net::ReactorTest {
 protected:
  using Notes = std::vector<std::string>;

  static HttpOptions options() {
    HttpOptions options;
    options.server_name = "";
    options.handler_timeout = seconds(10);
    options.half_close_grace = seconds(1);
    return options;
  }
  // Both versions on one listener, as servers have it.
  explicit ExchangeTest(const HttpOptions& given = options())
      : http1_(given, handler_), http2_(given, handler_, http1_.counters(), &http1_.websockets()) {
    http1_.set_http2(&remembering2_);
    EXPECT_TRUE(reactor().listen({}, remembering1_));
  }
  ~ExchangeTest() override { reactor_.reset(); }

  // Returns the link.
  std::uint32_t open() {
    accept(1);
    return static_cast<std::uint32_t>(world_.links.size() - 1);
  }
  // Sends in its own turn.
  void send(std::uint32_t link, std::string text) {
    bytes(link, std::move(text));
    turn();
  }
  std::size_t count_in(std::uint32_t link, std::string_view text) {
    std::size_t found = 0;
    for (std::size_t at = sent(link).find(text); at != std::string::npos;
         at = sent(link).find(text, at + 1)) {
      ++found;
    }
    return found;
  }
  bool has(std::uint32_t link, std::string_view text) { return count_in(link, text) != 0; }
  std::size_t held(Holder holder = Holder::request) { return reactor().memory().used_by(holder); }

  ScriptedHandler handler_;
  Http1Protocol http1_;
  Http2Protocol http2_;
  RememberingProtocol remembering1_{http1_}, remembering2_{http2_};
};

}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
