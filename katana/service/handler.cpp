#include "katana/service/handler.hpp"

#include "katana/base/hints.hpp"
#include "katana/service/router.hpp"

namespace katana::detail {
namespace {

// A ContentSource at work, until everything is produced.
class PendingSource final : public session::Pending, private ContentSink, private ContentStream {
 public:
  PendingSource(session::Exchange& exchange, Reply& reply) noexcept
      : exchange_(exchange),
        source_(std::move(reply.source())),
        left_(reply.stream_length() >= 0 ? static_cast<std::uint64_t>(reply.stream_length())
                                         : UINT64_MAX) {}

  void begin() noexcept {
    producing_ = true;
    try {
      source_->begin(*this);
    } catch (...) {
      failed_ = true;
    }
    producing_ = false;
    produce();
  }

  void produce() noexcept {
    if (producing_) return;  // the source woke itself: it is about to look
    bool done = false;
    producing_ = true;
    try {
      done = !failed_ && source_->produce(*this);
    } catch (...) {
      failed_ = true;
    }
    producing_ = false;
    if (failed_) {
      exchange_.note_failure();
      exchange_.abort();
    } else if (done) {
      exchange_.end_reply();  // which may destroy this object
    }
  }
  void on_room() noexcept override { produce(); }
  void on_drain() noexcept override { source_->drain(); }
  std::size_t held_bytes() const noexcept override { return source_->held_bytes(); }

 private:
  void wake() noexcept override { produce(); }
  void set_patient() noexcept override { exchange_.set_patient(); }
  core::Reactor& reactor() noexcept override { return exchange_.reactor(); }
  bool write(Bytes content) noexcept override {
    // More than was announced: the peer would take it for the next reply.
    if (content.size() > left_) failed_ = true;
    if (failed_ || !exchange_.write(content)) return false;
    left_ -= content.size();
    return true;
  }
  bool yield() noexcept override { return exchange_.yield(); }
  bool write_file(FilePart& part) override {
    if (part.size > left_) failed_ = true;
    if (failed_) return false;
    const std::uint64_t before = part.size;
    const bool all = exchange_.write_file(part);
    left_ -= before - part.size;
    return all;
  }

  session::Exchange& exchange_;
  std::unique_ptr<ContentSource> source_;
  std::uint64_t left_;  // of the content that was announced
  bool failed_ = false;
  bool producing_ = false;
};

void send_stream(session::Exchange& exchange, Reply& reply) noexcept {
  const http::ReplyHead head{.status = reply.status(),
                             .content_type = reply.content_type(),
                             .fields = reply.fields(),
                             .content_length = reply.stream_length()};
  auto owner = std::make_unique<PendingSource>(exchange, reply);
  PendingSource* const source = owner.get();
  exchange.hold(std::move(owner));
  exchange.begin_reply(head);
  if (exchange.answers_head()) {
    exchange.end_reply();
  } else {
    source->begin();
  }
}

// The content of a whole reply, while it is written in pieces.
class HeldContent final : public ContentSource {
 public:
  explicit HeldContent(Text content) noexcept
      : content_(std::move(content)), left_(content_.bytes()) {}
  std::size_t held_bytes() const noexcept override { return content_.capacity(); }
  bool produce(ContentSink& sink) override {
    constexpr std::size_t piece_bytes = 8 * 1024;
    while (!left_.empty()) {
      const Bytes piece = left_.substr(0, piece_bytes);
      if (!sink.write(piece)) return false;
      left_.remove_prefix(piece.size());
    }
    return true;
  }

 private:
  const Text content_;
  Bytes left_;
};

// Content of at most so many bytes fits a block with its head.
constexpr std::size_t small_content_bytes = 2 * 1024;

// What is scarce is memory for output: the content stays where it is, and goes out as there is
// room.
KATANA_RARE void send_in_pieces(session::Exchange& exchange, Reply& reply) noexcept {
  const auto size = static_cast<std::int64_t>(reply.content().size());
  auto content = std::make_unique<HeldContent>(PreparedReply::take_owned_content(reply));
  PreparedReply::set_source(reply, size, std::move(content));
  send_stream(exchange, reply);
}

void run_after(session::Exchange& exchange, const Route& route, const RequestView& request,
               Reply& reply) {
  for (auto each = route.middleware.rbegin(); each != route.middleware.rend(); ++each) {
    if ((*each)->after) (*each)->after(request, reply);
    if ((*each)->amend) (*each)->amend(request, exchange, reply);
  }
}

// As problem() makes it, but there when nothing else is.
Reply failure() noexcept {
  return {500, "application/problem+json",
          R"({"type":"about:blank","title":"Internal Server Error","status":500,)"
          R"("detail":"The server failed to handle the request."})"};
}

// False: a middleware threw, and the failure is sent.
KATANA_RARE bool survives_after(session::Exchange& exchange, const Route& route,
                                const RequestView& request, Reply& reply) noexcept {
  try {
    run_after(exchange, route, request, reply);
    return true;
  } catch (...) {
    send_failure(exchange);
    return false;
  }
}

// What is special about a reply. False: it is sent already.
KATANA_RARE bool prepare(session::Exchange& exchange, Reply& reply) noexcept {
  if (reply.invalid()) {
    send_failure(exchange);
    return false;
  }
  if (reply.closes()) exchange.close_after_reply();
  if (reply.source() == nullptr) return true;
  send_stream(exchange, reply);
  return false;
}

}  // namespace

void send_reply(session::Exchange& exchange, const Route& route, const RequestView* request,
                Reply&& reply) noexcept {
  if (!route.middleware.empty() && !survives_after(exchange, route, *request, reply)) return;
  if (!reply.is_ordinary() && !prepare(exchange, reply)) return;
  const std::size_t size = reply.content().size();
  if (size > small_content_bytes && !reply.content_stays() && !exchange.takes_whole(size)) {
    send_in_pieces(exchange, reply);
    return;
  }
  exchange.respond({.status = reply.status(),
                    .content_type = reply.content_type(),
                    .fields = reply.fields(),
                    .content_length = http::unknown_length},
                   reply.content(), reply.content_stays());
}

void send_failure(session::Exchange& exchange) noexcept {
  exchange.note_failure();
  if (exchange.reply_begun()) {
    exchange.abort();
    return;
  }
  const Reply reply = failure();
  exchange.respond({.status = reply.status(), .content_type = reply.content_type(), .fields = {}},
                   reply.content(), reply.content_stays());
}

void send_failure(session::Exchange& exchange, const Route& route,
                  const RequestView* request) noexcept {
  if (route.middleware.empty() || exchange.reply_begun()) {
    send_failure(exchange);
  } else {
    exchange.note_failure();
    send_reply(exchange, route, request, failure());
  }
}

void PendingStream::run(Task<void> task) noexcept {
  task_.emplace(std::move(task));
  if (task_->start()) {
    finish();
  } else {
    task_->on_done([](void* self) noexcept { static_cast<PendingStream*>(self)->finish(); }, this);
  }
}

void PendingStream::decode_content(const http::Head& head) {
  if (route_.decoding == nullptr) return;
  // Another coding than one that is known was refused before the handler was called.
  auto decoder = ContentDecoder::make(head, *route_.decoding, route_.content_bytes_max);
  if (decoder) decoder_ = *std::move(decoder);
}

void PendingStream::run_middleware(Reply& reply) {
  run_after(exchange_, route_, request_->view(), reply);
}

void PendingStream::finish() noexcept {
  // What is called here may destroy this object.
  try {
    task_->result();
  } catch (...) {
    fail();
    return;
  }
  if (begun_) {
    end();
  } else {
    fail();
  }
}

void PendingStream::fail() noexcept {
  if (begun_) {
    exchange_.note_failure();
    exchange_.abort();
  } else {
    // Sending destroys this object: the request is kept until then by a copy.
    const std::optional<Request> request = std::move(request_);
    const RequestView* const view = request ? &request->view() : nullptr;
    if (decoder_ != nullptr && decoder_->failed()) {
      send_reply(exchange_, route_, view, decoder_->refusal());
    } else {
      send_failure(exchange_, route_, view);
    }
  }
}

}  // namespace katana::detail
