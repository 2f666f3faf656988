#include "katana/http/handlers/handler.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "katana/base/system/hints.hpp"
#include "katana/base/text/format.hpp"
#include "katana/http/handlers/error_page.hpp"
#include "katana/http/handlers/framework_problems.hpp"
#include "katana/http/handlers/personal_reply.hpp"
#include "katana/http/handlers/request_context.hpp"
#include "katana/http/handlers/router.hpp"
#include "katana/http/handlers/whole_content.hpp"
#include "katana/net/reactor/reactor.hpp"

namespace katana::detail {
namespace {

// Runs a ContentSource until everything is produced.
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
      fail(std::current_exception());
    }
    producing_ = false;
    produce();
  }

  void produce() noexcept {
    if (producing_) return;  // the source woke itself, and is about to be asked
    bool done = false;
    producing_ = true;
    try {
      done = !failed_ && source_->produce(*this);
    } catch (...) {
      fail(std::current_exception());
    }
    producing_ = false;
    if (failed_) {
      exchange_.report_failure({.what = thrown_ != nullptr
                                            ? Bytes("the source of a streamed reply threw")
                                            : Bytes("a streamed reply is longer than it announced"),
                                .exception = thrown_});
      exchange_.abort();
    } else if (done) {
      exchange_.end_reply();  // which may destroy this object
    }
  }
  void on_writable() noexcept override { produce(); }
  void on_drain() noexcept override { source_->drain(); }
  std::size_t held_bytes() const noexcept override { return source_->held_bytes(); }

 private:
  void fail(std::exception_ptr thrown) noexcept {
    failed_ = true;
    thrown_ = std::move(thrown);
  }
  void wake() noexcept override { produce(); }
  void set_patient() noexcept override { exchange_.set_patient(); }
  net::Reactor& reactor() noexcept override { return exchange_.reactor(); }
  bool write(Bytes content) noexcept override {
    // The client would take content beyond the announced length for the next reply.
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
  std::exception_ptr thrown_;
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

// Returns whether the stated length fits `bytes_max`: the smaller limit of the server was then
// exceeded.
bool is_within(const RequestView& request, std::uint64_t bytes_max) noexcept {
  const std::optional<Bytes> given = request.field("Content-Length");
  std::uint64_t length = 0;
  if (!given) return false;
  const char* const end = given->data() + given->size();
  return std::from_chars(given->data(), end, length).ptr == end && length <= bytes_max;
}

// States the limit of the route: the client learns how much it may send.
KATANA_RARE Reply too_large(const Route& route, const RequestView& request, Bytes detail) {
  const std::uint64_t most = route.content_bytes_max;
  if (most == 0 || is_within(request, most)) return refusal_problem(413, detail);
  constexpr std::uint64_t kibi = 1024;
  const char* unit = most == 1 ? "byte" : "bytes";
  std::uint64_t count = most;
  for (const char* const larger : {"KiB", "MiB", "GiB", "TiB"}) {
    if (count % kibi != 0) break;
    count /= kibi;
    unit = larger;
  }
  std::array<char, 80> text;
  const auto end =
      fmt::format_to_n(text.data(), text.size(),
                       "The body is too large for this route: at most {} {}.", count, unit);
  return refusal_problem(413, Bytes(text.data(), end.size));
}

// Sends a reply for which there is no output memory: its content stays in place, and is written as
// there is room.
KATANA_RARE void send_in_pieces(session::Exchange& exchange, Reply& reply) noexcept {
  const auto size = static_cast<std::int64_t>(reply.content().size());
  constexpr std::size_t piece_bytes = 8 * 1024;
  auto content = std::make_unique<WholeContent>(PreparedReply::take_owned_content(reply), Bytes(),
                                                piece_bytes);
  PreparedReply::set_source(reply, size, std::move(content));
  send_stream(exchange, reply);
}

void run_after(session::Exchange& exchange, const Route& route, const RequestView& request,
               Reply& reply) {
  for (auto each = route.middleware.rbegin(); each != route.middleware.rend(); ++each) {
    if ((*each)->after) (*each)->after(request, reply);
    if ((*each)->amend) (*each)->amend(request, exchange, reply);
  }
  restrict_sharing(exchange, reply);
}

// The same as problem() makes, but available when there is no memory.
Reply failure() noexcept {
  return {
      500, "application/problem+json",
      R"({"type":"urn:katana:problem:internal-error","title":"Internal Server Error","status":500,)"
      R"("detail":"The server failed to handle the request."})"};
}

void answer_failure(session::Exchange& exchange) noexcept {
  if (exchange.reply_begun()) {
    exchange.abort();
    return;
  }
  const Reply reply = failure();
  exchange.respond({.status = reply.status(), .content_type = reply.content_type(), .fields = {}},
                   reply.content(), reply.content_stays());
}

void report_invalid(session::Exchange& exchange, const Reply& reply) noexcept {
  const std::string mistake = reply.mistake();
  exchange.report_failure({.what = mistake});
}

// For development: shows the chain of causes to the client.
Reply shown_with(session::Exchange& exchange, const RequestView* request, Reply&& reply,
                 const std::string& cause) {
  Reply shown = error_page(exchange, request, reply.status(), cause);
  PreparedReply::append_fields(shown, reply.fields());
  if (reply.closes()) shown.close();
  return shown;
}

// Returns false if the reply is sent later, or if a middleware threw, and the failure is sent.
KATANA_RARE bool passes_middleware(session::Exchange& exchange, const Route& route,
                                   const RequestView& request, Reply& reply) noexcept {
  if (route.has_functions && record_first(exchange, route, request, reply)) return false;
  try {
    run_after(exchange, route, request, reply);
    return true;
  } catch (...) {
    send_failure(exchange, "middleware threw in `after`");
    return false;
  }
}

// Runs before the middleware, too, because that may replace the reply.
KATANA_RARE void report_flaws(session::Exchange& exchange, Reply& reply) noexcept {
  const Error* const cause = reply.cause();
  if ((!reply.invalid() && cause == nullptr) || !PreparedReply::begin_report(reply)) return;
  if (reply.invalid()) report_invalid(exchange, reply);
  if (cause != nullptr) report_cause(exchange, reply.status(), *cause);
}

// Handles an unusual reply. Returns false if the reply was already sent.
KATANA_RARE bool prepare(session::Exchange& exchange, const Route& route,
                         const RequestView* request, Reply& reply) noexcept {
  report_flaws(exchange, reply);
  if (reply.invalid()) {
    answer_failure(exchange);
    return false;
  }
  if (const Error* const cause = reply.cause(); cause != nullptr && route.development) {
    reply = shown_with(exchange, request, std::move(reply), cause->describe());
  }
  if (reply.closes()) exchange.close_after_reply();
  if (reply.source() == nullptr) return true;
  send_stream(exchange, reply);
  return false;
}

}  // namespace

void report_cause(session::Exchange& exchange, unsigned status, const Error& cause) noexcept {
  if (status < 500) return;
  exchange.report_failure({.what = "the handler returned an error",
                           .error = &cause,
                           .severity = status == 500 ? Severity::error : Severity::warning});
}

void send_reply(session::Exchange& exchange, const Route& route, const RequestView* request,
                Reply&& reply) noexcept {
  if (!route.middleware.empty()) {
    if (!reply.is_ordinary()) report_flaws(exchange, reply);
    if (!passes_middleware(exchange, route, *request, reply)) return;
  }
  if (!reply.is_ordinary() && !prepare(exchange, route, request, reply)) return;
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

void send_refusal(session::Exchange& exchange, const Route& route, const RequestView& request,
                  unsigned status, Bytes detail) noexcept {
  try {
    Reply reply =
        status == 413 ? too_large(route, request, detail) : refusal_problem(status, detail);
    // The session ends the exchange with this call: nothing waits for the record.
    if (route.has_functions) record_head(exchange, route, reply);
    send_reply(exchange, route, &request, std::move(reply));
  } catch (...) {
    send_failure(exchange, "a refusal cannot be answered");
  }
}

void send_failure(session::Exchange& exchange, Bytes what) noexcept {
  exchange.report_failure({.what = what, .exception = std::current_exception()});
  answer_failure(exchange);
}

void send_failure(session::Exchange& exchange, const Route& route, const RequestView* request,
                  Bytes what) noexcept {
  const Failure found{.what = what, .exception = std::current_exception()};
  exchange.report_failure(found);
  if (exchange.reply_begun()) {
    answer_failure(exchange);
  } else if (route.development) {
    send_reply(exchange, route, request, shown_with(exchange, request, failure(), describe(found)));
  } else if (route.middleware.empty()) {
    answer_failure(exchange);
  } else {
    send_reply(exchange, route, request, failure());
  }
}

void drop_content(session::Exchange& exchange) noexcept {
  if (exchange.kept() != nullptr) RequestContext::of(exchange).drop_content();
}

Request Suspended::for_middleware(const RequestView& request) const {
  if (owned) return *owned;
  return Request(RequestView(request.head(), request.path(), request.query(), request.parameters(),
                             {}, request.source()));
}

Reply refuse_for_memory() {
  return problem(problem_types::memory_scarce, session::memory_scarce).with("Retry-After", "1");
}

void PendingStream::run(const RequestView& request, const Suspended& suspended,
                        Task<void> task) noexcept {
  bytes_ = suspended.bytes;
  if (needs_request(route_)) {
    request_.emplace(suspended.for_middleware(request));
    bytes_ += suspended.more_bytes(*request_);
  }
  if (route_.has_functions) {
    note_begun(exchange_);
    drop_content(exchange_);
  }
  task_.emplace(std::move(task));
  if (task_->start()) {
    finish();
  } else {
    task_->on_done([](void* self) noexcept { static_cast<PendingStream*>(self)->finish(); }, this);
    listed_.emplace(task_->state(), exchange_.context());
  }
}

void PendingStream::decode_content(const http::Head& head) {
  if (route_.decoding == nullptr) return;
  // An unknown coding was refused before the handler was called.
  auto decoder = ContentDecoder::make(head, *route_.decoding, route_.content_bytes_max);
  if (decoder) decoder_ = *std::move(decoder);
}

bool PendingStream::refuse(unsigned status, Bytes detail) noexcept {
  if (begun_ || !has_middleware_) return false;
  listed_.reset();
  task_.reset();
  const std::optional<Request> request = std::move(request_);
  send_refusal(exchange_, route_, request->view(), status, detail);
  return true;
}

void PendingStream::run_middleware(Reply& reply) {
  if (route_.has_functions) record_head(exchange_, route_, reply);
  run_after(exchange_, route_, request_->view(), reply);
}

void PendingStream::finish() noexcept {
  // A call from here may destroy this object.
  try {
    task_->result();
  } catch (...) {
    fail();
    return;
  }
  if (begun_) {
    end();
  } else if (reply_) {
    // Sending destroys this object: copies keep both until then.
    const std::optional<Request> request = std::move(request_);
    Reply reply = *std::move(reply_);
    send_reply(exchange_, route_, request ? &request->view() : nullptr, std::move(reply));
  } else {
    fail();
  }
}

// Called in the catch block of an exception, or without one.
void PendingStream::fail() noexcept {
  const Bytes what = std::current_exception() != nullptr
                         ? Bytes("the handler threw")
                         : Bytes("the handler ended without a reply");
  if (begun_) {
    exchange_.report_failure({.what = what, .exception = std::current_exception()});
    exchange_.abort();
  } else {
    // Sending destroys this object: a copy keeps the request until then.
    const std::optional<Request> request = std::move(request_);
    const RequestView* const view = request ? &request->view() : nullptr;
    if (decoder_ != nullptr && decoder_->failed()) {
      send_reply(exchange_, route_, view, decoder_->refusal());
    } else {
      send_failure(exchange_, route_, view, what);
    }
  }
}

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
