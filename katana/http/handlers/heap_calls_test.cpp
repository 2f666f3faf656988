// A request in steady state makes no heap call, counted from the dispatcher to the reply.
#include "katana/base/system/heap_calls_test.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "katana/http/handlers/exchange_fixture_test.hpp"
#include "katana/http/handlers/extract.hpp"
#include "katana/http/handlers/json.hpp"

namespace katana {
namespace {

struct Page {
  int limit = 20;
  std::int64_t after = 0;
};
KATANA_DESCRIBE(Page, limit, after)

class ServiceHeapCalls : public HeapCallsTest {
 protected:
  // Heap calls that the dispatcher and the handler make for one request, once warm.
  template <class F>
  static std::uint64_t calls_of(F handler, std::string_view method, std::string_view target,
                                std::string_view expected, Middleware middleware = {}) {
    const Service service = make_service([&](Router& router) {
      if (middleware.before || middleware.after) router.use(middleware);
      router.any("/a/{_x}", handler);
    });
    Dispatcher dispatcher(service);
    std::uint64_t calls = 0;
    for (int round = 0; round < 10; ++round) {
      FakeExchange exchange(method, target, "Host: example\nAccept: */*\n");
      exchange.with_content("content");
      const std::uint64_t before = heap_calls();
      exchange.serve(dispatcher);
      calls = heap_calls() - before;
      EXPECT_EQ(exchange.content_sent, expected);
    }
    return calls;
  }
};

TEST_F(ServiceHeapCalls, a_literal_makes_none) {
  EXPECT_EQ(calls_of([] { return Reply::text("Hello, World!"); }, "GET", "/a/1", "Hello, World!"),
            0u);
}

TEST_F(ServiceHeapCalls, text_fields_and_extraction_make_none) {
  const auto handler = [](Path<int> x, Query<Page> page, const RequestView& request) {
    return Reply::json(format_text("[{},{},{}]", *x, page->limit, page->after))
        .with("X-Host", *request.field("host"));
  };
  EXPECT_EQ(calls_of(handler, "GET", "/%61/7?limit=3&after=%34", "[7,3,4]"), 0u);
}

TEST_F(ServiceHeapCalls, a_struct_as_json_makes_none) {
  EXPECT_EQ(calls_of([] { return Json{Page{}}; }, "GET", "/a/1", R"({"limit":20,"after":0})"), 0u);
}

TEST_F(ServiceHeapCalls, a_coroutine_that_does_not_suspend_makes_none) {
  const auto handler = [](Request request, Path<int> x) -> Task<Reply> {
    const auto inner = [](int number) -> Task<int> { co_return number + 1; };
    co_return Reply::text(format_text("{} {}", co_await inner(*x), request.content()));
  };
  EXPECT_EQ(calls_of(handler, "POST", "/a/1", "2 content"), 0u);
}

TEST_F(ServiceHeapCalls, a_coroutine_of_a_result_makes_none) {
  const auto handler = []() -> Task<Result<Reply>> { co_return Reply::text("fine"); };
  EXPECT_EQ(calls_of(handler, "GET", "/a/1", "fine"), 0u);
}

TEST_F(ServiceHeapCalls, a_streamed_reply_makes_none) {
  const auto source = [] {
    return Reply::stream("text/plain", 8, [left = 4](ContentSink& sink) mutable {
      for (; left > 0; --left) {
        if (!sink.write("xy")) return false;
      }
      return true;
    });
  };
  EXPECT_EQ(calls_of(source, "GET", "/a/1", "xyxyxyxy"), 0u);
  const auto coroutine = [](ReplyWriter reply) -> Task<void> {
    reply.begin(200, "text/plain");
    co_await reply.write("streamed");
  };
  EXPECT_EQ(calls_of(coroutine, "GET", "/a/1", "streamed"), 0u);
}

TEST_F(ServiceHeapCalls, middleware_makes_none) {
  const Middleware middleware{
      .before = [](const RequestView&) -> std::optional<Reply> { return std::nullopt; },
      .after = [](const RequestView&, Reply& reply) { reply.add_field("X-Added", "yes"); }};
  EXPECT_EQ(calls_of([] { return Reply::text("x"); }, "GET", "/a/1", "x", middleware), 0u);
}

TEST_F(ServiceHeapCalls, a_path_that_nothing_serves_makes_none) {
  const Service service =
      make_service([](Router& router) { router.get("/x", [] { return Reply(); }); });
  Dispatcher dispatcher(service);
  std::uint64_t calls = 0;
  for (int round = 0; round < 10; ++round) {
    FakeExchange exchange("GET", "/nowhere");
    const std::uint64_t before = heap_calls();
    exchange.serve(dispatcher);
    calls = heap_calls() - before;
    EXPECT_EQ(exchange.status, 404u);
  }
  EXPECT_EQ(calls, 0u);
}

TEST_F(ServiceHeapCalls, a_coroutine_that_suspends_makes_none) {
  Gate gate;
  const Service service = make_service([&](Router& router) {
    router.get("/x", [&](Request request) -> Task<Reply> {
      co_await gate;
      co_return Reply::text(Text(request.path()));
    });
  });
  Dispatcher dispatcher(service);
  std::uint64_t calls = 0;
  for (int round = 0; round < 10; ++round) {
    FakeExchange exchange("GET", "/x");
    const std::uint64_t before = heap_calls();
    exchange.serve(dispatcher);
    gate.open();
    calls = heap_calls() - before;
    EXPECT_EQ(exchange.content_sent, "/x");
  }
  EXPECT_EQ(calls, 0u);
}

TEST_F(ServiceHeapCalls, middleware_that_waits_and_hands_on_a_value_makes_none) {
  Gate gate;
  const Service service = make_service([&](Router& router) {
    router.use([&]() -> Task<int> {
      co_await gate;
      co_return 7;
    });
    router.use([](FromContext<int> seven) { return std::int64_t{*seven} + 1; });
    router.get("/x", [](FromContext<std::int64_t> eight) {
      return Reply::text(format_text("{}", *eight));
    });
  });
  Dispatcher dispatcher(service);
  std::uint64_t calls = 0;
  for (int round = 0; round < 10; ++round) {
    FakeExchange exchange("GET", "/x");
    const std::uint64_t before = heap_calls();
    exchange.serve(dispatcher);
    gate.open();
    calls = heap_calls() - before;
    EXPECT_EQ(exchange.content_sent, "8");
  }
  EXPECT_EQ(calls, 0u);
}

// ---- the work for mistakes that are not told ----

struct Account {
  int limit = 1;
  std::vector<int> numbers;
  std::string token_of_the_account;
};
KATANA_DESCRIBE_STRICT(Account, (limit, range(1, 9)), numbers, token_of_the_account)

class MisfitHeapCalls : public HeapCallsTest {
 protected:
  // Heap calls to read `count` pairs, and the number of mistakes that were left out.
  struct Work {
    std::uint64_t heap_calls;
    std::size_t left_out;
  };
  template <class Pair>
  static Work work_of(int count, Pair pair) {
    std::string query;
    for (int number = 0; number < count; ++number) query += pair(number) + "&";
    Account account;
    container::Findings findings;
    detail::QueryPairs pairs(query);
    const std::uint64_t before = heap_calls();
    EXPECT_FALSE(detail::read_pairs(pairs, account, findings));
    return {heap_calls() - before, findings.left_out()};
  }
  template <class Pair>
  static void expect_no_words_beyond_the_limit(Pair pair) {
    (void)work_of(100, pair);  // the first one is not warm
    const Work some = work_of(100, pair);
    const Work many = work_of(1000, pair);
    EXPECT_EQ(some.heap_calls, many.heap_calls);
    EXPECT_EQ(many.left_out - some.left_out, 900u);
  }
};

// A hint is a text, so each call of nearest_hint() would be seen.
TEST_F(MisfitHeapCalls, unknown_names_beyond_the_limit_are_not_compared) {
  expect_no_words_beyond_the_limit([](int number) {
    return fmt::format("tken_of_the_account{}=1", number % 10 + 100 * number);
  });
}

TEST_F(MisfitHeapCalls, values_beyond_the_limit_have_no_words) {
  expect_no_words_beyond_the_limit([](int number) {
    return number < 16 ? fmt::format("unknown_name_{}=1", number) : "limit=0";
  });
  expect_no_words_beyond_the_limit([](int number) { return fmt::format("numbers=x{}", number); });
}

// Equal mistakes never fill the list.
TEST_F(MisfitHeapCalls, a_mistake_that_is_repeated_has_no_words_in_the_end) {
  const auto pair = [](int) { return std::string("numbers=x"); };
  (void)work_of(100, pair);
  const Work some = work_of(100, pair);
  const Work many = work_of(1000, pair);
  EXPECT_EQ(some.heap_calls, many.heap_calls);
  EXPECT_EQ(many.left_out, 0u);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
