#include "katana/http/handlers/csv_stream.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "katana/base/system/propagate.hpp"
#include "katana/http/handlers/exchange_fixture_test.hpp"

namespace katana {
namespace {

struct Tea {
  int id = 0;
  std::string name;
};
KATANA_DESCRIBE(Tea, id, (name, length(1, 20)))

// Rows, as a stream of a database returns them.
struct TeaRows {
  int left = 0;
  int fails_at = -1;
  int number = 0;
  Task<Result<std::optional<Tea>>> next() {
    if (number == fails_at) co_return fail(Code::unavailable, "the database is gone");
    if (left-- == 0) co_return std::nullopt;
    co_return Tea{++number, "green, \"Sencha\""};
  }
};

class CsvStreamTest : public ServiceTest {
 protected:
  template <class F>
  void route(F handler) {
    add_routes([&](Router& router) { router.any("/a", std::move(handler)); });
  }
  // The reply to a body that arrives in pieces of `piece` bytes.
  std::string post(Bytes content, std::size_t piece) {
    exchange_ = std::make_unique<FakeExchange>("POST", "/a");
    exchange_->awaiting_content(std::nullopt);
    exchange_->serve(*dispatcher_);
    while (!exchange_->completed && content.size() > piece) {
      exchange_->streamed(std::string(content.substr(0, piece)), false);
      content.remove_prefix(piece);
    }
    if (!exchange_->completed) exchange_->streamed(std::string(content), true);
    return std::to_string(exchange_->status) + " " + exchange_->content_sent;
  }
  void route_names() {
    route([](ContentReader content) -> Task<Result<Reply>> {
      CsvRowsReader<Tea> rows(content);
      std::string names;
      while (true) {
        KATANA_CO_TRY(const std::optional<Tea> tea, co_await rows.next());
        if (!tea) break;
        names += std::to_string(tea->id) + tea->name + ";";
      }
      co_return Reply::text(names);
    });
  }
};

TEST_F(CsvStreamTest, rows_are_sent_behind_the_names_of_their_members) {
  for (const int count : {0, 1, 2, 1000}) {
    route([count](ReplyWriter reply) -> Task<void> {
      TeaRows rows{.left = count};
      Reply head(200, csv_type, Text());
      head.add_field("X-Report", "teas");
      co_await send_csv(reply, rows, std::move(head));
    });
    std::string wanted = "id,name\r\n";
    for (int id = 1; id <= count; ++id) {
      wanted += std::to_string(id) + ",\"green, \"\"Sencha\"\"\"\r\n";
    }
    EXPECT_EQ(send("GET", "/a").content_sent, wanted);
    EXPECT_EQ(exchange_->type_sent, "text/csv; charset=utf-8; header=present");
    EXPECT_NE(exchange_->fields_sent.find("X-Report: teas"), std::string::npos);
  }
}

TEST_F(CsvStreamTest, rows_that_fail_at_once_are_a_problem_and_later_a_broken_reply) {
  int fails_at = 0;
  route([&fails_at](ReplyWriter reply) -> Task<void> {
    TeaRows rows{.left = 9000, .fails_at = fails_at};
    co_await send_csv(reply, rows);
  });
  EXPECT_EQ(send("GET", "/a").status, 503u);
  fails_at = 5000;
  EXPECT_EQ(send("GET", "/a").status, 200u);
  EXPECT_TRUE(exchange_->aborted);
}

TEST_F(CsvStreamTest, a_body_is_read_row_by_row_wherever_it_is_cut) {
  route_names();
  const Bytes body = "name,id\r\n\"a, \"\"b\"\"\",1\r\nc,2";
  for (std::size_t piece = 1; piece <= body.size(); ++piece) {
    EXPECT_EQ(post(body, piece), "200 1a, \"b\";2c;") << piece;
  }
  EXPECT_EQ(post("id,name\n", 3), "200 ");
  EXPECT_EQ(post("", 3), "200 ");
}

TEST_F(CsvStreamTest, a_row_that_does_not_fit_is_named) {
  route_names();
  const std::string refused = post("id,name\n1,a\n2,\n", 4);
  EXPECT_TRUE(refused.starts_with("400 ")) << refused;
  EXPECT_NE(refused.find("row 3: /name"), std::string::npos) << refused;
  EXPECT_TRUE(post("id,name\n\"1\"x,a\n", 4).starts_with("400 "));
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
