#include "katana/http/handlers/streaming.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "katana/base/coroutine/deadline.hpp"
#include "katana/http/handlers/exchange_fixture_test.hpp"

namespace katana {
namespace {

class StreamingTest : public ServiceTest {
 protected:
  template <class F>
  void route(F handler, Middleware middleware = {}) {
    add_routes([&](Router& router) {
      if (middleware.before || middleware.after) router.use(middleware);
      router.any("/a/{_x}", std::move(handler), {.streamed_bytes_max = 1000});
    });
  }
  FakeExchange& begin(std::optional<std::uint64_t> length = std::nullopt) {
    exchange_ = std::make_unique<FakeExchange>("POST", "/a/7", "Content-Type: a/b\n");
    exchange_->awaiting_content(length);
    exchange_->serve(*dispatcher_);
    return *exchange_;
  }
  FakeExchange& get() { return send("GET", "/a/7"); }
};

Task<void> echo(Request request, ContentReader content, ReplyWriter reply) {
  Reply head(200, "application/octet-stream", Text());
  if (const auto type = request.field("content-type")) head.set_content_type(*type);
  reply.begin(head);
  for (Text piece = co_await content.read(); !piece.empty(); piece = co_await content.read()) {
    co_await reply.write(piece.bytes());
  }
}

TEST_F(StreamingTest, content_goes_through_a_handler_piece_by_piece) {
  route(echo);
  begin();
  EXPECT_EQ(exchange_->stream_max, 1000u);
  EXPECT_FALSE(exchange_->collect_max);
  EXPECT_EQ(exchange_->type_sent, "a/b");
  EXPECT_EQ(exchange_->content_wishes, 1);
  EXPECT_TRUE(exchange_->streamed("one ", false));
  EXPECT_EQ(exchange_->content_sent, "one ");
  EXPECT_TRUE(exchange_->streamed("two ", false));
  exchange_->streamed("three", true);
  EXPECT_EQ(exchange_->content_sent, "one two three");
  EXPECT_TRUE(exchange_->completed);
  EXPECT_FALSE(exchange_->holds());
}

TEST_F(StreamingTest, a_handler_reads_in_pieces_and_answers_with_one_reply) {
  route([](ContentReader content) -> Task<Result<Reply>> {
    std::size_t bytes = 0;
    for (Text piece = co_await content.read(); !piece.empty(); piece = co_await content.read()) {
      bytes += piece.size();
      if (bytes > 9) co_return fail(Code::out_of_range, "at most 9 bytes");
    }
    co_return Reply::text(format_text("{} bytes", bytes)).with("X-Seen", "yes");
  });
  begin();
  EXPECT_EQ(exchange_->stream_max, 1000u);
  EXPECT_FALSE(exchange_->collect_max);
  exchange_->streamed("one ", false);
  EXPECT_FALSE(exchange_->completed);
  exchange_->streamed("two", true);
  EXPECT_EQ(exchange_->content_sent, "7 bytes");
  EXPECT_NE(exchange_->fields_sent.find("X-Seen: yes"), std::string::npos);
  EXPECT_TRUE(exchange_->completed);
  begin();
  exchange_->streamed("more than nine", false);
  EXPECT_EQ(exchange_->status, 400u);
  EXPECT_TRUE(exchange_->completed);
}

TEST_F(StreamingTest, the_one_reply_of_such_a_handler_is_that_of_middleware_too) {
  const auto handler = [](ContentReader content) -> Task<Reply> {
    for (Text piece = co_await content.read(); !piece.empty(); piece = co_await content.read()) {
    }
    co_return Reply::text("all is read");
  };
  Middleware middleware;
  middleware.after = [](const RequestView&, Reply& reply) {
    reply.set_content(Text(std::string(reply.content()) + ", and seen"));
  };
  route(handler, middleware);
  begin();
  exchange_->streamed("x", true);
  EXPECT_EQ(exchange_->content_sent, "all is read, and seen");
}

// A slow upload would otherwise leave no time for the calls behind it.
TEST_F(StreamingTest, the_time_in_which_a_body_arrives_is_not_that_of_such_a_handler) {
  Instant deadline{};
  route([&deadline](ContentReader content) -> Task<Reply> {
    deadline = current_deadline;
    for (Text piece = co_await content.read(); !piece.empty(); piece = co_await content.read()) {
    }
    co_return Reply(204);
  });
  begin();
  exchange_->streamed("x", true);
  EXPECT_EQ(exchange_->status, 204u);
  EXPECT_EQ(deadline, never);
}

TEST_F(StreamingTest, such_a_handler_that_throws_is_answered_with_500) {
  route([](ContentReader content) -> Task<Reply> {
    const Text piece = co_await content.read();
    throw std::runtime_error("no");
  });
  begin();
  exchange_->streamed("x", true);
  EXPECT_EQ(exchange_->status, 500u);
}

TEST_F(StreamingTest, the_cause_of_a_problem_that_a_handler_begins_is_recorded) {
  const auto handler = [](ReplyWriter reply) -> Task<void> {
    reply.begin(problem(Error(Code::internal, "the disk is gone").within("export")));
    co_await reply.write("partly");
  };
  for (const bool with_middleware : {false, true}) {
    Middleware middleware;
    if (with_middleware) middleware.after = [](const RequestView&, Reply&) {};
    route(handler, middleware);
    get();
    EXPECT_EQ(exchange_->status, 500u);
    EXPECT_EQ(exchange_->failed.lines,
              (std::vector<std::string>{"ANY /a/{_x}: the handler returned an error: export: the "
                                        "disk is gone"}));
    EXPECT_EQ(exchange_->failures, 1);
  }
  route([](ReplyWriter reply) -> Task<void> {
    reply.begin(problem(Error(Code::not_found, "no such file")));
    co_await reply.write("");
  });
  get();
  EXPECT_EQ(exchange_->status, 404u);
  EXPECT_TRUE(exchange_->failed.lines.empty());
}

TEST_F(StreamingTest, a_request_without_content_reads_as_empty_at_once) {
  route(echo);
  EXPECT_TRUE(get().completed);
  EXPECT_EQ(exchange_->content_sent, "");
  EXPECT_EQ(exchange_->content_wishes, 0);
}

TEST_F(StreamingTest, a_handler_that_only_writes_takes_no_content) {
  route([](Path<int> x, ReplyWriter reply) -> Task<void> {
    reply.begin(200, "text/plain", 3);
    co_await reply.write(format_text("<{}>", *x).bytes());
  });
  begin();
  EXPECT_FALSE(exchange_->stream_max);
  EXPECT_TRUE(exchange_->completed);
  EXPECT_EQ(exchange_->content_sent, "<7>");
  EXPECT_EQ(exchange_->length_announced, 3);
}

TEST_F(StreamingTest, a_parameter_that_cannot_be_made_is_answered_before_the_handler_begins) {
  route([this](Path<bool>, ReplyWriter) -> Task<void> {
    ++alive_;
    co_return;
  });
  EXPECT_EQ(get().status, 400u);
  EXPECT_EQ(alive_, 0);
}

// ---- reading ----

TEST_F(StreamingTest, nothing_is_read_before_it_is_asked_for_and_no_more_than_is_asked_for) {
  Text first;
  route([&](ContentReader content, ReplyWriter reply) -> Task<void> {
    first = co_await content.read();
    co_await gate_;  // busy with other work
    reply.begin(200, "text/plain");
    Text second = co_await content.read();
    co_await reply.write(second.bytes());
  });
  begin();
  EXPECT_EQ(exchange_->content_wishes, 1);
  EXPECT_FALSE(exchange_->streamed("first", false));  // it is not waiting for more
  EXPECT_EQ(first.bytes(), "first");
  EXPECT_FALSE(exchange_->streamed("second", false));  // kept until it asks
  gate_.open();
  EXPECT_EQ(exchange_->content_sent, "second");
}

TEST_F(StreamingTest, read_at_least_waits_for_so_much_or_the_end) {
  std::vector<std::string> pieces;
  route([&](ContentReader content, ReplyWriter reply) -> Task<void> {
    while (true) {
      const Text piece = co_await content.read_at_least(5);
      pieces.emplace_back(piece.bytes());
      if (content.ended()) break;
    }
    reply.begin(204, "text/plain");
  });
  begin();
  EXPECT_TRUE(exchange_->streamed("ab", false));
  EXPECT_TRUE(exchange_->streamed("cd", false));
  EXPECT_TRUE(pieces.empty());
  EXPECT_TRUE(exchange_->streamed("efg", false));
  EXPECT_EQ(pieces, std::vector<std::string>{"abcdefg"});
  exchange_->streamed("hi", true);
  EXPECT_EQ(pieces, (std::vector<std::string>{"abcdefg", "hi"}));
  EXPECT_TRUE(exchange_->completed);
}

TEST_F(StreamingTest, for_each_shows_pieces_where_they_were_received) {
  std::vector<const char*> places;
  std::string all;
  route([&](ContentReader content, ReplyWriter reply) -> Task<void> {
    auto visit = [&](Bytes piece) {
      places.push_back(piece.data());
      all += piece;
    };
    co_await content.for_each(visit);
    reply.begin(200, "text/plain");
    co_await reply.write(all);
  });
  begin();
  EXPECT_EQ(exchange_->content_wishes, 1);
  const std::size_t held = exchange_->pending_bytes();
  std::string first(100, 'a');
  std::string second(100, 'b');
  const std::vector<const char*> received{first.data(), second.data()};
  EXPECT_TRUE(exchange_->streamed(std::move(first), false));
  EXPECT_TRUE(exchange_->streamed(std::move(second), false));
  EXPECT_TRUE(exchange_->streamed("", false));  // an empty piece is none
  EXPECT_EQ(places, received);
  EXPECT_EQ(exchange_->pending_bytes(), held);
  EXPECT_TRUE(exchange_->content_sent.empty());
  exchange_->streamed("third", true);
  EXPECT_EQ(exchange_->content_sent, std::string(100, 'a') + std::string(100, 'b') + "third");
  EXPECT_TRUE(exchange_->completed);
}

TEST_F(StreamingTest, for_each_begins_with_what_came_before_it) {
  std::vector<std::string> pieces;
  route([&](ContentReader content, ReplyWriter reply) -> Task<void> {
    pieces.emplace_back((co_await content.read()).bytes());
    co_await gate_;
    auto visit = [&](Bytes piece) { pieces.emplace_back(piece); };
    co_await content.for_each(visit);
    pieces.emplace_back((co_await content.read()).bytes());
    reply.begin(204, "text/plain");
  });
  begin();
  exchange_->streamed("one", false);
  exchange_->streamed("two", false);
  gate_.open();
  EXPECT_EQ(pieces, (std::vector<std::string>{"one", "two"}));
  exchange_->streamed("three", false);
  exchange_->streamed("", true);
  EXPECT_EQ(pieces, (std::vector<std::string>{"one", "two", "three", ""}));
  EXPECT_TRUE(exchange_->completed);
}

TEST_F(StreamingTest, for_each_of_no_content_shows_nothing) {
  int calls = 0;
  route([&](ContentReader content, ReplyWriter reply) -> Task<void> {
    auto visit = [&](Bytes) { ++calls; };
    co_await content.for_each(visit);
    reply.begin(204, "text/plain");
  });
  EXPECT_EQ(get().status, 204u);
  EXPECT_EQ(calls, 0);
}

TEST_F(StreamingTest, what_is_thrown_by_a_visit_is_thrown_where_the_handler_waits) {
  std::string caught;
  int calls = 0;
  route([&](ContentReader content, ReplyWriter reply) -> Task<void> {
    auto visit = [&](Bytes piece) {
      ++calls;
      if (piece == "bad") throw std::runtime_error("a bad piece");
    };
    try {
      co_await content.for_each(visit);
    } catch (const std::runtime_error& error) {
      caught = error.what();
    }
    reply.begin(422, "text/plain");
  });
  begin();
  EXPECT_TRUE(exchange_->streamed("good", false));
  exchange_->streamed("bad", false);
  EXPECT_EQ(caught, "a bad piece");
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(exchange_->status, 422u);
}

TEST_F(StreamingTest, an_end_without_bytes_is_read_as_empty) {
  route(echo);
  begin();
  exchange_->streamed("x", false);
  exchange_->streamed("", true);
  EXPECT_TRUE(exchange_->completed);
  EXPECT_EQ(exchange_->content_sent, "x");
}

TEST_F(StreamingTest, the_reader_knows_the_length_that_the_request_announced) {
  route([](ContentReader content, ReplyWriter reply) -> Task<void> {
    reply.begin(200, "text/plain");
    const Text text =
        format_text("{}", content.length() ? static_cast<int>(*content.length()) : -1);
    co_await reply.write(text.bytes());
  });
  EXPECT_EQ(begin(42).content_sent, "42");
  EXPECT_EQ(begin().content_sent, "-1");
}

// ---- writing ----

TEST_F(StreamingTest, a_slow_peer_holds_the_coroutine_where_it_writes) {
  bool done = false;
  route([&](ReplyWriter reply) -> Task<void> {
    reply.begin(200, "text/plain", 8);
    co_await gate_;
    co_await reply.write("12345");
    co_await reply.write("678");
    done = true;
  });
  get();
  exchange_->capacity = 4;
  gate_.open();
  EXPECT_EQ(exchange_->content_sent, "");
  exchange_->make_writable(4);  // still not enough
  EXPECT_EQ(exchange_->content_sent, "");
  exchange_->make_writable(6);
  EXPECT_EQ(exchange_->content_sent, "12345");
  EXPECT_FALSE(done);
  exchange_->make_writable(100);
  EXPECT_EQ(exchange_->content_sent, "12345678");
  EXPECT_TRUE(done);
  EXPECT_TRUE(exchange_->completed);
}

TEST_F(StreamingTest, only_the_first_begin_counts) {
  route([](ReplyWriter reply) -> Task<void> {
    reply.begin(201, "text/plain");
    reply.begin(404, "text/html");
    co_return;
  });
  EXPECT_EQ(get().status, 201u);
  EXPECT_TRUE(exchange_->completed);
}

TEST_F(StreamingTest, fields_and_closing_are_those_of_the_reply_it_begins_with) {
  route([](ReplyWriter reply) -> Task<void> {
    reply.begin(Reply(206, "a/b", Text()).with("Content-Range", "bytes 0-1/2").close());
    co_await reply.write("xy");
  });
  EXPECT_EQ(get().fields_sent, "Content-Range: bytes 0-1/2\r\n");
  EXPECT_EQ(exchange_->status, 206u);
  EXPECT_TRUE(exchange_->closes);
}

// ---- failures ----

TEST_F(StreamingTest, a_handler_that_throws_before_it_begins_is_answered_with_500) {
  for (const bool suspends : {false, true}) {
    route([this, suspends](ReplyWriter) -> Task<void> {
      if (suspends) co_await gate_;
      throw std::runtime_error("secret");
    });
    get();
    if (suspends) gate_.open();
    EXPECT_EQ(exchange_->status, 500u);
    EXPECT_EQ(exchange_->failures, 1);
    EXPECT_FALSE(exchange_->aborted);
    EXPECT_FALSE(exchange_->holds());
  }
}

TEST_F(StreamingTest, a_handler_that_throws_after_it_began_breaks_the_reply_off) {
  for (const bool suspends : {false, true}) {
    route([this, suspends](ReplyWriter reply) -> Task<void> {
      reply.begin(200, "text/plain");
      co_await reply.write("some");
      if (suspends) co_await gate_;
      throw std::runtime_error("secret");
    });
    get();
    if (suspends) gate_.open();
    EXPECT_EQ(exchange_->status, 200u);
    EXPECT_EQ(exchange_->failures, 1);
    EXPECT_TRUE(exchange_->aborted);
    EXPECT_FALSE(exchange_->completed);
  }
}

TEST_F(StreamingTest, a_handler_that_never_begins_is_answered_with_500) {
  route([](ReplyWriter) -> Task<void> { co_return; });
  EXPECT_EQ(get().status, 500u);
  EXPECT_EQ(exchange_->failures, 1);
}

TEST_F(StreamingTest, writing_before_it_begins_is_the_handlers_failure) {
  route([](ReplyWriter reply) -> Task<void> { co_await reply.write("early"); });
  EXPECT_EQ(get().status, 500u);
  EXPECT_EQ(exchange_->content_sent.find("early"), std::string::npos);
  EXPECT_EQ(exchange_->failures, 1);
}

TEST_F(StreamingTest, beginning_with_an_invalid_reply_is_the_handlers_failure) {
  route([](ReplyWriter reply) -> Task<void> {
    reply.begin(Reply(200).with("X-Name", "a\r\nb"));
    co_return;
  });
  EXPECT_EQ(get().status, 500u);
  EXPECT_EQ(exchange_->failures, 1);
}

TEST_F(StreamingTest, more_content_than_was_announced_breaks_the_reply_off) {
  route([](ReplyWriter reply) -> Task<void> {
    reply.begin(200, "text/plain", 5);
    co_await reply.write("123");
    co_await reply.write("456");
  });
  EXPECT_EQ(get().content_sent, "123");
  EXPECT_TRUE(exchange_->aborted);
  EXPECT_EQ(exchange_->failures, 1);
}

// ---- cancellation ----

TEST_F(StreamingTest, cancellation_destroys_the_coroutine_wherever_it_waits) {
  route([this](ContentReader content, ReplyWriter reply) -> Task<void> {
    const Counted local(alive_);
    const Text piece = co_await content.read();
    reply.begin(200, "text/plain");
    co_await reply.write("too much");
    co_await gate_;
  });
  for (const int where : {0, 1, 2}) {  // it reads; it writes; it waits for something else
    begin();
    if (where > 0) {
      exchange_->capacity = where == 1 ? 0 : SIZE_MAX;
      exchange_->streamed("go", false);
    }
    EXPECT_EQ(alive_, 1) << where;
    EXPECT_EQ(gate_.waiting(), where == 2);
    exchange_->cancel();
    EXPECT_EQ(alive_, 0) << where;
    EXPECT_FALSE(gate_.waiting());
    EXPECT_EQ(exchange_->failures, 0);
  }
}

// ---- middleware ----

TEST_F(StreamingTest, middleware_sees_the_head_of_a_streamed_reply_and_may_change_it) {
  std::string seen;
  const Middleware middleware{.after = [&](const RequestView& request, Reply& reply) {
    seen += request.path();
    reply.add_field("X-Added", "yes");
    reply.set_status(202);
  }};
  for (const bool suspends : {false, true}) {
    seen.clear();
    route(
        [this, suspends](ReplyWriter reply) -> Task<void> {
          if (suspends) co_await gate_;
          reply.begin(Reply(200, "a/b", Text()).with("X-Own", "1"), 2);
          co_await reply.write("ok");
        },
        middleware);
    get();
    if (suspends) gate_.open();
    EXPECT_EQ(seen, "/a/7");
    EXPECT_EQ(exchange_->status, 202u);
    EXPECT_EQ(exchange_->fields_sent, "X-Own: 1\r\nX-Added: yes\r\n");
    EXPECT_EQ(exchange_->type_sent, "a/b");
    EXPECT_EQ(exchange_->content_sent, "ok");
    EXPECT_EQ(exchange_->length_announced, 2);
  }
}

TEST_F(StreamingTest, middleware_sees_the_500_of_a_streaming_handler_that_failed) {
  route([](ReplyWriter) -> Task<void> { co_return; },
        {.after = [](const RequestView&, Reply& reply) { reply.add_field("X-Added", "yes"); }});
  EXPECT_EQ(get().status, 500u);
  EXPECT_EQ(exchange_->fields_sent, "X-Added: yes\r\n");
  EXPECT_EQ(exchange_->failures, 1);
}

TEST_F(StreamingTest, a_whole_reply_goes_through_a_writer) {
  route([](ReplyWriter writer) -> Task<void> {
    co_await katana::send(writer, problem(404, "There is no report."));
  });
  get();
  EXPECT_EQ(exchange_->status, 404u);
  EXPECT_EQ(exchange_->type_sent, "application/problem+json");
  EXPECT_EQ(static_cast<std::int64_t>(exchange_->content_sent.size()), exchange_->length_announced);
}

TEST_F(StreamingTest, the_source_of_a_reply_that_is_sent_is_asked_as_there_is_room) {
  int asked = 0;
  route([&asked](ReplyWriter writer) -> Task<void> {
    co_await katana::send(
        writer, Reply::stream("a/b", 200'000, [&asked, left = 20](ContentSink& sink) mutable {
          ++asked;
          for (; left > 0; --left) {
            if (!sink.write(std::string(10'000, 'x'))) return false;
          }
          return true;
        }));
  });
  exchange_ = std::make_unique<FakeExchange>("GET", "/a/7");
  exchange_->capacity = 0;
  exchange_->serve(*dispatcher_);
  EXPECT_EQ(exchange_->status, 200u);
  EXPECT_EQ(asked, 1);  // and not again before its output is taken
  exchange_->make_writable(SIZE_MAX);
  EXPECT_EQ(exchange_->content_sent.size(), 200'000u);
  EXPECT_TRUE(exchange_->completed);
}

TEST_F(StreamingTest, a_source_that_waits_for_more_than_room_is_refused) {
  route([](ReplyWriter writer) -> Task<void> {
    co_await katana::send(
        writer, Reply::stream("a/b", http::unknown_length, [](ContentSink&) { return false; }));
  });
  get();
  EXPECT_TRUE(exchange_->aborted);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
