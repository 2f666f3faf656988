#include "katana/stores/bus/nats/link.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <utility>

#include "katana/wire/nats/writer.hpp"

namespace katana::bus {
namespace {

// Payloads from here on are referred to; a copy of less is cheaper than the reference.
constexpr std::size_t referred_bytes_min = 2048;

char* put(char* to, Bytes text) noexcept {
  if (!text.empty()) std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

}  // namespace

NatsLink::NatsLink(net::Reactor& reactor, std::shared_ptr<upstream::Shared> shared,
                   const NatsOptions& options, bool echo, NatsLinkEvents& events)
    : TimerEntry([](TimerEntry& entry) noexcept { static_cast<NatsLink&>(entry).on_tick(); }),
      events_(events),
      options_(options),
      echo_(echo),
      shared_(std::move(shared)),
      connection_(reactor, shared_, *this) {}

NatsLink::~NatsLink() = default;

void NatsLink::stop() noexcept {
  connection_.stop();
  cancel();
  state_ = State::down;
}

// ---- greeting ----------------------------------------------------------------------------------

tls::Prelude::Step NatsLink::InfoPrelude::next(Bytes input) noexcept {
  const nats::Step step = machine_.next(input);
  switch (step.event) {
    case nats::Event::need_bytes: return {State::going, step.consumed};
    case nats::Event::info: info = step.text; return {State::done, step.consumed};
    default: return {State::failed, 0};
  }
}

tls::Prelude* NatsLink::prelude() noexcept {
  if (shared_->tls() == nullptr) return nullptr;
  return &prelude_.emplace();
}

void NatsLink::on_open() noexcept {
  machine_.emplace();
  content_.clear();
  pings_unanswered_ = 0;
  state_ = State::info;
  if (shared_->tls() != nullptr) (void)take_info(prelude_->info);
}

bool NatsLink::fail_with(Error why) noexcept {
  connection_.lose(std::move(why));
  return false;
}

bool NatsLink::take_info(Bytes json) {
  auto read = read_server_info(json);
  if (!read) return fail_with(read.error());
  info_ = *std::move(read);
  if (!info_.connect_urls.empty()) {
    std::vector<upstream::Server> servers;
    for (const std::string& each : info_.connect_urls) {
      auto server = upstream::parse_server(each, nats_port);
      if (server) servers.push_back(*std::move(server));
    }
    (void)shared_->announce(servers);
  }
  if (state_ == State::info) return greet();
  if (info_.is_lame_duck && state_ == State::up) {
    // The answer to this comes behind all that the server has taken from us.
    if (!connection_.write(nats::ping_line)) return fail_with(Error(Code::unavailable));
    pings_unanswered_ = 1;
    state_ = State::leaving;
  }
  return true;
}

bool NatsLink::greet() {
  const bool is_secure = shared_->tls() != nullptr;
  if (info_.tls_required && !is_secure) {
    return fail_with(Error(Code::unsupported,
                           "the server asks for TLS: set bus.tls.enabled, or "
                           "write tls:// in bus.url"));
  }
  if (!info_.nonce.empty() && info_.nonce.size() > 256) {
    return fail_with(Error(Code::invalid_argument, "the server's nonce is too long"));
  }
  auto text = write_connect({.client_name = options_.client_name, .echo = echo_, .tls = is_secure},
                            options_.credentials, info_);
  if (!text) return fail_with(text.error());
  *text += nats::ping_line;
  const bool written = connection_.write(*text);
  erase_secret(*text);
  if (!written) return fail_with(Error(Code::resource_exhausted, "no room for CONNECT"));
  state_ = State::greeting;
  return true;
}

// ---- input -------------------------------------------------------------------------------------

std::size_t NatsLink::on_bytes(Bytes input) noexcept {
  std::size_t consumed = 0;
  while (true) {
    const nats::Step step = machine_->next(input.substr(consumed));
    consumed += step.consumed;
    if (step.event == nats::Event::need_bytes) return consumed;
    if (!take(step)) return input.size();
  }
}

bool NatsLink::take(const nats::Step& step) {
  const bool is_greeted = state_ == State::up || state_ == State::leaving;
  switch (step.event) {
    case nats::Event::need_bytes: return true;
    case nats::Event::refused:
      return fail_with(
          Error(Code::data_loss, fmt::format("this is no NATS server, or a broken one: {}",
                                             nats::sentence_of(machine_->refusal()))));
    case nats::Event::info: return take_info(step.text);
    case nats::Event::ping:
      if (!connection_.write(nats::pong_line)) {
        return fail_with(Error(Code::resource_exhausted, "no room for PONG"));
      }
      return true;
    case nats::Event::pong: return take_pong();
    case nats::Event::ok: return true;
    case nats::Event::error: return take_error(step.text);
    case nats::Event::message:
      if (!is_greeted) {
        return fail_with(Error(Code::data_loss, "the server sent a message before its greeting"));
      }
      head_ = step.head;
      subject_ = step.head.subject;
      reply_to_ = step.head.reply_to;
      content_.clear();
      is_skipped_ = step.head.size > options_.bus.payload_bytes_max + header_bytes_max * 4;
      return true;
    case nats::Event::piece: take_piece(step.text, step.is_last); return true;
  }
  return true;
}

bool NatsLink::take_pong() {
  if (state_ == State::greeting) {
    state_ = State::up;
    connection_.established();
    arm();
    events_.on_up(info_);
    return true;
  }
  pings_unanswered_ = 0;
  if (state_ == State::leaving) {
    return fail_with(Error(Code::unavailable, "the server is about to end (lame duck mode)"));
  }
  return true;
}

// The server ends the connection after most errors. The first reason is told.
bool NatsLink::take_error(Bytes text) {
  while (text.starts_with('\'')) text.remove_prefix(1);
  while (text.ends_with('\'')) text.remove_suffix(1);
  if (text.starts_with("Permissions Violation")) {
    events_.on_server_error(text);
    return true;
  }
  const bool is_refused = text.starts_with("Authorization") || text.starts_with("User ") ||
                          text.starts_with("Account ");
  return fail_with(Error(is_refused ? Code::unauthenticated : Code::unavailable,
                         fmt::format("the server says: {}", text.substr(0, 200))));
}

void NatsLink::take_piece(Bytes piece, bool is_last) {
  if (is_skipped_) {
    if (is_last) events_.on_too_large(head_.subscription, subject_);
    return;
  }
  if (is_last && content_.empty()) return give(piece);  // most come in one
  content_ += piece;
  if (!is_last) return;
  give(content_);
  content_.clear();
  if (content_.capacity() > 256 * 1024) content_.shrink_to_fit();
}

// "NATS/1.0[ status[ text]]\r\n", headers, an empty line.
void NatsLink::give(Bytes content) {
  NatsMessage message{.subscription = head_.subscription,
                      .subject = subject_,
                      .reply_to = reply_to_,
                      .payload = content.substr(head_.header_size)};
  Bytes headers = content.substr(0, head_.header_size);
  if (!headers.empty()) {
    const std::size_t end = headers.find("\r\n");
    const Bytes line = headers.substr(0, end);
    headers = end == Bytes::npos ? Bytes() : headers.substr(end + 2);
    if (headers.ends_with("\r\n")) headers.remove_suffix(2);
    if (line.size() >= 12 && line[8] == ' ') {
      for (const char digit : line.substr(9, 3)) {
        if (digit < '0' || digit > '9') break;
        message.status = static_cast<std::uint16_t>(message.status * 10 + (digit - '0'));
      }
      if (message.payload.empty() && line.size() > 13) message.payload = line.substr(13);
    }
    message.headers = headers;
  }
  events_.on_message(message);
}

void NatsLink::on_closed(const Error& why) noexcept {
  cancel();
  const bool was_up = state_ == State::up || state_ == State::leaving;
  state_ = State::down;
  if (was_up) {
    events_.on_down(why);
  } else {
    events_.on_unreachable(why);
  }
}

// ---- liveness ----------------------------------------------------------------------------------

void NatsLink::arm() noexcept {
  net::Reactor& reactor = connection_.reactor();
  reactor.timers().arm(*this, reactor.now() + options_.ping_interval);
}

void NatsLink::on_tick() noexcept {
  if (state_ != State::up && state_ != State::leaving) return;
  if (pings_unanswered_ != 0) {
    (void)fail_with(
        Error(Code::unavailable, fmt::format("the server has not answered PING for {} ms",
                                             milliseconds_of(options_.ping_interval))));
    return;
  }
  // A server that takes no bytes gets no more than one PING.
  if (connection_.write(nats::ping_line)) ++pings_unanswered_;
  arm();
}

// ---- output ------------------------------------------------------------------------------------

bool NatsLink::publish(Bytes subject, Bytes reply_to, Bytes headers, Bytes payload, Batch* memory) {
  const bool has_headers = !headers.empty();
  const std::size_t header_size =
      has_headers ? nats::header_line.size() + headers.size() + nats::line_end.size() : 0;
  const std::size_t size = header_size + payload.size();
  const std::size_t head_max = nats::publish_bytes_max(subject, reply_to) + header_size;
  const std::size_t total = head_max + payload.size() + nats::line_end.size();
  if (state_ != State::up || !connection_.takes(total)) return false;
  const bool refers = memory != nullptr && payload.size() >= referred_bytes_min;
  const std::size_t written_max = refers ? head_max : total;
  std::array<char, 4096> small;
  char* begin = small.data();
  if (written_max > small.size()) {
    scratch_.resize(written_max);
    begin = scratch_.data();
  }
  char* to = nats::write_publish(begin, subject, reply_to, header_size, size);
  if (has_headers) to = put(put(put(to, nats::header_line), headers), nats::line_end);
  if (!refers) to = put(put(to, payload), nats::line_end);
  bool done = connection_.write({begin, static_cast<std::size_t>(to - begin)});
  if (done && refers) {
    done = connection_.refer(payload, *memory) && connection_.write(nats::line_end);
  }
  // Half of a message cannot be taken back.
  if (!done) (void)fail_with(Error(Code::resource_exhausted, "no output blocks are left"));
  return done;
}

bool NatsLink::subscribe(std::uint64_t number, Bytes subject, Bytes group) {
  scratch_.resize(nats::subscribe_bytes_max(subject, group));
  const char* const end = nats::write_subscribe(scratch_.data(), subject, group, number);
  return connection_.write({scratch_.data(), static_cast<std::size_t>(end - scratch_.data())});
}

bool NatsLink::unsubscribe(std::uint64_t number) {
  std::array<char, nats::unsubscribe_bytes_max> line;
  const char* const end = nats::write_unsubscribe(line.data(), number);
  return connection_.write({line.data(), static_cast<std::size_t>(end - line.data())});
}

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
