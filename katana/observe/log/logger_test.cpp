// Calls of a logger with all types of arguments, as the output lines show them.
#include "katana/observe/log/logger.hpp"
#include "katana/base/text/format.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <thread>

#include "katana/base/text/text.hpp"
#include "katana/observe/log/log_fixture_test.hpp"

namespace katana::log {

struct Page {
  int limit = 20;
  std::string after;
};
KATANA_DESCRIBE(Page, limit, after)

struct Query {
  Page page;
  bool exact = false;
};
KATANA_DESCRIBE(Query, page, exact)

struct Vault {
  std::string inside;
};
KATANA_DESCRIBE(Vault, inside)

struct Account {
  std::string user;
  std::string password;
  int pin = 0;
  Vault vault;
  std::optional<std::string> recovery;
};
KATANA_DESCRIBE(Account, user, (password, secret), (pin, secret, named("PIN")), (vault, secret),
                (recovery, secret))

struct Login {
  Account account;
  bool ok = false;
};
KATANA_DESCRIBE(Login, account, ok)

struct Coordinates {
  double x, y;
};

}  // namespace katana::log

template <>
struct fmt::formatter<katana::log::Coordinates> : fmt::formatter<double> {
  auto format(const katana::log::Coordinates& at, fmt::format_context& context) const {
    return fmt::format_to(context.out(), "({}|{})", at.x, at.y);
  }
};

namespace katana::log {
namespace {

using testing::ElementsAre;

enum Plain { plain_seven = 7 };

TEST(Logger, numbers_come_out_as_fmt_formats_them) {
  const MemoryLog log;
  const Logger logger = log->logger("");
  const auto check = [&](auto value) {
    const std::size_t before = log.lines().size();
    ASSERT_TRUE(logger.info("{}", value));
    EXPECT_EQ(log.lines().at(before), "info  " + fmt::format("{}", value));
  };
  check(0), check(-1), check(42u), check(short{-3}), check(std::uint8_t{200});
  check(std::numeric_limits<std::int64_t>::min()), check(std::numeric_limits<std::uint64_t>::max());
  check(true), check(false), check('x'), check(0.1), check(0.1f), check(1e300), check(-0.0);
  check(std::numeric_limits<double>::infinity());
}

TEST(Logger, text_of_every_kind_is_copied) {
  const MemoryLog log;
  const Logger logger = log->logger("");
  std::string gone = "a string that changes after the call";
  const char* const pointer = "a pointer";
  const char* const none = nullptr;
  char array[16] = "an array";
  const Text text(std::string_view("recycled"));
  logger.info("{}|{}|{}|{}|{}|{}", gone, pointer, none, array, std::string_view("view"), text);
  gone.assign(gone.size(), '#');
  array[0] = '#';
  EXPECT_EQ(log.line(),
            "info  a string that changes after the call|a pointer|(null)|an array|view|recycled");
}

TEST(Logger, specifications_numbers_and_nested_fields_are_obeyed) {
  const MemoryLog log;
  const Logger logger = log->logger("");
  logger.info("{:>5}|{:<5}|{:#x}|{:.2f}", 42, "ab", 255, 2.0 / 3);
  logger.info("{1} {0}", "world", "hello");
  logger.info("{:{}}|", 7, 4);
  logger.info("{{}} {{{}}}", 1);
  logger.info("{:>8}", std::string("text"));
  EXPECT_THAT(log.lines(), ElementsAre("info     42|ab   |0xff|0.67", "info  hello world",
                                       "info     7|", "info  {} {1}", "info      text"));
}

TEST(Logger, pointers_and_plain_enums_are_kept) {
  const MemoryLog log;
  const Logger logger = log->logger("");
  logger.info("{} {} {}", plain_seven, reinterpret_cast<const void*>(std::uintptr_t{0xbeef}),
              nullptr);
  EXPECT_EQ(log.line(), "info  7 0xbeef 0x0");
}

TEST(Logger, described_structs_are_kept_member_by_member) {
  const MemoryLog log;
  const Logger logger = log->logger("");
  logger.info("asked {} twice", Query{{5, "x y"}, true}, field("page", Page{6, ""}));
  logger.info("{:>24}|", Page{1, "a"});
  EXPECT_THAT(log.lines(),
              ElementsAre(R"(info  asked {page: {limit: 5, after: x y}, exact: true} twice )"
                          R"(page="{limit: 6, after: }")",
                          "info      {limit: 1, after: a}|"));
}

TEST(Logger, secrets_of_described_structs_are_in_no_record) {
  const MemoryLog log;
  const Logger logger = log->logger("");
  const Account account{"ada", "countess", 4711, {"countess"}, "countess"};
  logger.info("{}", account);
  logger.info("in", field("login", Login{account, true}), field("next", 1));
  EXPECT_THAT(log.lines(),
              ElementsAre("info  {user: ada, password: ***, PIN: ***, vault: ***, recovery: ***}",
                          R"(info  in login="{account: {user: ada, password: ***, PIN: ***, )"
                          R"(vault: ***, recovery: ***}, ok: true}" next=1)"));
}

// The secret is not in the ring's memory either, where a crash would find it, and not in a binary
// file.
TEST(Logger, a_secret_is_not_copied) {
  const Account account{"ada", "countess", 4711, {"countess"}, {}};
  std::array<char, 256> record{};
  const char* const end = put(record.data(), capture(account));
  const Bytes copied(record.data(), static_cast<std::size_t>(end - record.data()));
  EXPECT_EQ(copied.size(), captured_bytes(capture(account)));
  EXPECT_NE(copied.find("ada"), Bytes::npos);
  EXPECT_EQ(copied.find("countess"), Bytes::npos);
}

TEST(Logger, other_types_are_formatted_at_the_call_when_that_is_asked_for) {
  const MemoryLog log;
  const Logger logger = log->logger("");
  logger.info("at {}", rendered(Coordinates{1, 2.5}), field("to", rendered<4>(Coordinates{3, 4})));
  EXPECT_EQ(log.line(), "info  at (1|2.5) to=\"(3|4…\"");
}

TEST(Logger, text_beyond_the_limit_is_cut_and_marked) {
  const MemoryLog log;
  log->logger("").info("{}", std::string(text_bytes_max + 1, 'a'), field("end", 1));
  EXPECT_EQ(log.line(), "info  " + std::string(text_bytes_max, 'a') + "… end=1");
}

TEST(Logger, text_at_the_limit_is_whole) {
  const MemoryLog log;
  log->logger("").info("{}", std::string(text_bytes_max, 'a'));
  EXPECT_EQ(log.line(), "info  " + std::string(text_bytes_max, 'a'));
}

TEST(Logger, fields_follow_the_message_and_are_quoted_where_needed) {
  const MemoryLog log;
  log->logger("http").info("request done", field("status", 200), field("path", "/a b"),
                           field("empty", ""), field("quote", "a\"b"), field("ratio", 0.5));
  EXPECT_EQ(log.line(),
            R"(info  http: request done status=200 path="/a b" empty="" quote="a\"b" ratio=0.5)");
}

TEST(Logger, what_was_logged_cannot_end_its_line_or_steer_the_terminal) {
  const MemoryLog log;
  const Logger logger = log->logger("");
  logger.info("{}", "a\nb\r\t\x1b[31m\x7f\xff\xc2\x9b ü");
  logger.info("{:>3}", "\n", field("f", "\n\x1b"));
  logger.info("{}", '\n');
  EXPECT_THAT(log.lines(), ElementsAre(R"(info  a\nb\r\t\x1b[31m\x7f\xff\xc2\x9b ü)",
                                       R"(info    \n f="\n\x1b")", R"(info  \n)"));
}

TEST(Logger, records_below_the_threshold_are_not_made) {
  const MemoryLog log;
  Logger logger = log->logger("x");
  EXPECT_FALSE(logger.debug("no"));
  EXPECT_TRUE(logger.info("yes"));
  logger.set_level(Level::debug);
  EXPECT_TRUE(logger.debug("now"));
  logger.set_level(Level::off);
  EXPECT_FALSE(logger.fatal("never"));
  EXPECT_THAT(log.lines(), ElementsAre("info  x: yes", "debug x: now"));
}

TEST(Logger, handles_of_one_name_share_their_threshold) {
  const MemoryLog log;
  const Logger first = log->logger("x");
  log->logger("x").set_level(Level::error);
  EXPECT_EQ(first.level(), Level::error);
  EXPECT_EQ(log->logger("y").level(), Level::info);
}

TEST(Logger, that_no_log_made_discards_everything) {
  Logger logger;
  logger.set_level(Level::trace);
  EXPECT_FALSE(logger.fatal("nobody hears {}", 1));
}

TEST(Logger, carries_the_fields_of_the_open_scopes_innermost) {
  const MemoryLog log;
  const Logger logger = log->logger("");
  Context outer(field("request_id", "r-1"), field("trace_id", std::uint64_t{7}));
  {
    const Scope scope(outer);
    logger.info("a {}", 1, field("own", true));
    {
      const Context inner(field("job", 3));
      const Scope nested(inner);
      logger.info("b");
    }
    logger.info("c");
  }
  logger.info("d");
  EXPECT_THAT(log.lines(),
              ElementsAre("info  a 1 own=true request_id=r-1 trace_id=7", "info  b job=3",
                          "info  c request_id=r-1 trace_id=7", "info  d"));
}

TEST(Logger, a_scope_is_of_its_thread) {
  const MemoryLog log;
  const Context context(field("request_id", 1));
  const Scope scope(context);
  std::thread([&] { log->logger("").info("other"); }).join();
  EXPECT_EQ(log.line(), "info  other");
}

TEST(Logger, a_context_that_overflows_says_so_and_keeps_what_fits) {
  Context context(field("small", 1));
  EXPECT_FALSE(context.overflowed());
  context.add(field("large", std::string(context_bytes_max, 'x')));
  EXPECT_TRUE(context.overflowed());
  const MemoryLog log;
  const Scope scope(context);
  log->logger("").info("m");
  EXPECT_EQ(log.line(), "info  m small=1");
}

TEST(Logger, one_call_site_is_one_site_whatever_it_is_called_with) {
  const MemoryLog log;
  const Logger logger = log->logger("");
  for (int count = 0; count < 3; ++count) logger.info("{} {}", count, std::string(count, 'x'));
  EXPECT_THAT(log.lines(), ElementsAre("info  0 ", "info  1 x", "info  2 xx"));
}

TEST(RateLimit, lets_through_so_many_in_a_period_and_counts_the_rest) {
  RateLimit limit(2, seconds(1));
  const Instant start = {};
  EXPECT_TRUE(limit.ask(start).pass);
  EXPECT_TRUE(limit.ask(start + milliseconds(500)).pass);
  EXPECT_FALSE(limit.ask(start + milliseconds(501)).pass);
  EXPECT_FALSE(limit.ask(start + milliseconds(999)).pass);
  const RateLimit::Verdict next = limit.ask(start + seconds(1));
  EXPECT_TRUE(next.pass);
  EXPECT_EQ(next.suppressed, 2u);
  EXPECT_EQ(limit.ask(start + seconds(1)).suppressed, 0u);
}

TEST(RateLimit, of_a_call_site_is_its_own_and_says_what_it_held_back) {
  const MemoryLog log;
  const Logger logger = log->logger("");
  for (int count = 0; count < 5; ++count) {
    logger.warn(KATANA_AT_MOST(2, seconds(3600)), "first {}", count);
    logger.warn(KATANA_AT_MOST(1, seconds(3600)), "second {}", count);
  }
  RateLimit limit(1, milliseconds(1));
  while (limit.suppressed() == 0) limit.ask({});
  logger.info(limit, "third");  // the clock is past the first period by now
  EXPECT_THAT(log.lines(), ElementsAre("warn  first 0", "warn  second 0", "warn  first 1",
                                       testing::StartsWith("info  third suppressed=1")));
}

}  // namespace
}  // namespace katana::log

// SPDX-License-Identifier: Apache-2.0
