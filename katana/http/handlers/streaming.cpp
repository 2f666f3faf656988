#include "katana/http/handlers/streaming.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "katana/http/coding/encoder.hpp"
#include "katana/http/handlers/handler.hpp"

namespace katana::detail {

// The decoded bytes that a read gets at most, unless it asks for more.
constexpr std::size_t decoded_bytes_max = 64 * 1024;

bool Stream::on_content(Bytes piece, bool last) noexcept {
  if (visit_ != nullptr) return show_content(piece, last);
  if (decoder_ != nullptr) {
    decoder_->append(piece, last);
    decode(wanted_);
  } else {
    received_.append(piece);
    ended_ = last;
  }
  if (reader_ && (ended_ || received_.size() >= wanted_)) std::exchange(reader_, {}).resume();
  return static_cast<bool>(reader_);
}

bool Stream::visit_received(Visit visit, void* visitor) {
  for (;;) {
    if (decoder_ != nullptr && !ended_) decode(1);
    if (received_.empty()) return ended_;
    const Text piece = std::exchange(received_, Text());
    visit(visitor, piece.bytes());
  }
}

bool Stream::show_content(Bytes piece, bool last) noexcept {
  reader_.run([&]() noexcept {
    try {
      if (decoder_ != nullptr) {
        decoder_->append(piece, last);
        visit_received(visit_, visitor_);
      } else {
        ended_ = last;
        if (!piece.empty()) visit_(visitor_, piece);
      }
    } catch (...) {
      visit_failure_ = std::current_exception();
    }
  });
  if (ended_ || visit_failure_ != nullptr) {
    visit_ = nullptr;
    std::exchange(reader_, {}).resume();
  }
  return static_cast<bool>(reader_);
}

bool Stream::has_received(std::size_t wanted) noexcept {
  if (decoder_ != nullptr && !ended_ && received_.size() < wanted) decode(wanted);
  return ended_ || (!received_.empty() && received_.size() >= wanted);
}

// A failure ends the content; the read that reaches it throws.
void Stream::decode(std::size_t wanted) noexcept {
  const std::size_t enough = std::max(wanted, decoded_bytes_max);
  try {
    while (!ended_ && decoder_->has_more() && received_.size() < enough) {
      if (!decoder_->read(enough - received_.size(), received_)) ended_ = true;
      if (decoder_->ended()) ended_ = true;
    }
  } catch (...) {
    report("the content cannot be decoded");
    exchange_.abort();
    ended_ = true;
  }
}

// Called in the catch block of the exception.
void Stream::report(Bytes what) noexcept {
  exchange_.report_failure({.what = what, .exception = std::current_exception()});
}

void Stream::throw_if_malformed() const {
  if (decoder_->failed()) throw std::runtime_error("the content cannot be decoded");
}

void Stream::on_writable() noexcept {
  if (!send_coded()) return;
  if (ending_) {
    exchange_.end_reply();
    return;
  }
  if (!writer_) return;
  try {
    if (!take(unwritten_)) return;
  } catch (...) {
    report("the reply cannot be written");
    exchange_.abort();
    return;
  }
  std::exchange(writer_, {}).resume();
}

bool Stream::send_coded() noexcept {
  if (coded_.empty()) return true;
  if (!exchange_.write(coded_.bytes())) return false;
  coded_.clear();
  return true;
}

void Stream::end() noexcept {
  if (encoder_ != nullptr) {
    try {
      encoder_->encode({}, coding::Flush::finish, coded_);
    } catch (...) {
      report("the reply cannot be encoded");
      exchange_.abort();
      return;
    }
    ending_ = true;
    if (!send_coded()) return;
  }
  exchange_.end_reply();
}

void Stream::begin(const Reply& reply, std::int64_t length) {
  if (begun_) return;
  if (!has_middleware_) {
    begin_with(reply, length);
    if (reply.cause() != nullptr) report_cause(exchange_, reply.status(), *reply.cause());
    return;
  }
  Reply head = reply.copy_of_head();
  run_middleware(head);
  begin_with(head, length);
  if (reply.cause() != nullptr) report_cause(exchange_, head.status(), *reply.cause());
}

void Stream::begin_with(const Reply& reply, std::int64_t length) {
  if (reply.invalid()) {
    throw std::invalid_argument(reply.mistake());
  }
  begun_ = true;
  left_ = length >= 0 ? static_cast<std::uint64_t>(length) : UINT64_MAX;
  encoder_ = PreparedReply::encoder(reply);
  if (encoder_ != nullptr) length = http::unknown_length;
  if (reply.closes()) exchange_.close_after_reply();
  exchange_.begin_reply({.status = reply.status(),
                         .content_type = reply.content_type(),
                         .fields = reply.fields(),
                         .content_length = length});
}

bool Stream::write(Bytes content) {
  if (!begun_) throw std::logic_error("ReplyWriter::write() before begin()");
  if (content.size() > left_) throw std::logic_error("more content than begin() announced");
  return take(content);
}

// Coded bytes may wait for room, but only those of one call: the next call is then refused.
bool Stream::take(Bytes content) {
  if (encoder_ == nullptr) {
    if (!exchange_.write(content)) return false;
  } else {
    if (!send_coded()) return false;
    encoder_->encode(content, coding::Flush::flush, coded_);
    (void)send_coded();
  }
  left_ -= content.size();
  return true;
}

namespace {

// Keeps the output of a source, up to a bound; then there is no room until it is taken.
class KeptContent final : public ContentSink {
 public:
  bool write(Bytes content) noexcept override {
    // An empty buffer refuses nothing: a source may write any amount at a time.
    if (!kept_.empty() && kept_.size() + content.size() > kept_bytes_max) return false;
    kept_.append(content);
    return true;
  }
  Bytes bytes() const noexcept { return kept_.bytes(); }
  void clear() noexcept { kept_.clear(); }

 private:
  static constexpr std::size_t kept_bytes_max = 32 * 1024;
  Text kept_;
};

}  // namespace
}  // namespace katana::detail

namespace katana {

Task<void> send(ReplyWriter writer, Reply whole) {
  const std::unique_ptr<ContentSource> source = std::move(whole.source());
  if (source == nullptr) {
    writer.begin(whole, static_cast<std::int64_t>(whole.content().size()));
    co_await writer.write(whole.content());
    co_return;
  }
  writer.begin(whole, whole.stream_length());
  detail::KeptContent kept;
  for (bool all = false; !all;) {
    all = source->produce(kept);
    if (!all && kept.bytes().empty()) {
      throw std::logic_error("send() of a reply whose source waits: return it from the handler");
    }
    co_await writer.write(kept.bytes());
    kept.clear();
  }
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
