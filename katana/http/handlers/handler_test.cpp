// The forms of handlers that return a complete reply, and the replies of those that fail.
#include "katana/http/handlers/handler.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

#include "katana/http/handlers/exchange_fixture_test.hpp"

namespace katana {
namespace {

class HandlerTest : public ServiceTest {
 protected:
  // Serves `handler` under "/a/{x}/{y}" for any method.
  template <class F>
  void route(F handler) {
    add_routes([&](Router& router) {
      router.any(pattern_for<F>(), std::move(handler), {.content_bytes_max = 100});
    });
  }
  FakeExchange& get(std::string_view target = "/a/1/two?q=3") {
    return send("GET", target, "Host: here\n");
  }
  void expect_failure(const FakeExchange& exchange) {
    EXPECT_EQ(exchange.status, 500u);
    EXPECT_EQ(exchange.failures, 1);
    EXPECT_FALSE(exchange.aborted);
    EXPECT_FALSE(exchange.holds());
    const auto members = JsonObject::parse(exchange.content_sent);
    ASSERT_TRUE(members) << exchange.content_sent;
    EXPECT_EQ(members->at("status"), "500");
    EXPECT_EQ(exchange.content_sent.find("secret"), std::string::npos);
  }
};

struct Q {
  int q = 0;
};
KATANA_DESCRIBE(Q, q)

Reply free_function(Path<int> x) { return Reply::text(format_text("{}", *x)); }
Reply free_function_noexcept() noexcept { return Reply::text("noexcept"); }

// ---- plain ----

TEST_F(HandlerTest, a_plain_function_answers_in_the_call) {
  route(free_function);
  EXPECT_EQ(get().content_sent, "1");
  route(free_function_noexcept);
  EXPECT_EQ(get().content_sent, "noexcept");
  EXPECT_TRUE(exchange_->content_stays);
}

TEST_F(HandlerTest, a_function_object_and_a_std_function_are_handlers_too) {
  struct Object {
    std::string prefix;
    Reply operator()(Path<int> x) const { return Reply::text(format_text("{}{}", prefix, *x)); }
  };
  route(Object{"object "});
  EXPECT_EQ(get().content_sent, "object 1");
  route(std::function<Reply(Path<int>)>(free_function));
  EXPECT_EQ(get().content_sent, "1");
}

TEST_F(HandlerTest, parameters_come_in_any_order_and_by_value_or_reference) {
  route([](const Query<Q>& query, Path<int> x, const RequestView& request, Request owned,
           const Path<std::string>& y) {
    return Reply::text(
        format_text("{} {} {} {} {}", query->q, *x, *y, request.path(), *owned.field("host")));
  });
  EXPECT_EQ(get().content_sent, "3 1 two /a/1/two here");
}

TEST_F(HandlerTest, path_parameters_that_are_marked_as_left_out_need_not_be_taken) {
  route([] { return Reply::text("none"); });
  EXPECT_EQ(get().content_sent, "none");
}

TEST_F(HandlerTest,
       the_first_parameter_that_cannot_be_made_is_answered_and_the_handler_not_called) {
  bool called = false;
  route([&](Query<Q>, Path<int>, Path<int>) {
    called = true;
    return Reply();
  });
  EXPECT_EQ(get("/a/x/y?q=z").status, 400u);
  EXPECT_FALSE(called);
  EXPECT_EQ(exchange_->failures, 0);
  EXPECT_NE(exchange_->content_sent.find("query parameter 'q'"), std::string::npos);
}

TEST_F(HandlerTest, a_result_is_its_reply_or_the_problem_of_its_error) {
  route([](Path<int> x) -> Result<Reply> {
    if (*x == 1) return Reply::text("one");
    return fail(Code::not_found, "only one is here");
  });
  EXPECT_EQ(get().content_sent, "one");
  EXPECT_EQ(get("/a/2/y").status, 404u);
  EXPECT_EQ(JsonObject::parse(exchange_->content_sent)->at("detail"), "only one is here");
  EXPECT_EQ(exchange_->failures, 0);
}

TEST_F(HandlerTest, a_plain_handler_that_throws_is_answered_with_500_and_counted) {
  route([]() -> Reply { throw std::runtime_error("secret"); });
  expect_failure(get());
  route([]() -> Result<Reply> { throw 42; });
  expect_failure(get());
}

TEST_F(HandlerTest, an_invalid_reply_is_answered_with_500_and_counted) {
  route([](Path<std::string>, Path<std::string> y) {
    return Reply::text("secret").with("X-Echo", *y);
  });
  EXPECT_EQ(get("/a/b/fine").fields_sent, "X-Echo: fine\r\n");
  expect_failure(get("/a/b/x%0D%0ASet-Cookie:%20y"));
  EXPECT_EQ(exchange_->fields_sent, "");
  route([] { return Reply(101); });
  expect_failure(get());
}

TEST_F(HandlerTest, a_reply_that_closes_says_so_before_it_is_sent) {
  route([] { return std::move(Reply::text("bye").close()); });
  EXPECT_TRUE(get().closes);
  EXPECT_EQ(exchange_->content_sent, "bye");
}

// ---- content ----

TEST_F(HandlerTest, content_is_collected_for_a_handler_that_takes_the_request) {
  route([](const RequestView& request) { return Reply::text(Text(request.content())); });
  FakeExchange exchange("POST", "/a/1/2");
  exchange.awaiting_content();
  exchange.serve(dispatcher());
  EXPECT_EQ(exchange.collect_max, 100u);
  EXPECT_FALSE(exchange.completed);
  exchange.collected("what was posted");
  EXPECT_EQ(exchange.content_sent, "what was posted");
}

TEST_F(HandlerTest, content_is_collected_for_a_coroutine_that_takes_the_request) {
  route([](Request request) -> Task<Reply> { co_return Reply::text(Text(request.content())); });
  FakeExchange exchange("POST", "/a/1/2");
  exchange.awaiting_content();
  exchange.serve(dispatcher());
  EXPECT_EQ(exchange.collect_max, 100u);
  exchange.collected("what was posted");
  EXPECT_EQ(exchange.content_sent, "what was posted");
}

TEST_F(HandlerTest, content_is_not_waited_for_by_a_handler_that_does_not_want_it) {
  route([](Path<int> x) { return Reply::text(format_text("{}", *x)); });
  FakeExchange exchange("POST", "/a/1/2");
  exchange.awaiting_content();
  exchange.serve(dispatcher());
  EXPECT_FALSE(exchange.collect_max);
  EXPECT_EQ(exchange.content_sent, "1");
}

TEST_F(HandlerTest, content_is_here_when_a_handler_that_takes_it_is_called) {
  route([](const RequestView& request) { return Reply::text(Text(request.content())); });
  FakeExchange exchange("POST", "/a/1/2");
  exchange.with_content("here").serve(dispatcher());
  EXPECT_TRUE(exchange.collect_max);
  EXPECT_EQ(exchange.content_sent, "here");
}

// ---- coroutines ----

TEST_F(HandlerTest, a_coroutine_that_does_not_suspend_answers_in_the_call) {
  route([](Path<int> x) -> Task<Reply> { co_return Reply::text(format_text("{}", *x)); });
  EXPECT_EQ(get().content_sent, "1");
  EXPECT_FALSE(exchange_->holds());
}

TEST_F(HandlerTest, a_coroutine_that_suspends_is_held_and_answers_later_from_what_it_owns) {
  route([this](Request request, Path<std::string> x, Query<Q> query) -> Task<Reply> {
    co_await gate_;
    co_return Reply::text(
        format_text("{} {} {} {}", request.path(), *request.field("host"), *x, query->q));
  });
  get();
  EXPECT_TRUE(exchange_->holds());
  EXPECT_FALSE(exchange_->completed);
  gate_.open();
  EXPECT_EQ(exchange_->content_sent, "/a/1/two here 1 3");
  EXPECT_FALSE(exchange_->holds());
}

TEST_F(HandlerTest, a_coroutine_of_a_result_answers_with_its_reply_or_its_problem) {
  route([this](Path<int> x) -> Task<Result<Reply>> {
    co_await gate_;
    if (*x == 1) co_return Reply::text("one");
    co_return fail(Code::unavailable, "later");
  });
  get();
  gate_.open();
  EXPECT_EQ(exchange_->content_sent, "one");
  get("/a/2/y");
  gate_.open();
  EXPECT_EQ(exchange_->status, 503u);
  EXPECT_EQ(exchange_->failures, 0);
}

TEST_F(HandlerTest, a_coroutine_that_throws_is_answered_with_500_at_every_moment) {
  route([]() -> Task<Reply> {
    throw std::runtime_error("secret");
    co_return Reply();
  });
  expect_failure(get());
  route([this]() -> Task<Reply> {
    co_await gate_;
    throw std::runtime_error("secret");
  });
  get();
  gate_.open();
  expect_failure(*exchange_);
  route([this]() -> Task<Result<Reply>> {
    const auto inner = [this]() -> Task<int> {
      co_await gate_;
      throw std::runtime_error("secret");
    };
    co_await inner();
    co_return Reply();
  });
  get();
  gate_.open();
  expect_failure(*exchange_);
}

TEST_F(HandlerTest, a_coroutine_function_that_throws_before_it_is_one_is_answered_with_500) {
  struct Throwing {
    Throwing() = default;
    Throwing(const Throwing&) { throw std::runtime_error("secret"); }
    Throwing(Throwing&&) = default;
    Task<Reply> operator()() const { return start(*this); }
    static Task<Reply> start(Throwing) { co_return Reply(); }
  };
  route(Throwing());
  expect_failure(get());
}

TEST_F(HandlerTest, cancelling_a_coroutine_destroys_its_frame_and_sends_nothing) {
  route([this](Request request) -> Task<Reply> {
    const Counted local(alive_);
    co_await gate_;
    co_return Reply::text(Text(request.path()));
  });
  get();
  EXPECT_EQ(alive_, 1);
  exchange_->cancel();
  EXPECT_EQ(alive_, 0);
  EXPECT_FALSE(gate_.waiting());
  EXPECT_FALSE(exchange_->completed);
  EXPECT_EQ(exchange_->failures, 0);
}

TEST_F(HandlerTest, an_exchange_that_ends_without_a_reply_destroys_what_it_holds) {
  route([this]() -> Task<Reply> {
    const Counted local(alive_);
    co_await gate_;
    co_return Reply();
  });
  get();
  exchange_.reset();
  EXPECT_EQ(alive_, 0);
}

// ---- replies made piece by piece ----

// "0 1 2 … 9 " in pieces of two bytes.
auto counter(int& calls) {
  return [&calls, next = 0](ContentSink& sink) mutable {
    ++calls;
    for (; next < 10; ++next) {
      const char piece[] = {static_cast<char>('0' + next), ' '};
      if (!sink.write({piece, 2})) return false;
    }
    return true;
  };
}

TEST_F(HandlerTest, a_streamed_reply_is_made_as_there_is_room_and_then_ended) {
  int calls = 0;
  route([&] { return Reply::stream("text/plain", 20, counter(calls)); });
  exchange_ = std::make_unique<FakeExchange>("GET", "/a/1/2");
  exchange_->capacity = 7;
  exchange_->serve(dispatcher());
  EXPECT_EQ(exchange_->length_announced, 20);
  EXPECT_EQ(exchange_->content_sent, "0 1 2 ");
  EXPECT_TRUE(exchange_->holds());
  exchange_->make_writable(3);
  EXPECT_EQ(exchange_->content_sent, "0 1 2 3 ");
  exchange_->make_writable(SIZE_MAX);
  EXPECT_EQ(exchange_->content_sent, "0 1 2 3 4 5 6 7 8 9 ");
  EXPECT_TRUE(exchange_->completed);
  EXPECT_FALSE(exchange_->holds());
  EXPECT_EQ(calls, 3);
}

TEST_F(HandlerTest, a_streamed_reply_with_room_for_all_of_it_ends_in_the_call) {
  int calls = 0;
  route([&] {
    return Reply::stream("text/plain", http::unknown_length, counter(calls)).with("X-Name", "v");
  });
  EXPECT_TRUE(get().completed);
  EXPECT_EQ(exchange_->length_announced, http::unknown_length);
  EXPECT_EQ(exchange_->fields_sent, "X-Name: v\r\n");
  EXPECT_EQ(exchange_->type_sent, "text/plain");
  EXPECT_EQ(calls, 1);
}

TEST_F(HandlerTest, a_coroutine_that_suspended_may_answer_with_a_streamed_reply) {
  int calls = 0;
  route([&]() -> Task<Reply> {
    const Counted local(alive_);
    co_await gate_;
    co_return Reply::stream("text/plain", 20, counter(calls));
  });
  get();
  exchange_->capacity = 4;
  gate_.open();
  EXPECT_EQ(alive_, 0);  // the coroutine is destroyed, its result continues
  EXPECT_EQ(exchange_->content_sent, "0 1 ");
  exchange_->make_writable(SIZE_MAX);
  EXPECT_TRUE(exchange_->completed);
  EXPECT_EQ(exchange_->content_sent.size(), 20u);
}

TEST_F(HandlerTest, a_source_that_throws_breaks_the_reply_off_and_is_counted) {
  for (const std::size_t capacity : {std::size_t{0}, SIZE_MAX}) {
    route([] {
      return Reply::stream("text/plain", 20, [first = true](ContentSink& sink) mutable -> bool {
        if (std::exchange(first, false) && !sink.write("some")) return false;
        throw std::runtime_error("secret");
      });
    });
    exchange_ = std::make_unique<FakeExchange>("GET", "/a/1/2");
    exchange_->capacity = capacity;
    exchange_->serve(dispatcher());
    exchange_->make_writable(100);
    EXPECT_TRUE(exchange_->aborted);
    EXPECT_FALSE(exchange_->completed);
    EXPECT_EQ(exchange_->failures, 1);
  }
}

TEST_F(HandlerTest, a_source_that_makes_more_than_was_announced_breaks_the_reply_off) {
  int calls = 0;
  route([&] { return Reply::stream("text/plain", 19, counter(calls)); });
  get();
  EXPECT_TRUE(exchange_->aborted);
  EXPECT_EQ(exchange_->failures, 1);
  EXPECT_EQ(exchange_->content_sent.size(), 18u);
}

TEST_F(HandlerTest, cancelling_a_streamed_reply_destroys_its_source) {
  route([this] {
    return Reply::stream("text/plain", 20, [counted = Counted(alive_)](ContentSink& sink) {
      return sink.write("x");
    });
  });
  exchange_ = std::make_unique<FakeExchange>("GET", "/a/1/2");
  exchange_->capacity = 0;
  exchange_->serve(dispatcher());
  EXPECT_EQ(alive_, 1);
  exchange_->cancel();
  EXPECT_EQ(alive_, 0);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
