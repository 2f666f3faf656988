#include "katana/service/handler.hpp"

#include "katana/base/hints.hpp"
#include "katana/service/router.hpp"

namespace katana::detail {
namespace {

// A ContentSource at work, until everything is produced.
class PendingSource final : public session::Pending, private ContentSink {
 public:
  PendingSource(session::Exchange& exchange, std::unique_ptr<ContentSource> source) noexcept
      : exchange_(exchange), source_(std::move(source)) {}

  // True: complete.
  void produce() noexcept {
    bool done = false;
    try {
      done = source_->produce(*this);
    } catch (...) {
      exchange_.note_failure();
      exchange_.abort();
      return;
    }
    if (done) exchange_.end_reply();
  }
  void on_room() noexcept override { produce(); }

 private:
  bool write(Bytes content) noexcept override { return exchange_.write(content); }

  session::Exchange& exchange_;
  std::unique_ptr<ContentSource> source_;
};

void send_stream(session::Exchange& exchange, Reply& reply) noexcept {
  const http::ReplyHead head{.status = reply.status(),
                             .content_type = reply.content_type(),
                             .fields = reply.fields(),
                             .content_length = reply.stream_length()};
  auto owner = std::make_unique<PendingSource>(exchange, std::move(reply.source()));
  PendingSource* const source = owner.get();
  exchange.hold(std::move(owner));
  exchange.begin_reply(head);
  source->produce();
}

// False: a middleware threw, and the failure is sent.
KATANA_RARE bool run_after(session::Exchange& exchange, const Route& route,
                           const RequestView& request, Reply& reply) noexcept {
  try {
    for (auto each = route.middleware.rbegin(); each != route.middleware.rend(); ++each) {
      if ((*each)->after) (*each)->after(request, reply);
    }
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
  if (!route.middleware.empty() && !run_after(exchange, route, *request, reply)) return;
  if (!reply.is_ordinary() && !prepare(exchange, reply)) return;
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
  const Reply reply = problem(500, "The server failed to handle the request.");
  exchange.respond({.status = 500, .content_type = reply.content_type(), .fields = {}},
                   reply.content(), false);
}

void PendingStream::run(Task<void> task) noexcept {
  task_.emplace(std::move(task));
  if (task_->start()) {
    finish();
  } else {
    task_->on_done([](void* self) noexcept { static_cast<PendingStream*>(self)->finish(); }, this);
  }
}

void PendingStream::finish() noexcept {
  // What is called here may destroy this object.
  session::Exchange& exchange = exchange_;
  try {
    task_->result();
  } catch (...) {
    send_failure(exchange);
    return;
  }
  if (exchange.reply_begun()) {
    exchange.end_reply();
  } else {
    send_failure(exchange);
  }
}

}  // namespace katana::detail
