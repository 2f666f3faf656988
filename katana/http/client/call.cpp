#include "katana/http/client/call.hpp"

#include <fmt/format.h>

#include "katana/wire/http/field_list.hpp"

namespace katana::client {
namespace {

// The value of a Transfer-Encoding with another coding than chunked, in any of its lines.
std::optional<Bytes> unsupported_coding(const Response& response) noexcept {
  for (std::size_t index = 0; index < response.field_count(); ++index) {
    if (!http::equals_ignoring_case(response.name(index), "Transfer-Encoding")) continue;
    http::ListReader codings(response.value(index));
    for (Bytes coding; codings.next(coding);) {
      if (!http::equals_ignoring_case(coding, "chunked")) return response.value(index);
    }
  }
  return {};
}

}  // namespace

Call::Call(ReactorContext& context, const Outgoing& outgoing, Wanted wanted, Instant deadline,
           Duration timeout) noexcept
    : TimerEntry(&Call::on_timer),
      context_(context),
      outgoing_(outgoing),
      streams_(wanted != Wanted::whole),
      wanted_(wanted),
      timeout_(timeout) {
  context_.reactor().timers().arm(*this, deadline);
}

Call::~Call() { cancel_by(CancelReason::caller); }

bool Call::ready() const noexcept {
  if (stage_ == Stage::done) return true;
  if (stage_ != Stage::head) return false;
  return wanted_ == Wanted::head || (wanted_ == Wanted::content && !response_.content_.empty());
}

void Call::wake() noexcept {
  if (waiting_ && !is_listed() && ready()) context_.queue().resume_later(*this);
}

void Call::on_timer(TimerEntry& entry) noexcept {
  auto& self = static_cast<Call&>(entry);
  const char* phase = "the reply is incomplete";
  if (self.stage_ == Stage::waiting) phase = "no connection became available";
  if (self.stage_ == Stage::sent) phase = "the server sent no reply";
  Error error(Code::deadline_exceeded,
              fmt::format("deadline exceeded after {} ms: {}", self.timeout_.count_ms(), phase));
  self.cancel_by(CancelReason::deadline);
  self.fail(std::move(error), Repeat::never);
}

void Call::cancel_by(CancelReason reason) noexcept {
  if (CallCarrier* const carrier = std::exchange(carrier_, nullptr)) {
    carrier->cancel_call(*this, reason);
  }
}

bool Call::take_head(unsigned status, Text head) noexcept {
  if (const char* const problem = response_.set_head(status, std::move(head))) {
    fail(Error(Code::resource_exhausted, fmt::format("the reply {}", problem)), Repeat::never);
    return false;
  }
  if (const auto coding = unsupported_coding(response_)) {
    fail(Error(Code::unsupported,
               fmt::format(
                   "the reply has the unsupported transfer coding {:?}; this client requests none",
                   coding->substr(0, 100))),
         Repeat::never);
    return false;
  }
  begin_content();
  return true;
}

void Call::take_head(unsigned status, const http::Head& fields) noexcept {
  response_.set_fields(status, fields);
  begin_content();
}

void Call::begin_content() noexcept {
  stage_ = Stage::head;
  if (streams_) arm();
  wake();
}

bool Call::take_content(Bytes content) noexcept {
  const std::uint64_t bytes_max = context_.options().content_bytes_max;
  if (!streams_ && content.size() > bytes_max - response_.content_.size()) {
    fail(Error(Code::resource_exhausted,
               fmt::format("the content of the reply exceeds {} bytes; raise content_bytes_max, or "
                           "read it with open()",
                           bytes_max)),
         Repeat::never);
    return false;
  }
  response_.content_.append(content);
  if (streams_) arm();
  wake();
  return true;
}

bool Call::is_full() const noexcept {
  return streams_ && response_.content_.size() >= context_.options().stream_bytes_max;
}

// At this many unread bytes the server waits for the reader. With HTTP/2 it may send again once
// half of the window is read.
bool Call::is_behind() const noexcept {
  return streams_ && response_.content_.size() >= context_.options().stream_bytes_max / 2;
}

Text Call::take_content() noexcept {
  const bool was_behind = is_behind();
  Text taken = response_.take_content();
  if (carrier_ != nullptr && !taken.empty()) {
    if (was_behind) arm();
    carrier_->on_content_read(*this, taken.size());
  }
  return taken;
}

// The server has `timeout` for the next piece of the body. While the reader is behind, no deadline
// runs: the server is not at fault.
void Call::arm() noexcept {
  if (is_behind()) {
    cancel();
  } else {
    context_.reactor().timers().arm(*this, context_.reactor().now() + timeout_);
  }
}

void Call::complete() noexcept {
  carrier_ = nullptr;
  stage_ = Stage::done;
  cancel();
  wake();
}

void Call::fail(Error error, Repeat repeat) noexcept {
  // A call that waits for a connection is in the pool's list.
  if (stage_ == Stage::waiting) leave_list();
  carrier_ = nullptr;
  stage_ = Stage::done;
  cancel();
  error_ = std::move(error);
  repeat_ = repeat;
  wake();
}

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
