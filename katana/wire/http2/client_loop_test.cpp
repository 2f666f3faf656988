// A client machine against a server machine in memory. Requests, replies and windows have any size,
// and the bytes are cut anywhere. Both sides send resets, and the server sends GOAWAY.
#include <algorithm>
#include <list>
#include <map>
#include <random>
#include <string>

#include "katana/wire/http2/client_bench_test.hpp"

namespace katana::http2 {
namespace {

std::string pattern(std::uint32_t id, std::size_t size, char first) {
  std::string text(size, '\0');
  for (std::size_t at = 0; at < size; ++at) text[at] = static_cast<char>(first + (id + at) % 23);
  return text;
}

// One request, as its client keeps it.
struct Asked {
  ClientStream stream;
  std::string content;
  Bytes unsent;
  std::string reply;
  std::string outcome;
  bool given_up = false;
};

// The same, as its server does.
struct Served {
  Stream stream;
  std::string content;
  std::string reply;
  Bytes unsent;
  bool complete = false;  // all of the request has come
  bool begun = false;     // the reply is
  bool reset = false;
};

class Loop {
 public:
  explicit Loop(std::uint32_t seed)
      : random_(seed), server_context_(draw_limits()), client_context_(draw_limits()) {
    EXPECT_TRUE(server_.start(server_out_));
    EXPECT_TRUE(client_.start(client_out_));
  }
  ~Loop() {
    while (Stream* const each = server_.first()) {
      server_.reset(*each, ErrorCode::cancel, now_, server_out_);
    }
    while (ClientStream* const each = client_.first()) {
      client_.reset(*each, ErrorCode::cancel, client_out_);
    }
  }

  using Outcomes = std::map<std::string, int>;

  void run(int steps, Outcomes& outcomes) {
    const int goes_away_at = below(3) == 0 ? below(steps) : steps;
    for (int step = 0; step < steps && !testing::Test::HasFailure(); ++step) {
      if (step == goes_away_at) server_.drain(server_out_);
      // At once, or when the client has seen the first GOAWAY: then no request is on its way.
      if (step == goes_away_at && below(2) == 0) server_.end_drain(server_out_);
      act(below(100));
    }
    std::size_t before = 0;
    do {
      before = moved_;
      for (Asked& each : asked_) send_content(each, SIZE_MAX);
      for (Served& each : served_) reply(each, SIZE_MAX);
      move_to_server(SIZE_MAX);
      move_to_client(SIZE_MAX);
      if (moved_ == before) moved_ += end_replied();
    } while (moved_ != before && !testing::Test::HasFailure());
    check(goes_away_at < steps);
    for (const Asked& each : asked_) ++outcomes[each.given_up ? "given up" : each.outcome];
  }

 private:
  int below(int count) { return static_cast<int>(random_() % static_cast<unsigned>(count)); }
  std::size_t draw_size() {
    static constexpr std::array<int, 6> mosts = {1, 2, 100, 3'000, 30'000, 150'000};
    return static_cast<std::size_t>(below(mosts[static_cast<std::size_t>(below(6))]));
  }
  Limits draw_limits() {
    Limits limits;
    limits.streams_max = static_cast<std::uint32_t>(1 + below(12));
    limits.stream_window_bytes = static_cast<std::uint32_t>(65'535 + below(100'000));
    limits.connection_window_bytes = static_cast<std::uint32_t>(65'535 + below(200'000));
    return limits;
  }

  void act(int choice) {
    if (choice < 25) return begin();
    if (choice < 45) return move_to_server(draw_size());
    if (choice < 65) return move_to_client(draw_size());
    if (asked_.empty()) return;
    Asked& asked = *std::next(asked_.begin(), below(static_cast<int>(asked_.size())));
    if (choice < 78) return send_content(asked, draw_size());
    if (choice < 80) {
      if (asked.stream.state == ClientStreamState::closed) return;
      client_.reset(asked.stream, ErrorCode::cancel, client_out_);
      asked.given_up = true;
      return;
    }
    Served* const served = served_as(asked.stream.id);
    if (served == nullptr) return;
    if (choice < 98) return reply(*served, draw_size());
    const StreamState state = served->stream.state;
    if (state == StreamState::replied) end_replied();
    if (state != StreamState::open && state != StreamState::replying) return;
    server_.reset(served->stream, ErrorCode::internal_error, now_, server_out_);
    served->reset = true;
  }

  // The time for the rest of their requests is over.
  std::size_t end_replied() {
    std::size_t count = 0;
    for (Served& each : served_) {
      if (each.stream.state != StreamState::replied) continue;
      server_.reset(each.stream, ErrorCode::no_error, now_, server_out_);
      ++count;
    }
    return count;
  }

  void begin() {
    if (!client_.can_begin()) return;
    Asked& asked = asked_.emplace_back();
    const bool has_content = below(2) == 0;
    RequestHead head;
    head.method = has_content ? "POST" : "GET";
    head.authority = "a.example";
    if (has_content)
      asked.content = pattern(static_cast<std::uint32_t>(below(100)), draw_size(), 'a');
    if (has_content && below(2) == 0) {
      head.content_length = static_cast<std::int64_t>(asked.content.size());
    }
    asked.unsent = asked.content;
    EXPECT_EQ(client_.begin(asked.stream, head, !has_content, client_out_), Begun::yes);
  }

  void send_content(Asked& asked, std::size_t most) {
    const ClientStreamState state = asked.stream.state;
    if (state != ClientStreamState::open && state != ClientStreamState::answered) return;
    const std::size_t before = asked.unsent.size();
    EXPECT_TRUE(client_.write_content(asked.stream, asked.unsent, false, true, most, client_out_));
    moved_ += before - asked.unsent.size();
  }

  void reply(Served& served, std::size_t most) {
    const StreamState state = served.stream.state;
    if (state != StreamState::open && state != StreamState::replying) return;
    if (!served.begun) {
      // Seldom before the request is complete.
      if (!served.complete && most != SIZE_MAX && below(8) != 0) return;
      served.begun = true;
      served.reply = pattern(served.stream.id, draw_size(), 'A');
      served.unsent = served.reply;
      http::ReplyHead head;
      head.content_type = "text/plain";
      ++moved_;
      EXPECT_TRUE(server_.begin_reply(served.stream, head,
                                      static_cast<std::int64_t>(served.reply.size()),
                                      served.reply.empty(), now_, server_out_));
      return;
    }
    const std::size_t before = served.unsent.size();
    EXPECT_TRUE(
        server_.write_content(served.stream, served.unsent, false, true, most, now_, server_out_));
    moved_ += before - served.unsent.size();
  }

  // Some of the bytes that one side has written reach the other.
  static std::size_t take(Outbox& outbox, std::string& to, std::size_t most) {
    std::string all;
    outbox.for_each_pending([&](Bytes bytes, const Retained*) { all += bytes; });
    const std::size_t size = std::min(most, all.size());
    to.append(all, 0, size);
    outbox.advance(size);
    return size;
  }

  void move_to_server(std::size_t most) {
    moved_ += take(client_out_, to_server_, most);
    for (;;) {
      const Step step = server_.next(to_server_, now_, server_out_);
      ASSERT_NE(step.event, Event::closed) << text_of(server_.failure()).name;
      ASSERT_NE(step.event, Event::refused) << server_context_.reader.detail();
      if (step.event == Event::head) {
        Served& served = served_.emplace_back();
        server_.admit(served.stream);
        served.complete = step.last;
      }
      if (step.event == Event::content) {
        Served& served = *served_as(step.stream->id);
        served.content += server_.content();
        served.complete = step.last;
        server_.consume(step.stream, server_.content().size(), server_out_);
      }
      to_server_.erase(0, step.consumed);
      if (step.event == Event::need_bytes && (step.consumed == 0 || to_server_.empty())) return;
    }
  }

  void move_to_client(std::size_t most) {
    moved_ += take(server_out_, to_client_, most);
    for (;;) {
      const ClientStep step = client_.next(to_client_, now_, client_out_);
      ASSERT_NE(step.event, ClientEvent::closed) << text_of(client_.failure()).name;
      if (step.stream != nullptr && step.event != ClientEvent::room) report(step);
      to_client_.erase(0, step.consumed);
      if (step.event == ClientEvent::need_bytes && (step.consumed == 0 || to_client_.empty())) {
        return;
      }
    }
  }

  void report(const ClientStep& step) {
    Asked& asked = *std::find_if(asked_.begin(), asked_.end(),
                                 [&](const Asked& each) { return &each.stream == step.stream; });
    ASSERT_FALSE(asked.given_up) << "an event of a stream that was given up";
    if (step.event == ClientEvent::content) {
      asked.reply += client_.content();
      client_.consume(step.stream, client_.content().size(), client_out_);
    }
    if (step.event == ClientEvent::over) {
      ASSERT_EQ(asked.stream.state, ClientStreamState::closed);
      // A reply that is complete stands, even when the rest of its request fails.
      if (asked.outcome == "complete") return;
      ASSERT_EQ(asked.outcome, "");
      asked.outcome = name_of(step.lost);
    }
    if (step.last) {
      ASSERT_EQ(asked.outcome, "");
      asked.outcome = "complete";
    }
  }

  Served* served_as(std::uint32_t id) {
    const auto found = std::find_if(served_.begin(), served_.end(),
                                    [&](const Served& each) { return each.stream.id == id; });
    return found == served_.end() ? nullptr : &*found;
  }

  void check(bool went_away) {
    for (Asked& each : asked_) {
      SCOPED_TRACE(each.stream.id);
      EXPECT_EQ(each.stream.state, ClientStreamState::closed);
      const Served* const served = served_as(each.stream.id);
      if (served != nullptr && served->complete) {
        EXPECT_EQ(served->content, each.content);
      }
      if (each.given_up) continue;
      if (each.outcome == "complete") {
        ASSERT_NE(served, nullptr);
        EXPECT_EQ(each.reply, served->reply);
      } else if (each.outcome == "reset") {
        ASSERT_NE(served, nullptr);
        EXPECT_TRUE(served->reset);
      } else {  // no caller has seen it
        EXPECT_TRUE(each.outcome == "refused" || (each.outcome == "unprocessed" && went_away))
            << each.outcome;
        EXPECT_EQ(served, nullptr);
      }
    }
    EXPECT_EQ(client_.stream_count(), 0u);
    EXPECT_EQ(server_.stream_count(), 0u);
    EXPECT_EQ(client_.failure(), Failure::none);
    EXPECT_TRUE(!went_away || server_.drained());
  }

  std::mt19937 random_;
  const Instant now_{seconds(100).ns};
  Context server_context_;
  ClientContext client_context_;
  BlockPool blocks_{4096, 4096};
  Outbox server_out_{blocks_}, client_out_{blocks_};
  Machine server_{server_context_, now_};
  ClientMachine client_{client_context_, now_};
  std::list<Asked> asked_;
  std::list<Served> served_;
  std::string to_server_, to_client_;
  std::size_t moved_ = 0;
};

TEST(Http2Loop, every_request_ends_once_and_with_what_was_sent) {
  Loop::Outcomes outcomes;
  for (std::uint32_t seed = 1; seed <= 60 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Loop(seed).run(400, outcomes);
  }
  EXPECT_GE(outcomes["complete"], 300);
  for (const char* seldom : {"reset", "refused", "unprocessed", "given up"}) {
    EXPECT_GE(outcomes[seldom], 1) << seldom;
  }
}

}  // namespace
}  // namespace katana::http2

// SPDX-License-Identifier: Apache-2.0
