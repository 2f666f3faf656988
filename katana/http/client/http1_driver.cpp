#include "katana/http/client/http1_driver.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <utility>

#include "katana/base/text/format.hpp"
#include "katana/http/client/upload.hpp"

namespace katana::client {

using Event = http1::ResponseMachine::Event;

namespace {

constexpr std::size_t piece_bytes_max = 16 * 1024;  // of one chunk

}  // namespace

Http1Driver::Http1Driver(const DriverEnvironment& environment) noexcept
    : ProtocolDriver(environment) {
  origin_.calls_per_connection = 1;
}

void Http1Driver::begin(Call& call) noexcept {
  call_ = &call;
  call.set_carrier(*this);
  reply_begun_ = false;
  head_.clear();
  // The body is read from its source once the head is sent: the connection is then established.
  uploads_ = call.upload() != nullptr;
  if (uploads_) connection_.want_writable();
  const Outgoing& outgoing = call.outgoing();
  Outbox& outbox = connection_.outbox();
  // With a tunnel the proxy gets no head.
  const Proxy* const proxy = origin_.origin.secure ? nullptr : origin_.proxy;
  if (!outbox.write(outgoing.http1_head(proxy).bytes()) || !outgoing.content.send(outbox)) {
    fail(Error(Code::resource_exhausted,
               "the reactor has no output blocks left; raise output_blocks_max"));
  }
  connection_.wake();
}

void Http1Driver::cancel_call(Call&, CancelReason) noexcept {
  call_ = nullptr;
  ending_ = true;
  retire();
  connection_.reset();
  connection_.wake();
}

void Http1Driver::on_upload(Call&) noexcept {
  if (!uploads_) return;
  send_upload();
  connection_.wake();
}

void Http1Driver::on_writable() noexcept {
  if (call_ == nullptr || !uploads_) return;
  call_->upload()->begin();
  send_upload();
}

// Fills at most half of the outbox, because a full outbox stops reading. A server that sends before
// it reads would then wait for ever.
void Http1Driver::send_upload() noexcept {
  Upload& upload = *call_->upload();
  const std::size_t most = context_.reactor().options().outbox_high_bytes / 2;
  while (!upload.ready().empty() || upload.ended()) {
    if (connection_.outbox().pending() >= most) return connection_.want_writable();
    const Bytes piece = upload.ready().substr(0, piece_bytes_max);
    if (!write_piece(piece)) {
      // on_writable() follows when there are blocks again.
      if (connection_.output_full(piece_bytes_max)) return;
      return fail(Error(Code::resource_exhausted,
                        "the reactor has no output blocks left; raise output_blocks_max"));
    }
    if (piece.empty()) {
      uploads_ = false;
      return;
    }
    upload.advance(piece.size());
  }
}

// Writes a chunk, unless the length was declared; an empty chunk is the end (RFC 9112 §7.1).
// Returns false, and writes nothing, if the reactor has no block left.
bool Http1Driver::write_piece(Bytes piece) noexcept {
  Outbox& outbox = connection_.outbox();
  if (call_->outgoing().content_length != http::unknown_length) {
    return piece.empty() || outbox.write(piece);
  }
  if (piece.empty()) return outbox.write("0\r\n\r\n");
  // A copy, because a chunk must be written as a whole or not at all.
  std::array<char, piece_bytes_max + 16> chunk;
  char* to = fmt::format_to(chunk.data(), "{:x}\r\n", piece.size());
  std::memcpy(to, piece.data(), piece.size());
  to += piece.size();
  *to++ = '\r';
  *to++ = '\n';
  return outbox.write({chunk.data(), static_cast<std::size_t>(to - chunk.data())});
}

void Http1Driver::on_content_read(Call&, std::size_t) noexcept {
  if (!connection_.has(net::PauseReason::content_unwanted)) return;
  connection_.resume(net::PauseReason::content_unwanted);
  connection_.wake();
}

std::size_t Http1Driver::on_bytes(Bytes input) noexcept {
  std::size_t at = 0;
  while (at < input.size()) {
    if (call_ == nullptr) {  // bytes without a request
      ending_ = true;
      connection_.reset();
      return input.size();
    }
    const bool in_head = !machine_.is_within_content();
    reply_begun_ = true;
    const auto step =
        machine_.next(input.substr(at), call_->outgoing().is_head, context_.head_memo());
    const Bytes used = input.substr(at, step.consumed);
    at += step.consumed;
    if (!take(step, used, in_head)) return input.size();
    if (step.event == Event::complete) complete(at == input.size());
    if (step.event == Event::needs_more) {
      const std::size_t bytes_max = context_.options().head_bytes_max;
      if (head_.size() + (input.size() - at) <= bytes_max || !in_head) return at;
      fail(Error(
          Code::resource_exhausted,
          fmt::format("the head of the reply exceeds {} bytes; raise head_bytes_max", bytes_max)));
      return input.size();
    }
    if (connection_.finishing()) return input.size();
    if (connection_.paused()) return at;
  }
  return at;
}

// Returns false if the call has ended; the connection is then closing.
bool Http1Driver::take(const http1::ResponseMachine::Step& step, Bytes used,
                       bool in_head) noexcept {
  if (step.event == Event::malformed) {
    fail(Error(Code::data_loss,
               fmt::format("the reply is not valid HTTP/1.1: {}", machine_.problem())));
    return false;
  }
  if (in_head) head_.append(used.substr(0, used.size() - step.content.size()));
  if (step.event == Event::interim) {
    constexpr std::size_t status_at = 9;  // in "HTTP/1.1 100", which the machine has accepted
    const bool is_continue = head_.bytes().substr(status_at, 3) == "100";
    head_.clear();
    if (uploads_ && is_continue) call_->upload()->go();
  }
  if (step.event != Event::content && step.event != Event::complete) return true;
  if (in_head && !give_head()) return false;
  if (!step.content.empty() && !call_->take_content(step.content)) {
    fail(Error(Code::internal));  // the call has failed with its own error
    return false;
  }
  if (call_->is_full()) connection_.pause(net::PauseReason::content_unwanted);
  return true;
}

bool Http1Driver::give_head() noexcept {
  const std::size_t bytes_max = context_.options().head_bytes_max;
  if (head_.size() > bytes_max) {
    fail(Error(
        Code::resource_exhausted,
        fmt::format("the head of the reply exceeds {} bytes; raise head_bytes_max", bytes_max)));
    return false;
  }
  if (machine_.folded()) http1::unfold(head_.data(), head_.size());
  if (call_->take_head(machine_.status(), std::exchange(head_, Text()))) return true;
  fail(Error(Code::internal));
  return false;
}

void Http1Driver::complete(bool all_read) noexcept {
  Call* const call = std::exchange(call_, nullptr);
  connection_.resume(net::PauseReason::content_unwanted);
  ++served_;
  const bool keep = machine_.keeps_open() && all_read && is_all_sent() &&
                    !connection_.input_ended() && connection_.failure() == 0 && !should_close();
  if (!keep) {
    ending_ = true;
    if (is_all_sent()) {
      connection_.finish(net::Finish::close);
    } else {
      connection_.reset();
    }
  }
  call->complete();
  if (keep) events_.on_idle();
}

bool Http1Driver::is_all_sent() const noexcept {
  net::Transform* const transform = connection_.transform();
  return !uploads_ && connection_.outbox().empty() &&
         (transform == nullptr || transform->output().empty());
}

void Http1Driver::on_input_end() noexcept {
  // The call reads the rest first; this is called again when the connection resumes.
  if (connection_.paused()) return;
  if (call_ == nullptr) {
    ending_ = true;
    connection_.finish(net::Finish::close);
    return;
  }
  if (machine_.end_of_input() != Event::complete) {
    on_lost(Error(Code::unavailable,
                  reply_begun_ ? "the server closed the connection before the reply was complete"
                               : "the server closed the connection before it replied"));
    connection_.reset();
    return;
  }
  if (connection_.input_truncated()) {
    fail(Error(Code::data_loss,
               "the reply ends with the connection, and its end was not authenticated (no "
               "close_notify): it may be truncated"));
    return;
  }
  complete(true);
}

void Http1Driver::take_unsent_calls(CallList& calls) noexcept {
  if (Call* const call = std::exchange(call_, nullptr)) calls.push_front(*call);
}

void Http1Driver::on_lost(const Error& error) noexcept {
  ending_ = true;
  Call* const call = std::exchange(call_, nullptr);
  if (call == nullptr) return;
  call->fail(error, served_ > 0 && !reply_begun_ ? Repeat::if_idempotent : Repeat::never);
}

void Http1Driver::fail(Error error) noexcept {
  ending_ = true;
  Call* const call = std::exchange(call_, nullptr);
  if (call != nullptr && !call->done()) call->fail(std::move(error), Repeat::never);
  connection_.reset();
}

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
