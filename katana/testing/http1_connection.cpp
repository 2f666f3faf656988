// One connection of a test's client by HTTP/1.1, with at most one request in progress.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "katana/base/text/format.hpp"
#include "katana/net/engine/sim/sim_peer.hpp"
#include "katana/testing/client_exchange.hpp"
#include "katana/wire/http1/response_machine.hpp"

namespace katana::testing::detail {
namespace {

using Event = http1::ResponseMachine::Event;

std::string head_of(const ClientRequest& request, bool is_chunked) {
  std::string bytes = fmt::format("{} {} HTTP/1.1\r\n", request.method, request.target);
  const auto add = [&](std::string_view name, std::string_view value) {
    fmt::format_to(std::back_inserter(bytes), "{}: {}\r\n", name, value);
  };
  for (const auto& [name, value] : request.fields) add(name, value);
  const bool has_length = find_field(request.fields, "content-length") != nullptr;
  if (is_chunked) {
    add("Transfer-Encoding", "chunked");
  } else if (request.has_content && !request.in_pieces && !has_length) {
    add("Content-Length", std::to_string(request.content.size()));
  }
  return bytes.append("\r\n");
}

class Http1Connection final : public ClientConnection {
 public:
  Http1Connection(engine::SimNetwork& network, const ClientOptions& options)
      : network_(network), options_(options), peer_(network) {
    peer_.on_received = [this] { take(); };
    peer_.on_over = [this] { end(); };
    peer_.connect(options.from, options.to, options.port);
  }

  bool is_over() const override {
    return !exchange_ && (failed_ || ended_ || peer_.over() || !machine_.keeps_open());
  }
  bool may_begin() const override { return !exchange_ && !is_over(); }

  void begin(std::shared_ptr<ClientExchange> exchange, const ClientRequest& request) override {
    exchange_ = std::move(exchange);
    exchange_->connection = this;
    head_.clear();
    const bool has_framing = find_field(request.fields, "content-length") != nullptr ||
                             find_field(request.fields, "transfer-encoding") != nullptr;
    is_chunked_ = request.in_pieces && !has_framing;
    is_sending_ = request.in_pieces;
    peer_.send(head_of(request, is_chunked_).append(request.content));
  }
  void send(ClientExchange& exchange, Bytes bytes, bool last) override {
    if (last) is_sending_ = false;
    if (exchange.is_tunnel || !is_chunked_) {
      if (!bytes.empty()) peer_.send(bytes);
      return;
    }
    std::string framed;
    if (!bytes.empty()) framed = fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes);
    if (last) framed += "0\r\n\r\n";
    if (!framed.empty()) peer_.send(framed);
  }
  void reset(ClientExchange&, std::string_view why) override { give_up(why); }
  void half_close() override {
    ended_ = true;
    peer_.finish();
  }
  void set_reading(ClientExchange&, bool reads) override {
    if (!reads) return peer_.stop_reading();
    peer_.start_reading();
  }
  void give_up(std::string_view why) override {
    peer_.reset();
    fail(why);
  }

 private:
  void take() {
    input_ += peer_.take_received();
    if (exchange_ && exchange_->upgrades && exchange_->status == 0) take_upgrade();
    if (exchange_ && exchange_->is_tunnel) return take_tunnel();
    std::string_view left = input_;
    while (exchange_ && !left.empty() && !is_deciding()) {
      if (!step(left)) break;
    }
    input_.erase(0, input_.size() - left.size());
  }
  // Whether the bytes so far may still become a 101.
  bool is_deciding() const {
    return exchange_->upgrades && exchange_->status == 0 &&
           std::string_view("HTTP/1.1 101").starts_with(std::string_view(input_).substr(0, 12));
  }
  // The machine knows no 101, because it did not ask for one.
  void take_upgrade() {
    const std::size_t end = input_.find("\r\n\r\n");
    if (!input_.starts_with("HTTP/1.1 101") || end == std::string::npos) return;
    exchange_->status = 101;
    exchange_->fields = fields_of(std::string_view(input_).substr(0, end + 4));
    exchange_->received += end + 4;
    exchange_->is_tunnel = true;
    ended_ = true;
    input_.erase(0, end + 4);
  }
  void take_tunnel() {
    exchange_->received += input_.size();
    exchange_->content += std::exchange(input_, {});
    check_limits();
    if (exchange_ && exchange_->on_more) exchange_->on_more();
  }
  bool step(std::string_view& left) {
    const bool in_head = !machine_.is_within_content();
    const auto step = machine_.next(left, exchange_->to_head, memo_);
    exchange_->received += step.consumed;
    if (in_head) head_ += left.substr(0, step.consumed - step.content.size());
    exchange_->content += step.content;
    left.remove_prefix(step.consumed);
    if (step.event == Event::interim) {
      exchange_->interims.emplace_back(interim_status(), fields_of(head_), std::string());
      head_.clear();
      return true;
    }
    if (step.event == Event::malformed) {
      peer_.reset();
      fail(fmt::format("the reply is not valid HTTP/1.1: {}", machine_.problem()));
      return false;
    }
    const bool has_head = machine_.is_within_content() || step.event == Event::complete;
    if (has_head && exchange_->status == 0) {
      exchange_->status = machine_.status();
      exchange_->fields = fields_of(head_);
    }
    check_limits();
    if (!exchange_) return false;
    if (step.event == Event::complete) complete();
    return step.event != Event::needs_more;
  }
  unsigned interim_status() const {
    unsigned status = 0;
    for (const char c : std::string_view(head_).substr(std::min<std::size_t>(9, head_.size()), 3)) {
      status = status * 10 + static_cast<unsigned>(c - '0');
    }
    return status;
  }
  void check_limits() {
    if (exchange_->content.size() > options_.content_bytes_max) {
      return give_up(fmt::format("the content exceeds {} bytes; raise content_bytes_max",
                                 options_.content_bytes_max));
    }
    if (options_.reset_after_bytes != 0 && exchange_->received >= options_.reset_after_bytes) {
      give_up(fmt::format("the client reset the connection after {} bytes",
                          options_.reset_after_bytes));
    }
  }
  void end() {
    if (!exchange_) return;
    if (peer_.refused()) {
      exchange_->was_refused = true;
      return fail("the server refused the connection");
    }
    if (peer_.saw_reset()) return fail("the server reset the connection");
    if (exchange_->is_tunnel || machine_.end_of_input() == Event::complete) return complete();
    fail("the server closed the connection");
  }
  void complete() {
    exchange_->reply = completed(*exchange_);
    end_exchange();
    if (is_sending_) ended_ = true;  // the server waits for the rest of the content
    if (!machine_.keeps_open() || ended_) peer_.finish();
  }
  void fail(std::string_view why) {
    failed_ = true;  // later bytes belong to no request
    if (!exchange_) return;
    exchange_->reply = failed(*exchange_, why, network_.seed());
    end_exchange();
  }
  void end_exchange() {
    exchange_->connection = nullptr;
    const auto ended = std::exchange(exchange_, nullptr);
    if (ended->on_reply) ended->on_reply();
  }

  engine::SimNetwork& network_;
  const ClientOptions options_;
  engine::SimPeer peer_;
  http1::ResponseMachine machine_;
  http1::HeadMemo memo_;
  std::shared_ptr<ClientExchange> exchange_;  // null: no request is in progress
  bool is_chunked_ = false;
  bool is_sending_ = false;  // the end of the request's content has not gone out
  bool failed_ = false;
  bool ended_ = false;  // nothing is sent any more, or other bytes than HTTP
  std::string input_, head_;
};

}  // namespace

std::unique_ptr<ClientConnection> make_http1_connection(engine::SimNetwork& network,
                                                        const ClientOptions& options) {
  return std::make_unique<Http1Connection>(network, options);
}

}  // namespace katana::testing::detail

// SPDX-License-Identifier: Apache-2.0
