#include "katana/http/handlers/json_stream.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "katana/http/handlers/exchange_fixture_test.hpp"

namespace katana {
namespace {

struct Measurement {
  int number = 0;
  std::string place;
};
KATANA_DESCRIBE(Measurement, number, (place, length(1, 20)))

// Rows, as a stream of a database returns them.
struct Rows {
  int left = 0;
  int fails_at = -1;
  int* asked = nullptr;
  int number = 0;
  Task<Result<std::optional<Measurement>>> next() {
    if (asked != nullptr) ++*asked;
    if (number == fails_at) co_return fail(Code::unavailable, "the database is gone");
    if (left-- == 0) co_return std::nullopt;
    co_return Measurement{.number = number++, .place = "here"};
  }
};

class JsonStreamTest : public ServiceTest {
 protected:
  template <class F>
  void route(F handler) {
    add_routes([&](Router& router) { router.any("/a", std::move(handler)); });
  }
  FakeExchange& get() { return send("GET", "/a"); }
  // The reply to a body that arrives in pieces of `piece` bytes.
  std::string post(Bytes content, std::size_t piece = 7) {
    exchange_ = std::make_unique<FakeExchange>("POST", "/a");
    exchange_->awaiting_content(std::nullopt);
    exchange_->serve(*dispatcher_);
    while (!exchange_->completed && content.size() > piece) {
      exchange_->streamed(std::string(content.substr(0, piece)), false);
      content.remove_prefix(piece);
    }
    if (!exchange_->completed) exchange_->streamed(std::string(content), true);
    EXPECT_TRUE(exchange_->completed);
    return std::to_string(exchange_->status) + " " + exchange_->content_sent;
  }
  // Sums the numbers of the items; every fault is a line.
  template <template <class> class Reader>
  void route_sum() {
    route([](ContentReader content, ReplyWriter reply) -> Task<void> {
      Reader<Measurement> items(content, 40);
      std::string answer;
      int sum = 0;
      for (int tries = 0; tries < 9; ++tries) {
        const auto item = co_await items.next();
        if (item && !*item) break;
        if (item) sum += (*item)->number;
        if (!item) answer += item.error().describe() + "\n";
      }
      answer += std::to_string(sum);
      co_await katana::send(reply, Reply::text(Text(answer)));
    });
  }
};

TEST_F(JsonStreamTest, items_become_an_array) {
  route([](ReplyWriter reply) -> Task<void> {
    JsonArrayWriter items(reply);
    for (int number = 0; number < 3; ++number) co_await items.write(number);
    co_await items.finish();
  });
  get();
  EXPECT_EQ(exchange_->content_sent, "[0,1,2]");
  EXPECT_EQ(exchange_->type_sent, "application/json");
  EXPECT_EQ(exchange_->length_announced, http::unknown_length);
  EXPECT_TRUE(exchange_->completed);
}

TEST_F(JsonStreamTest, or_lines_with_a_head_of_the_handlers_own) {
  route([](ReplyWriter reply) -> Task<void> {
    JsonLinesWriter items(reply, Reply(202, "application/jsonl", Text()).with("X-A", "b"));
    // A variable: g++ 12 destroys certain temporaries of an awaited expression twice.
    const Measurement measurement{.number = 1, .place = "a\nb"};
    co_await items.write(measurement);
    co_await items.flush();
    co_await items.write(2);
    co_await items.finish();
  });
  get();
  EXPECT_EQ(exchange_->status, 202u);
  EXPECT_EQ(exchange_->type_sent, "application/jsonl");
  EXPECT_EQ(exchange_->fields_sent, "X-A: b\r\n");
  EXPECT_EQ(exchange_->content_sent, "{\"number\":1,\"place\":\"a\\nb\"}\n2\n");
}

TEST_F(JsonStreamTest, nothing_is_an_empty_array_and_no_lines) {
  bool lines = false;
  route([&lines](ReplyWriter reply) -> Task<void> {
    Rows rows;
    if (lines) co_return co_await send_json_lines(reply, rows);
    co_await send_json_array(reply, rows);
  });
  EXPECT_EQ(get().content_sent, "[]");
  lines = true;
  EXPECT_EQ(get().content_sent, "");
  EXPECT_EQ(exchange_->status, 200u);
  EXPECT_EQ(exchange_->type_sent, "application/x-ndjson");
}

TEST_F(JsonStreamTest, rows_are_asked_for_as_the_peer_takes_them) {
  int asked = 0;
  route([&asked](ReplyWriter reply) -> Task<void> {
    Rows rows{.left = 100'000, .asked = &asked};
    co_await send_json_array(reply, rows);
  });
  exchange_ = std::make_unique<FakeExchange>("GET", "/a");
  exchange_->capacity = 0;  // the client does not read
  exchange_->serve(*dispatcher_);
  const int first = asked;
  EXPECT_GT(first, 0);
  EXPECT_LT(first, 8 * 1024 / 20);  // as many as fit the buffer, of 27 bytes each
  exchange_->make_writable(20 * 1024);
  EXPECT_GT(asked, first);
  EXPECT_LT(asked, 4 * first);
  exchange_->make_writable(SIZE_MAX);
  EXPECT_TRUE(exchange_->completed);
  EXPECT_EQ(asked, 100'001);
  const auto all = container::read_json<std::vector<Measurement>>(exchange_->content_sent);
  ASSERT_TRUE(all) << all.error().describe();
  EXPECT_EQ(all->size(), 100'000u);
  EXPECT_EQ(all->back().number, 99'999);
}

TEST_F(JsonStreamTest, rows_that_fail_at_once_are_a_problem_and_later_a_broken_reply) {
  int fails_at = 2;
  route([&fails_at](ReplyWriter reply) -> Task<void> {
    Rows rows{.left = 100'000, .fails_at = fails_at};
    co_await send_json_lines(reply, rows);
  });
  EXPECT_EQ(get().status, 503u);
  EXPECT_EQ(exchange_->type_sent, "application/problem+json");
  fails_at = 50'000;
  EXPECT_EQ(get().status, 200u);
  EXPECT_TRUE(exchange_->aborted);
  EXPECT_FALSE(exchange_->completed);
}

TEST_F(JsonStreamTest, an_array_in_the_content_is_read_item_by_item) {
  route_sum<JsonArrayReader>();
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{1000}}) {
    EXPECT_EQ(post(R"([{"number":1,"place":"a"}, {"number":2,"place":"b"}])", piece), "200 3");
    EXPECT_EQ(post("[]", piece), "200 0");
  }
}

TEST_F(JsonStreamTest, lines_are_read_one_by_one) {
  route_sum<JsonLinesReader>();
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{1000}}) {
    EXPECT_EQ(post("{\"number\":1,\"place\":\"a\"}\r\n\n{\"number\":2,\"place\":\"b\"}", piece),
              "200 3");
  }
}

TEST_F(JsonStreamTest, an_item_that_does_not_fit_is_named_and_passed_over) {
  route_sum<JsonArrayReader>();
  EXPECT_EQ(post(R"([{"number":1,"place":"a"},{"number":"x"},7,{"number":2,"place":"b"}])"),
            "200 /1/number: expected integer, got string; /1/place: is missing\n"
            "/2: expected object, got 7\n3");
  route_sum<JsonLinesReader>();
  EXPECT_EQ(post("{\"number\":1,\"place\":\"a\"}\n\n{\"number\":2,\"place\":\"\"}\n{,}\n"),
            "200 line 3: /place: expected 1 to 20 characters, got 0\n"
            "line 4: malformed JSON: line 1, column 2: a comma, colon, name or value is missing "
            "or out of place\n1");
}

TEST_F(JsonStreamTest, what_is_no_array_or_too_long_ends_the_reading) {
  route_sum<JsonArrayReader>();
  EXPECT_TRUE(post(R"({"number":1})").starts_with("200 expected an array\nexpected an array\n"));
  EXPECT_TRUE(post(R"([{"number":1,"place":"0123456789012345678901234567890123456789"}])")
                  .starts_with("200 /0: is longer than 40 bytes\n/0: is longer"));
  EXPECT_TRUE(
      post(R"([{"number":1,"place":"a"})").starts_with("200 /0: the content ends within it"));
}

TEST_F(JsonStreamTest, content_is_wanted_only_as_items_are) {
  route([this](ContentReader content, ReplyWriter reply) -> Task<void> {
    JsonLinesReader<int> items(content);
    (void)co_await items.next();
    co_await gate_;
    (void)co_await items.next();
    co_await katana::send(reply, Reply::no_content());
  });
  exchange_ = std::make_unique<FakeExchange>("POST", "/a");
  exchange_->awaiting_content(std::nullopt);
  exchange_->serve(*dispatcher_);
  EXPECT_EQ(exchange_->content_wishes, 1);
  EXPECT_FALSE(exchange_->streamed("1\n2", false));  // no caller waits for more
  EXPECT_EQ(exchange_->content_wishes, 1);
  gate_.open();
  EXPECT_EQ(exchange_->content_wishes, 2);
  exchange_->streamed("\n", true);
  EXPECT_EQ(exchange_->status, 204u);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
