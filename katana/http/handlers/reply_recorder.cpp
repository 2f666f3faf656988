#include "katana/http/handlers/reply_recorder.hpp"

#include <exception>
#include <optional>
#include <utility>

#include "katana/http/handlers/handler.hpp"
#include "katana/http/handlers/request_context.hpp"
#include "katana/net/reactor/timeout.hpp"

namespace katana::detail {

// g++ 12 copies an awaiter into the frame, and HandlerRun is abstract.
struct HandlerRunAwaiter {
  HandlerRun* run;
  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiting) const noexcept {
    return run->await_suspend(waiting);
  }
  Reply await_resume() const { return run->await_resume(); }
  void visit_tasks(TaskVisitor& visitor) const { (void)visitor.visit(run->state()); }
};

Task<Reply> reply_of(std::unique_ptr<HandlerRun> run) {
  const HandlerRunAwaiter awaiter{run.get()};
  co_return co_await awaiter;
}

// The destination of a reply, for as long as the reply waits.
struct Recipient {
  session::Exchange* exchange;  // null: it has ended
  const Route& route;
  std::optional<Request> request;
  std::optional<Reply> reply;
};

namespace {

// The object in the exchange while the reply waits.
class WaitingRecipient final : public session::Pending {
 public:
  explicit WaitingRecipient(std::shared_ptr<Recipient> recipient) noexcept
      : recipient_(std::move(recipient)) {}
  ~WaitingRecipient() override {
    recipient_->exchange = nullptr;
    recipient_->request.reset();  // only the middleware needs it
  }

  // The handler that runs alone continues to its end; its reply is recorded but not sent.
  bool refuse(unsigned status, Bytes detail) noexcept override {
    session::Exchange* const exchange = std::exchange(recipient_->exchange, nullptr);
    if (exchange == nullptr || !recipient_->request) return false;
    send_refusal(*exchange, recipient_->route, recipient_->request->view(), status, detail);
    return true;
  }

 private:
  const std::shared_ptr<Recipient> recipient_;
};

RequestContext* context_of(session::Exchange& exchange) noexcept {
  return static_cast<RequestContext*>(exchange.kept());
}

std::shared_ptr<Recipient> hold_recipient(session::Exchange& exchange, const Route& route,
                                          Request request) {
  auto recipient = std::make_shared<Recipient>(&exchange, route, std::move(request), std::nullopt);
  exchange.hold(std::make_unique<WaitingRecipient>(recipient));
  return recipient;
}

// For a time when there is a reply and the handler has ended.
std::size_t held_bytes(const Recipient& recipient) noexcept {
  std::size_t bytes = session::frame_bytes_counted;
  if (recipient.request) bytes += recipient.request->held_bytes();
  if (recipient.reply && !recipient.reply->content_stays()) {
    bytes += recipient.reply->content().size();
  }
  return bytes;
}

// Sending ends the exchange: the request is kept until then.
void send(Recipient& to, const std::exception_ptr& thrown) noexcept {
  if (to.exchange == nullptr) return;
  session::Exchange& exchange = *to.exchange;
  const ActivityScope scope(exchange.context());
  const std::optional<Request> request = std::move(to.request);
  if (thrown == nullptr) {
    send_reply(exchange, to.route, &request->view(), *std::move(to.reply));
    return;
  }
  try {
    std::rethrow_exception(thrown);
  } catch (...) {
    send_failure(exchange, to.route, &request->view());
  }
}

Result<void> is_late(const Recipient& recipient) {
  if (recipient.exchange != nullptr) return {};  // the exchange reports it
  return fail(Code::deadline_exceeded,
              "the handler did not answer in time, and its client is gone");
}

}  // namespace

Task<Result<void>> record_and_send(std::shared_ptr<Recipient> to,
                                   std::unique_ptr<ReplyRecorder> recorder, HeldCharge charge) {
  charge.set(held_bytes(*to));
  Result<void> recorded;
  std::exception_ptr thrown;
  try {
    recorded = co_await recorder->record(*to->reply, !to->reply->is_streamed());
  } catch (...) {
    thrown = std::current_exception();
  }
  send(*to, nullptr);
  if (thrown != nullptr) std::rethrow_exception(thrown);
  co_return recorded;
}

Task<Result<void>> run_alone(std::shared_ptr<Recipient> to, std::unique_ptr<ReplyRecorder> recorder,
                             HeldCharge charge, Task<Reply> handler, Duration time) {
  recorder->note_begun();
  std::exception_ptr thrown;
  bool was_heard = true;
  try {
    Result<Reply> made = co_await net::with_timeout(std::move(handler), time);
    if (!made) co_return is_late(*to);
    to->reply = *std::move(made);
  } catch (...) {
    thrown = std::current_exception();
    to->reply.emplace(500);
  }
  charge.set(held_bytes(*to));
  Result<void> recorded;
  std::exception_ptr unrecorded;
  try {
    recorded = co_await recorder->record(*to->reply, !to->reply->is_streamed());
  } catch (...) {
    unrecorded = std::current_exception();
  }
  was_heard = to->exchange != nullptr;
  send(*to, thrown);
  if (thrown != nullptr && !was_heard) std::rethrow_exception(thrown);
  if (unrecorded != nullptr) std::rethrow_exception(unrecorded);
  co_return recorded;
}

Task<Result<void>> record_alone(std::unique_ptr<ReplyRecorder> recorder, Reply head) {
  co_return co_await recorder->record(head, false);
}

bool has_recorder(session::Exchange& exchange) noexcept {
  const RequestContext* const context = context_of(exchange);
  return context != nullptr && context->recorder != nullptr;
}

void note_begun(session::Exchange& exchange) noexcept {
  if (has_recorder(exchange)) context_of(exchange)->recorder->note_begun();
}

bool record_first(session::Exchange& exchange, const Route& route, const RequestView& request,
                  Reply& reply) noexcept {
  if (!has_recorder(exchange)) return false;
  std::unique_ptr<ReplyRecorder> recorder = std::move(context_of(exchange)->recorder);
  recorder->note_begun();
  std::shared_ptr<Recipient> recipient;
  try {
    recipient = hold_recipient(exchange, route, Request(request));
    recipient->reply = std::move(reply);
    auto task = record_and_send(recipient, std::move(recorder), exchange.work_charge());
    const Result<void> spawned = exchange.spawn(std::move(task), route.mark.name);
    if (spawned) return true;
    exchange.report_failure({.what = "a reply is sent that nothing was kept of",
                             .error = &spawned.error(),
                             .severity = Severity::warning});
  } catch (...) {
    exchange.report_failure({.what = "a reply is sent that nothing was kept of",
                             .exception = std::current_exception()});
  }
  if (recipient != nullptr && recipient->reply) reply = *std::move(recipient->reply);
  return false;
}

void record_head(session::Exchange& exchange, const Route& route, const Reply& head) noexcept {
  if (!has_recorder(exchange)) return;
  std::unique_ptr<ReplyRecorder> recorder = std::move(context_of(exchange)->recorder);
  try {
    auto task = record_alone(std::move(recorder), head.copy_of_head());
    (void)exchange.spawn(std::move(task), route.mark.name);
  } catch (...) {
    exchange.report_failure(
        {.what = "nothing was kept of a reply", .exception = std::current_exception()});
  }
}

void serve_alone(session::Exchange& exchange, const Route& route, const RequestView& request,
                 const Suspended& suspended, std::unique_ptr<HandlerRun> handler) {
  RequestContext& context = *context_of(exchange);
  std::unique_ptr<ReplyRecorder> recorder = std::move(context.recorder);
  const Duration time = exchange.handler_due() - exchange.reactor().now();
  Request kept = suspended.for_middleware(request);
  HeldCharge charge = exchange.work_charge();
  const std::size_t bytes =
      session::frame_bytes_counted + suspended.bytes + suspended.more_bytes(kept);
  if (!exchange.reactor().tasks().takes() || !charge.grow(bytes)) {
    recorder->give_up(exchange.share());
    send_reply(exchange, route, &request, refuse_for_memory());
    return;
  }
  const std::shared_ptr<Recipient> recipient = hold_recipient(exchange, route, std::move(kept));
  auto task = run_alone(recipient, std::move(recorder), std::move(charge),
                        reply_of(std::move(handler)), time);
  (void)exchange.spawn(std::move(task), route.mark.name);
  if (recipient->exchange != nullptr) context.drop_content();  // the handler has its parameters
}

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
