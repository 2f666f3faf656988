// A service of orders with idempotency keys, and a store that fails, waits or counts as a test
// wants it.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "katana/http/handlers/router.hpp"
#include "katana/http/handlers/streaming.hpp"
#include "katana/identity/auth/principal.hpp"
#include "katana/identity/idempotency/idempotency.hpp"
#include "katana/identity/idempotency/memory_store.hpp"
#include "katana/net/reactor/sleep.hpp"
#include "katana/testing/test_server.hpp"

namespace katana::idempotency {

class TroubledStore final : public Store {
 public:
  explicit TroubledStore(MemoryStoreOptions options = {}) : memory(options) {}
  std::string words() const override { return "troubled"; }
  Task<Result<Claimed>> claim(Claim claim, Duration lease) override {
    co_await net::sleep_for(claim_takes);
    if (claims_fail) co_return fail(Code::unavailable, "no such host");
    last_lease = lease;
    Result<Claimed> claimed = co_await memory.claim(claim, lease);
    co_await net::sleep_for(claims_late);
    if (claimed && !claimed->reply.empty() && !garbage.empty()) claimed->reply = garbage;
    co_return claimed;
  }
  Task<Result<bool>> keep(Claim claim, std::string reply, Duration kept) override {
    co_await net::sleep_for(keep_takes);
    if (keeps_fail) co_return fail(Code::unavailable, "no such host");
    if (loses_keys) co_return false;
    if (keeps_throw) throw std::runtime_error("thrown by keep()");
    co_return co_await memory.keep(claim, std::move(reply), kept);
  }
  Task<Result<void>> release(Claim claim) override {
    if (releases_fail) co_return fail(Code::unavailable, "no such host");
    co_return co_await memory.release(claim);
  }

  MemoryStore memory;
  Duration claim_takes = {}, keep_takes = {}, last_lease = {};
  Duration claims_late = {};  // delay of the answer after a claim
  std::string garbage = {};   // stands in place of kept replies
  bool claims_fail = false, keeps_fail = false, keeps_throw = false, releases_fail = false;
  bool loses_keys = false;  // loses to another request before the reply is kept
};

class OrdersTest : public ::testing::Test {
 protected:
  // The reply of the handler. Its body has the number of calls.
  Reply order() {
    ++calls;
    if (throws) throw std::runtime_error("thrown by the handler");
    Reply reply = Reply::json(format_text(R"({{"order":{}}})", calls));
    reply.set_status(status).add_field("Location", "/orders/1");
    if (!cookie.empty()) reply.add_field("Set-Cookie", cookie);
    if (content_bytes > 0) return Reply(200, "text/plain", Text(std::string(content_bytes, 'x')));
    return reply;
  }
  Task<Reply> slow_order() {
    ++begun;
    if (takes > Duration{}) co_await net::sleep_for(takes);
    co_return order();
  }
  // Waits in the middleware in front of the keys, and behind them.
  Task<void> pass(Duration takes_here) {
    if (takes_here > Duration{}) co_await net::sleep_for(takes_here);
  }
  void add_routes(Router& router, const Middleware& with_keys) {
    router.use(Middleware{.after = [this](const RequestView&, Reply& reply) {
      ++after;
      reply.add_field("X-After", "once");
    }});
    Group group = router.group("");
    if (options.scope == Scope::principal) {
      group.use([](const RequestView& request) {
        return auth::Principal({.id = std::string(request.field("x-user").value_or("ann")),
                                .issuer = std::string(request.field("x-issuer").value_or(""))});
      });
    }
    if (front_takes > Duration{}) group.use([this] { return pass(front_takes); });
    group.use(with_keys);
    if (behind_takes > Duration{}) group.use([this] { return pass(behind_takes); });
    group.post("/sized", [this](Request request) -> Task<Reply> {
      ++begun;
      co_await net::sleep_for(takes);
      ++calls;
      co_return Reply::text(format_text("{}", request.content().size()));
    });
    group.post("/invalid", [this](const RequestView&) {
      ++calls;
      return Reply(201).with("no name", "x");
    });
    group.post("/orders", [this] { return slow_order(); });
    group.post("/other", [this] { return slow_order(); });
    group.post("/items/{id}", [this](Path<int>) { return slow_order(); });
    group.get("/orders", [this] { return slow_order(); });
    group.post("/plain", [this](const RequestView&) { return order(); });
    group.post("/stream", [this](const RequestView&) {
      ++calls;
      return Reply::stream("text/plain", 1, [](ContentSink& sink) { return sink.write("x"); });
    });
    group.post("/pieces", [this](Request, ReplyWriter writer) -> Task<void> {
      ++calls;
      writer.begin(200, "text/plain");
      co_await writer.write("piece");
    });
    group.post("/held-pieces", [this](Request, ReplyWriter) -> Task<void> {
      ++begun;
      co_await net::sleep_for(seconds(10));
    });
    group.post("/self", [](FromContext<IdempotentRequest> request) {
      request->note_kept();
      return Reply::text(format_text("{} ms", request->kept().count_ms()));
    });
    group.post("/key", [](FromContext<IdempotentRequest> request) {
      return Reply::text(Text(request->has_key() ? "key" : "none"));
    });
  }
  testing::TestServer& server() {
    if (server_) return *server_;
    Router router;
    auto made = Idempotency::make(options, store);
    EXPECT_TRUE(made) << made.error().describe();
    keys.emplace(*made);
    add_routes(router, keys->middleware());
    return server_.emplace(std::move(router).build(), server_options);
  }
  static testing::TestFields with_key(std::string key) {
    return {{"Idempotency-Key", std::move(key)}};
  }
  testing::TestReply post(std::string_view target = "/orders", std::string key = "\"k\"",
                          std::string_view content = "{}") {
    return server().post(target, content, with_key(std::move(key)));
  }
  Statistics statistics() { return keys->statistics(); }
  // Stops the server, and sets the counters to 0.
  void reset() {
    server_.reset();
    calls = begun = after = 0;
  }

  Options options;
  testing::TestOptions server_options;
  std::shared_ptr<TroubledStore> store = std::make_shared<TroubledStore>();
  std::optional<Idempotency> keys;
  unsigned status = 201;
  std::string cookie;
  Duration takes = {}, front_takes = {}, behind_takes = {};
  bool throws = false;
  std::size_t content_bytes = 0;
  int calls = 0, begun = 0, after = 0;

 private:
  std::optional<testing::TestServer> server_;
};

}  // namespace katana::idempotency

// SPDX-License-Identifier: Apache-2.0
