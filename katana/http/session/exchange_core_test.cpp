#include "katana/http/session/exchange_core.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "katana/wire/http1/head_parser.hpp"

namespace katana::session {
namespace {

constexpr std::size_t plenty = 1024 * 1024;

// A head in bytes that are overwritten when its call ends, as on a reactor.
class LentHead {
 public:
  LentHead() : parser_(limits_) {
    http1::LineProgress progress;
    http1::Framing framing;
    const auto result = parser_.parse(bytes_, progress, head_, framing);
    EXPECT_EQ(result.verdict, http1::HeadVerdict::complete);
  }
  const http::Head* get() const { return &head_; }
  void end_call() {
    std::ranges::fill(bytes_, '\0');
    head_ = {};
  }

 private:
  http1::Limits limits_;
  http1::HeadParser parser_;
  std::string bytes_ = "GET /path HTTP/1.1\r\nHost: a\r\n\r\n";
  http::Head head_;
};

class Waiting final : public Pending {
 public:
  explicit Waiting(const Activity*& seen) : seen_(seen) {}
  ~Waiting() override { seen_ = current_activity; }
  std::size_t held_bytes() const noexcept override { return 100; }

 private:
  const Activity*& seen_;
};

TEST(ExchangeCore, a_head_is_gone_with_its_call_unless_it_is_kept) {
  LentHead lent;
  ExchangeCore core;
  core.lend_head(lent.get());
  EXPECT_FALSE(core.return_head(false));
  EXPECT_EQ(core.head(), nullptr);

  core.lend_head(lent.get());
  EXPECT_TRUE(core.return_head(true));
  EXPECT_FALSE(core.return_head(true)) << "once is enough";
  lent.end_call();
  ASSERT_NE(core.head(), nullptr);
  EXPECT_EQ(core.head()->target(), "/path");
}

TEST(ExchangeCore, a_head_is_kept_for_content_that_is_to_be_collected) {
  LentHead lent;
  ExchangeCore core;
  core.mode = ExchangeCore::Mode::collect;
  core.content_pending = true;
  core.lend_head(lent.get());
  EXPECT_TRUE(core.return_head(false));
  core.append_content("ab");
  core.append_content("c");
  EXPECT_EQ(core.content(), "abc");
  core.drop_content();
  EXPECT_EQ(core.content(), "");
}

TEST(ExchangeCore, what_it_keeps_is_charged_and_given_back) {
  HeldMemory memory(plenty);
  LentHead lent;
  const Activity* seen = nullptr;
  ExchangeCore core;
  core.lend_head(lent.get());
  core.pending = std::make_unique<Waiting>(seen);
  core.charge(memory, 10);
  EXPECT_EQ(memory.used(), 10 + frame_bytes_counted + lent.get()->bytes().size() + 100);
  core.detach_head();
  core.charge(memory);
  EXPECT_GT(memory.used(), frame_bytes_counted + 2 * lent.get()->bytes().size() + 100);
  EXPECT_FALSE(core.grow(memory, 2 * plenty)) << "more than there is";
  EXPECT_TRUE(core.grow(memory, 1000));
  EXPECT_EQ(memory.used(), core.held_bytes());
  core.end(memory);
  EXPECT_EQ(memory.used(), 0u);
  EXPECT_EQ(core.head(), nullptr);
  EXPECT_EQ(core.pending, nullptr);
}

TEST(ExchangeCore, a_handler_goes_on_while_something_will_make_its_reply) {
  const Activity* seen = nullptr;
  ExchangeCore core;
  EXPECT_FALSE(core.goes_on());
  core.content_pending = true;
  EXPECT_FALSE(core.goes_on()) << "nobody wants the content";
  core.mode = ExchangeCore::Mode::stream;
  EXPECT_TRUE(core.goes_on());
  core.content_pending = false;
  core.pending = std::make_unique<Waiting>(seen);
  EXPECT_TRUE(core.goes_on());
}

TEST(ExchangeCore, a_cancelled_handler_ends_as_its_own_activity) {
  const Activity* seen = nullptr;
  ExchangeCore core;
  core.context = std::make_unique<ExchangeContext>();
  core.pending = std::make_unique<Waiting>(seen);
  core.cancel_handler();
  EXPECT_EQ(core.pending, nullptr);
  EXPECT_EQ(seen, core.context.get());
  EXPECT_EQ(current_activity, nullptr);
}

TEST(ExchangeCore, a_patient_reply_has_no_deadline_until_its_peer_has_ended_its_side) {
  ExchangeCore core;
  const Instant later = Instant{} + seconds(1);
  core.give_time(later, false);
  EXPECT_EQ(core.handler_deadline, later);
  core.patient = true;
  core.give_time(later, false);
  EXPECT_EQ(core.handler_deadline, never);
  core.give_time(later, true);
  EXPECT_EQ(core.handler_deadline, later);
}

TEST(ExchangeCore, the_record_has_no_content_where_a_reply_has_none) {
  ExchangeCore core;
  core.note_reply(200, 13);
  EXPECT_EQ(core.record({}, 1, false, false).content_bytes, 13u);
  EXPECT_EQ(core.record({}, 1, false, true).content_bytes, 0u) << "HEAD";
  core.note_reply(304, 13);
  EXPECT_EQ(core.record({}, 1, false, false).content_bytes, 0u);
  EXPECT_EQ(core.record({}, 1, false, false).kind, ExchangeKind::request);
  EXPECT_EQ(core.record({}, 1, true, false).kind, ExchangeKind::websocket);
  core.patient = true;
  EXPECT_EQ(core.record({}, 1, false, false).kind, ExchangeKind::events);
}

}  // namespace
}  // namespace katana::session

// SPDX-License-Identifier: Apache-2.0
