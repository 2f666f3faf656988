#include "katana/client/call.hpp"

#include <fmt/format.h>

#include "katana/base/check.hpp"
#include "katana/client/client_connection.hpp"
#include "katana/client/origin_pool.hpp"
#include "katana/client/reactor_pool.hpp"

namespace katana::client {

Call::Call(ReactorPool& pool, const Outgoing& outgoing, Wanted wanted, Instant deadline,
           Duration timeout) noexcept
    : TimerEntry(&Call::on_timer),
      pool_(pool),
      outgoing_(outgoing),
      streams_(wanted != Wanted::whole),
      wanted_(wanted),
      deadline_(deadline),
      timeout_(timeout) {}

Call::~Call() {
  leave();
  if (list_ != nullptr) list_->remove(*this);
}

bool Call::await_ready() noexcept {
  if (stage_ != Stage::fresh) return ready();
  stage_ = Stage::waiting;
  pool_.reactor().timers().arm(*this, deadline_);
  OriginPool* const origin = pool_.origin_pool(outgoing_.origin);
  if (origin != nullptr) {
    origin->add(*this);
  } else {
    fail(Error(Code::resource_exhausted,
               fmt::format("connections to {} origins are open already; raise origins_max",
                           pool_.options().origins_max)),
         Repeat::never);
  }
  return ready();
}

bool Call::ready() const noexcept {
  if (stage_ == Stage::done) return true;
  if (stage_ != Stage::head) return false;
  return wanted_ == Wanted::head || (wanted_ == Wanted::content && !response_.content_.empty());
}

void Call::wake() noexcept {
  if (waiting_ && list_ == nullptr && ready()) pool_.resume_later(*this);
}

void Call::on_timer(TimerEntry& entry) noexcept {
  auto& self = static_cast<Call&>(entry);
  const char* phase = "the reply is not complete";
  if (self.stage_ == Stage::waiting) phase = "no connection was free or could be made";
  if (self.stage_ == Stage::sent) phase = "there is no reply";
  ClientConnection* const connection = self.connection_;
  Error error(Code::deadline_exceeded,
              fmt::format("{} after {} ms", phase, self.timeout_.count_ms()));
  if (connection != nullptr) {
    self.connection_ = nullptr;
    connection->cancel_call(self, ClientConnection::CancelReason::deadline);
  }
  self.fail(std::move(error), Repeat::never);
}

// Nobody waits for it any more.
void Call::leave() noexcept {
  if (stage_ == Stage::done) return;
  stage_ = Stage::done;
  if (ClientConnection* const connection = std::exchange(connection_, nullptr)) {
    connection->cancel_call(*this, ClientConnection::CancelReason::caller);
  }
}

bool Call::take_head(unsigned status, Text head) noexcept {
  if (const char* const problem = response_.set_head(status, std::move(head))) {
    fail(Error(Code::resource_exhausted, fmt::format("the reply {}", problem)), Repeat::never);
    return false;
  }
  const auto coding = response_.find("Transfer-Encoding");
  if (coding && !http::equals_ignoring_case(*coding, "chunked")) {
    fail(Error(Code::unsupported,
               fmt::format("the reply has the transfer coding {:?}, and nobody asked for it",
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
  const std::uint64_t bytes_max = pool_.options().content_bytes_max;
  if (!streams_ && content.size() > bytes_max - response_.content_.size()) {
    fail(Error(Code::resource_exhausted,
               fmt::format("the content of the reply has more than {} bytes; raise "
                           "content_bytes_max, or read it as a stream",
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
  return streams_ && response_.content_.size() >= pool_.options().stream_bytes_max;
}

// So much that the server may wait for the reader: HTTP/2 lets it send again once half of the
// window is read.
bool Call::is_behind() const noexcept {
  return streams_ && response_.content_.size() >= pool_.options().stream_bytes_max / 2;
}

Text Call::take_content() noexcept {
  const bool was_behind = is_behind();
  Text taken = response_.take_content();
  if (connection_ != nullptr && !taken.empty()) {
    if (was_behind) arm();
    connection_->on_content_read(*this, taken.size());
  }
  return taken;
}

// The server has as long for what comes next; a reader that is behind has all the time it wants.
void Call::arm() noexcept {
  if (is_behind()) {
    cancel();
  } else {
    pool_.reactor().timers().arm(*this, pool_.reactor().now() + timeout_);
  }
}

void Call::complete() noexcept {
  connection_ = nullptr;
  stage_ = Stage::done;
  cancel();
  wake();
}

void Call::fail(Error error, Repeat repeat) noexcept {
  // Whoever waits for a connection is in the list of those.
  if (stage_ == Stage::waiting && list_ != nullptr) list_->remove(*this);
  connection_ = nullptr;
  stage_ = Stage::done;
  cancel();
  error_ = std::move(error);
  repeat_ = repeat;
  wake();
}

void CallList::push_back(Call& call) noexcept {
  call.list_ = this;
  call.prev_ = last_;
  call.next_ = nullptr;
  (last_ != nullptr ? last_->next_ : first_) = &call;
  last_ = &call;
  ++size_;
}

void CallList::push_front(Call& call) noexcept {
  call.list_ = this;
  call.prev_ = nullptr;
  call.next_ = first_;
  (first_ != nullptr ? first_->prev_ : last_) = &call;
  first_ = &call;
  ++size_;
}

void CallList::remove(Call& call) noexcept {
  (call.prev_ != nullptr ? call.prev_->next_ : first_) = call.next_;
  (call.next_ != nullptr ? call.next_->prev_ : last_) = call.prev_;
  call.list_ = nullptr;
  --size_;
}

Call& CallList::pop_front() noexcept {
  KATANA_REQUIRE(first_ != nullptr);
  Call& call = *first_;
  remove(call);
  return call;
}

}  // namespace katana::client
