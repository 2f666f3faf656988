// FakeExchange: a request and its reply without a connection; JSON: a strict reader of objects.
//
// Owns       the bytes of the request. It overwrites them as soon as a connection would have reused
//            them.
// Thread     one.
// Allocates  nothing while a request is served: a test can count the allocations of a handler.
// Fails      by failing the test: two replies, or a call that an exchange does not allow.
// Invariant  the reply ends as on a connection. A held object is destroyed at once when the reply
//            comes from outside of a call, otherwise after the call.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <coroutine>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/text/utf8.hpp"
#include "katana/http/handlers/dispatcher.hpp"
#include "katana/http/session/exchange.hpp"
#include "katana/net/reactor/reactor.hpp"
#include "katana/wire/http/url.hpp"

namespace katana {

// "/a/{x}/{y}", with a mark on each parameter that the handler does not take.
template <class F>
std::string_view pattern_for() {
  using Parameters = typename detail::Signature<F>::Parameters;
  constexpr std::size_t taken = detail::path_count<Parameters>;
  constexpr bool asks =
      detail::has_parameter<Parameters, RequestView> || detail::has_parameter<Parameters, Request>;
  if (taken == 2 || (taken == 0 && asks)) return "/a/{x}/{y}";
  return taken == 1 ? "/a/{x}/{_y}" : "/a/{_x}/{_y}";
}

class FakeExchange final : public session::Exchange {
 public:
  // `fields`: lines "name: value" that end with "\n".
  explicit FakeExchange(std::string_view method, std::string_view target,
                        std::string_view fields = {}) {
    core_.handler_deadline = Instant{never.ns - 1};  // there is no clock
    text_.reserve(4096);
    content_sent.reserve(64 * 1024);
    fields_sent.reserve(4096);
    type_sent.reserve(256);
    text_.append(method).append(" ").append(target).append(" HTTP/1.1\r\n");
    request_.begin(text_.data());
    const auto target_at = static_cast<std::uint16_t>(method.size() + 1);
    const auto slice = [](std::size_t at, std::size_t size) {
      return http::Slice{static_cast<std::uint16_t>(at), static_cast<std::uint16_t>(size)};
    };
    const http::Method known = http::method_from(method);
    request_.set_request_line(known, slice(0, method.size()), slice(target_at, target.size()), 1);
    request_.set_target_is_plain(target.starts_with('/') && http::is_normal_path(target) &&
                                 target.find('?') == Bytes::npos && known != http::Method::connect);
    for (std::size_t end; (end = fields.find('\n')) != Bytes::npos; fields.remove_prefix(end + 1)) {
      const std::size_t colon = fields.find(": ");
      request_.add_field(slice(text_.size(), colon),
                         slice(text_.size() + colon + 2, end - colon - 2));
      text_.append(fields.substr(0, end)).append("\r\n");
    }
    text_.append("\r\n");
    request_.set_bytes(text_.size());
  }

  // ---- what a test does ----

  // Gives the request this body, which is there as soon as the handler asks for it.
  FakeExchange& with_content(std::string text) {
    content_text_ = std::move(text);
    return *this;
  }
  // The request has a body that has not arrived yet.
  FakeExchange& awaiting_content(std::optional<std::uint64_t> length = std::nullopt) {
    core_.content_pending = true;
    length_ = length;
    return *this;
  }
  void serve(session::RequestHandler& handler) {
    handler_ = &handler;
    core_.content_pending = core_.content_pending || !content_text_.empty();
    call([&] {
      handler.on_request(*this, request_);
      if (content_text_.empty() || !collect_max || !core_.content_pending) return;
      core_.content_pending = false;
      handler.on_content_collected(*this, request_, content_text_);
    });
    if (!completed) scramble();
  }
  // Delivers the complete body that the handler asked for.
  void collected(std::string text) {
    ASSERT_TRUE(collect_max.has_value());
    content_text_ = std::move(text);
    core_.content_pending = false;
    call([&] { handler_->on_content_collected(*this, request_, content_text_); });
    std::ranges::fill(content_text_, '\xee');
    if (!completed) scramble();
  }
  // Delivers a piece of a streamed body. Returns false if the handler wants no more at present.
  bool streamed(std::string piece, bool last) {
    bool wanted = false;
    call([&] { wanted = core_.pending != nullptr && core_.pending->on_content(piece, last); });
    std::ranges::fill(piece, '\xee');
    return wanted;
  }
  // The client took the pending bytes: there is room for `bytes` again.
  void make_writable(std::size_t bytes) {
    capacity = bytes;
    if (core_.pending != nullptr) call([&] { core_.pending->on_writable(); });
  }
  const http::Head& head() const { return request_; }
  void cancel() {
    core_.stop_work(held);
    core_.leave(held, {});
  }
  bool holds() const { return core_.pending != nullptr; }
  std::size_t pending_bytes() const {
    return core_.pending != nullptr ? core_.pending->held_bytes() : 0;
  }

  // ---- what a test sees ----
  unsigned status = 0;
  const net::PeerCertificate* certificate = nullptr;
  std::string type_sent, fields_sent, content_sent;
  std::int64_t length_announced = http::unknown_length;
  bool content_stays = false;
  bool begun = false;      // by begin_reply(), and not ended
  bool completed = false;  // there is one whole reply
  bool aborted = false;
  bool closes = false;
  int failures = 0;
  // The failures that were reported.
  struct Failed final : FailureObserver {
    void on_failure(const Failure& failure) noexcept override {
      lines.push_back(describe(failure));
      severity = failure.severity;
    }
    std::vector<std::string> lines;
    Severity severity = Severity::error;
  } failed;
  int content_wishes = 0;  // calls of want_content()
  std::optional<std::uint64_t> collect_max, stream_max;
  std::size_t capacity = SIZE_MAX;  // that write() has
  net::Reactor* on = nullptr;       // returned by reactor()
  HeldMemory held{std::size_t{64} * 1024 * 1024};
  engine::PeerEndpoint peer_{
      .address = {192, 0, 2, 1}, .port = 1000, .family = engine::PeerEndpoint::Family::v4};
  bool is_secure_ = false;
  std::shared_ptr<const session::ProxyTrust> trust_;
  int forwardings_malformed = 0;
  engine::Listener listener_ = 0;

  // ---- Exchange ----
  bool answers_head() const noexcept override { return request_.method() == http::Method::head; }
  std::optional<std::uint64_t> content_length() const noexcept override { return length_; }
  net::Reactor& reactor() noexcept override {
    if (on == nullptr) std::abort();  // the test did not say which
    return *on;
  }
  HeldMemory& memory() noexcept override { return held; }
  engine::PeerAddress peer() noexcept override { return peer_.text(); }
  session::Arrival arrival() noexcept override { return {peer_, is_secure_, trust_}; }
  void note_forwarding_malformed() noexcept override { ++forwardings_malformed; }
  const net::PeerCertificate* peer_certificate() override { return certificate; }
  engine::Listener listener() noexcept override { return listener_; }
  const net::ConnectionCounters& connection_counters() noexcept override { return counters_; }
  void collect_content(std::uint64_t bytes_max) override {
    EXPECT_TRUE(core_.content_pending);
    collect_max = bytes_max;
  }
  void stream_content(std::uint64_t bytes_max) override {
    EXPECT_TRUE(core_.content_pending);
    EXPECT_NE(core_.pending, nullptr);
    stream_max = bytes_max;
  }
  void want_content() noexcept override { ++content_wishes; }
  void defer_request() override {
    EXPECT_NE(core_.pending, nullptr);
    deferred_ = true;
  }
  void resume_request() noexcept override {
    EXPECT_TRUE(deferred_) << "nothing was deferred";
    deferred_ = false;
    call([&] {
      handler_->on_resumed(*this, request_);
      if (content_text_.empty() || !collect_max || !core_.content_pending) return;
      core_.content_pending = false;
      handler_->on_content_collected(*this, request_, content_text_);
    });
    if (!completed) scramble();
  }
  void respond(const http::ReplyHead& head, Bytes content, bool stays) noexcept override {
    EXPECT_FALSE(completed || begun || aborted) << "a second reply";
    note_head(head);
    content_sent.assign(content);
    content_stays = stays;
    complete();
  }
  void begin_reply(const http::ReplyHead& head) noexcept override {
    EXPECT_FALSE(completed || begun) << "a second reply";
    note_head(head);
    begun = true;
  }
  bool write(Bytes content) noexcept override {
    EXPECT_TRUE(begun) << "content without a head";
    if (content.size() > capacity) return false;
    if (capacity != SIZE_MAX) capacity -= content.size();
    content_sent.append(content);
    if (length_announced >= 0) {
      EXPECT_LE(content_sent.size(), static_cast<std::size_t>(length_announced));
    }
    return true;
  }
  void end_reply() noexcept override {
    EXPECT_TRUE(begun);
    begun = false;
    complete();
  }
  bool reply_begun() const noexcept override { return begun; }
  void close_after_reply() noexcept override { closes = true; }
  void abort() noexcept override {
    EXPECT_FALSE(aborted);
    aborted = true;
  }
  void note_failure() noexcept override { ++failures; }
  FailureObserver* failure_observer() noexcept override { return &failed; }

 private:
  Duration handler_time() const noexcept override { return seconds(30); }
  template <class Action>
  void call(Action&& action) {
    in_call_ = true;
    action();
    in_call_ = false;
    if (completed || aborted) cancel();
  }
  void complete() noexcept {
    completed = true;
    if (!in_call_) cancel();
  }
  void note_head(const http::ReplyHead& head) noexcept {
    status = head.status;
    type_sent.assign(head.content_type);
    fields_sent.assign(head.fields);
    length_announced = head.content_length;
  }
  // The call has ended: the connection's bytes may be overwritten.
  void scramble() {
    // A connection keeps the head while it collects a body, and for a deferred request.
    if (core_.content_pending || deferred_) return;
    std::ranges::fill(text_, '\xee');
    std::ranges::fill(content_text_, '\xee');
  }

  std::string text_;
  std::string content_text_;
  http::Head request_;
  net::ConnectionCounters counters_;
  std::optional<std::uint64_t> length_;
  session::RequestHandler* handler_ = nullptr;
  bool in_call_ = false;
  bool deferred_ = false;
};

// A reactor that stands still: a test sets its time.
class StillReactor : public net::Reactor {
 public:
  StillReactor() : net::Reactor({}, Instant{seconds(1'000).ns}) { wall_clock_s_ = 1'700'000'000; }
  void pass(Duration time) {
    now_ = now_ + time;
    wall_clock_s_ += time.ns / 1'000'000'000;
  }
  void set_wall_clock(std::int64_t unix_seconds) { wall_clock_s_ = unix_seconds; }

  net::MemoryBudget memory_budget() const noexcept override { return {}; }
  net::MemoryBudget memory_used() const noexcept override { return {}; }
  Result<void> start() override { return {}; }
  Result<void> listen(const engine::ListenOptions&, net::Protocol&) override { return {}; }
  std::uint16_t port(engine::Listener) const override { return 0; }
  Result<void> watch(int, engine::Readiness, engine::Watcher&) override { return {}; }
  void unwatch(int) override {}
  void turn(Duration) override {}

 private:
  void wake_engine() noexcept override {}
  bool drained() const noexcept override { return true; }
};

// The members of a JSON object (RFC 8259) of strings and numbers; numbers as they are written.
// Empty for a text that is not exactly such an object.
class JsonObject {
 public:
  static std::optional<std::map<std::string, std::string>> parse(Bytes text) {
    JsonObject reader{text};
    std::map<std::string, std::string> members;
    if (!reader.take('{')) return std::nullopt;
    for (bool more = !reader.take('}'); more; more = reader.take(',')) {
      const auto name = reader.string();
      if (!name || !reader.take(':')) return std::nullopt;
      const auto value = reader.rest_.starts_with('"') ? reader.string() : reader.number();
      if (!value || !members.emplace(*name, *value).second) return std::nullopt;
      if (reader.rest_.starts_with('}')) break;
    }
    if (!members.empty() && !reader.take('}')) return std::nullopt;
    return reader.rest_.empty() ? std::optional(members) : std::nullopt;
  }

 private:
  explicit JsonObject(Bytes text) : rest_(text) {}

  bool take(char expected) {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::optional<std::string> number() {
    const std::size_t end = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
    if (end == 0 || (end > 1 && rest_[0] == '0')) return std::nullopt;
    std::string digits(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return digits;
  }
  std::optional<std::string> string() {
    if (!take('"')) return std::nullopt;
    std::string value;
    while (!rest_.empty() && rest_[0] != '"') {
      const char c = rest_[0];
      const std::size_t length = utf8_length(rest_);
      if (length == 0 || (length == 1 && c < 0x20)) return std::nullopt;
      if (c != '\\') value.append(rest_.substr(0, length));
      rest_.remove_prefix(length);
      if (c == '\\' && !escape(value)) return std::nullopt;
    }
    return take('"') ? std::optional(value) : std::nullopt;
  }
  bool escape(std::string& value) {
    static constexpr std::string_view names = "\"\\/bfnrt", values = "\"\\/\b\f\n\r\t";
    if (rest_.empty()) return false;
    if (const std::size_t at = names.find(rest_[0]); at != Bytes::npos) {
      value.push_back(values[at]);
      rest_.remove_prefix(1);
      return true;
    }
    if (rest_[0] != 'u' || rest_.size() < 5) return false;
    const std::string digits(rest_.substr(1, 4));
    if (digits.find_first_not_of("0123456789abcdefABCDEF") != Bytes::npos) return false;
    const unsigned long code = std::stoul(digits, nullptr, 16);
    if (code > 0x7f) return false;  // stricter than needed: the rest is written as it is
    value.push_back(static_cast<char>(code));
    rest_.remove_prefix(5);
    return true;
  }

  Bytes rest_;
};

// An awaitable that a test opens. It withdraws when its coroutine is destroyed.
class Gate {
 public:
  bool waiting() const { return static_cast<bool>(waiting_); }
  void open() { std::exchange(waiting_, nullptr).resume(); }

  struct Awaiter {
    Gate& gate;
    bool suspended = false;
    explicit Awaiter(Gate& given) noexcept : gate(given) {}
    Awaiter(const Awaiter&) = delete;
    ~Awaiter() {
      if (suspended) gate.waiting_ = nullptr;
    }
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> handle) noexcept {
      suspended = true;
      gate.waiting_ = handle;
    }
    void await_resume() noexcept { suspended = false; }
  };
  Awaiter operator co_await() noexcept { return Awaiter(*this); }

 private:
  std::coroutine_handle<> waiting_;
};

// Counts its instances.
struct Counted {
  explicit Counted(int& given) : count(&given) { ++*count; }
  Counted(const Counted& other) : count(other.count) { ++*count; }
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --*count; }
  int* count;
};

// A service of these routes.
template <class AddRoutes>
Service make_service(AddRoutes&& add_routes) {
  Router router;
  add_routes(router);
  Result<Service> service = std::move(router).build();
  EXPECT_TRUE(service) << (service ? "" : service.error().describe());
  return *std::move(service);
}

// A service of the routes that a test adds, and the latest exchange.
class ServiceTest : public ::testing::Test {
 protected:
  template <class AddRoutes>
  void add_routes(AddRoutes&& add) {
    service_.emplace(make_service(add));
    dispatcher_.emplace(*service_);
  }
  Dispatcher& dispatcher() { return *dispatcher_; }
  FakeExchange& send(std::string_view method, std::string_view target,
                     std::string_view fields = {}) {
    exchange_ = std::make_unique<FakeExchange>(method, target, fields);
    exchange_->serve(*dispatcher_);
    return *exchange_;
  }

  std::unique_ptr<FakeExchange> exchange_;
  Gate gate_;
  int alive_ = 0;
  std::optional<Service> service_;
  std::optional<Dispatcher> dispatcher_;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
