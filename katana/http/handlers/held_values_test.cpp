// The memory of a waiting handler is counted by the size of its values, not of the text that they
// were made from.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/http/handlers/exchange_fixture_test.hpp"
#include "katana/http/handlers/from_request.hpp"
#include "katana/http/handlers/json.hpp"
#include "katana/http/handlers/router.hpp"

namespace katana {
namespace {

struct Named {
  std::vector<std::string> names;
};
KATANA_DESCRIBE(Named, names)

// A type that does not tell its size.
class Opaque {
 public:
  explicit Opaque(std::string text) : text_(std::move(text)) {}
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace

template <>
struct FromRequest<Opaque> {
  static Opaque from(Json<container::Value>) { return Opaque("made of the content"); }
};

namespace {

std::string digits(std::size_t count) {
  std::string text = "[1";
  for (std::size_t number = 1; number < count; ++number) text += ",1";
  return text + "]";
}

std::string names(std::size_t count) {
  std::string text = R"({"names":[)";
  for (std::size_t number = 0; number < count; ++number) {
    text += R"("a name of more than fifteen letters",)";
  }
  text.back() = ']';
  return text + "}";
}

class HeldValuesTest : public ServiceTest {
 protected:
  FakeExchange& post(std::string content) {
    exchange_ = std::make_unique<FakeExchange>("POST", "/", "Content-Type: application/json\n");
    std::size_t other = 0;
    exchange_->held.set(Holder::message, other, exchange_->held.bytes_max() - left_);
    exchange_->with_content(std::move(content)).serve(dispatcher());
    return *exchange_;
  }
  template <class Handler>
  void serve(Handler handler) {
    add_routes([&](Router& router) { router.post("/", std::move(handler)); });
  }
  // Runs the handler behind middleware that sees every reply.
  template <class Handler>
  void serve_behind(Handler handler) {
    add_routes([&](Router& router) {
      router.use(Middleware{.after = [this](const RequestView& request, Reply&) {
        seen_ = request.content().size();
      }});
      router.post("/", std::move(handler));
    });
  }

  std::size_t left_ = std::size_t{64} << 20;  // of the memory
  int calls_ = 0;
  std::size_t seen_ = 0;
};

TEST_F(HeldValuesTest, a_list_of_digits_is_counted_by_what_its_values_take) {
  serve([this](Json<container::Value> json) -> Task<Reply> {
    ++calls_;
    co_await gate_;
    co_return Reply::text(format_text("{}", json->as_list().size()));
  });
  post(digits(10'000));
  EXPECT_GE(exchange_->pending_bytes(), 10'000 * sizeof(container::Value));
  EXPECT_LE(exchange_->pending_bytes(), 10'000 * sizeof(container::Value) * 5 / 2);
  gate_.open();
  EXPECT_EQ(exchange_->content_sent, "10000");
}

TEST_F(HeldValuesTest, so_is_a_struct_with_all_that_its_members_have) {
  serve([this](Json<Named> named) -> Task<Reply> {
    co_await gate_;
    co_return Reply::text(format_text("{}", named->names.size()));
  });
  post(names(1'000));
  EXPECT_GE(exchange_->pending_bytes(), 1'000 * (sizeof(std::string) + 36));
  EXPECT_LE(exchange_->pending_bytes(), 1'000 * (2 * sizeof(std::string) + 64));
  gate_.open();
}

TEST_F(HeldValuesTest, of_a_request_there_is_one_copy_however_many_look_at_it) {
  serve_behind([this](Request request) -> Task<Reply> {
    co_await gate_;
    co_return Reply::text(format_text("{}", request.content().size()));
  });
  const std::string content = digits(50'000);
  post(content);
  EXPECT_GE(exchange_->pending_bytes(), content.size());
  EXPECT_LE(exchange_->pending_bytes(), content.size() + content.size() / 2);
  gate_.open();
  EXPECT_EQ(seen_, content.size());
}

TEST_F(HeldValuesTest, of_a_handler_that_took_a_value_the_text_is_gone) {
  serve_behind([this](Json<Named> named) -> Task<Reply> {
    co_await gate_;
    co_return Reply::text(format_text("{}", named->names.size()));
  });
  post(R"({"names":[")" + std::string(100'000, 'x') + "\"]}");
  EXPECT_GE(exchange_->pending_bytes(), 100'000u);
  EXPECT_LE(exchange_->pending_bytes(), 110'000u) << "the value, and not its text beside it";
  gate_.open();
  EXPECT_EQ(seen_, 0u);
}

TEST_F(HeldValuesTest, a_handler_for_whose_values_there_is_no_memory_is_not_called) {
  serve([this](Json<container::Value>) -> Task<Reply> {
    ++calls_;
    co_return Reply(204);
  });
  left_ = 200'000;
  EXPECT_EQ(post(digits(10'000)).status, 503u);
  EXPECT_NE(exchange_->fields_sent.find("Retry-After: 1"), std::string::npos);
  EXPECT_EQ(calls_, 0);
  EXPECT_TRUE(exchange_->held.pressed()) << "others are to give some back";
  EXPECT_EQ(post(digits(1'000)).status, 204u);
  left_ = 1;
  EXPECT_EQ(post(digits(10)).status, 204u) << "what any request takes is not refused";
}

TEST_F(HeldValuesTest, a_handler_that_never_waits_needs_no_memory_for_them) {
  serve([this](Json<container::Value>) {
    ++calls_;
    return Reply(204);
  });
  left_ = 1;
  EXPECT_EQ(post(digits(10'000)).status, 204u);
}

TEST_F(HeldValuesTest, middleware_that_waits_with_a_value_counts_it) {
  add_routes([this](Router& router) {
    router.use([this](Json<container::Value>) -> Task<void> { co_await gate_; });
    router.post("/", [] { return Reply(204); });
  });
  post(digits(10'000));
  EXPECT_GE(exchange_->pending_bytes(), 10'000 * sizeof(container::Value));
  gate_.open();
  EXPECT_EQ(exchange_->status, 204u);
}

TEST_F(HeldValuesTest, what_middleware_leaves_for_the_handler_is_counted_with_all_it_has) {
  add_routes([this](Router& router) {
    router.use([](const RequestView&) {
      return Named{std::vector<std::string>(100, std::string(1'000, 'n'))};
    });
    router.post("/", [this](FromContext<Named>) -> Task<Reply> {
      co_await gate_;
      co_return Reply(204);
    });
  });
  post("");
  EXPECT_GE(exchange_->kept()->held_bytes(), 100'000u);
  gate_.open();
}

TEST_F(HeldValuesTest, a_type_that_says_nothing_of_itself_counts_as_the_largest_of_its_content) {
  serve([this](Opaque opaque) -> Task<Reply> {
    co_await gate_;
    co_return Reply::text(Text(opaque.text()));
  });
  const std::string content = digits(10'000);
  post(content);
  EXPECT_GE(exchange_->pending_bytes(), content.size() * 20);
  gate_.open();
}

TEST_F(HeldValuesTest, a_handler_that_streams_counts_its_values_too) {
  serve([this](Json<container::Value> json, ReplyWriter reply) -> Task<void> {
    reply.begin(200, "text/plain");
    co_await gate_;
    co_await reply.write(json->get_list() != nullptr ? "a list" : "none");
  });
  post(digits(10'000));
  EXPECT_GE(exchange_->pending_bytes(), 10'000 * sizeof(container::Value));
  gate_.open();
  EXPECT_EQ(exchange_->content_sent, "a list");
}

// ---- what a handler hands on ----

TEST_F(HeldValuesTest, a_lease_has_its_request_counted_after_the_reply) {
  std::optional<RequestLease> lease;
  serve([&lease](Request request, RequestLease given) -> Task<Reply> {
    lease.emplace(std::move(given));
    co_return Reply::text(format_text("{}", request.content().size()));
  });
  post(digits(50'000));
  EXPECT_TRUE(exchange_->completed);
  EXPECT_GE(exchange_->held.used_by(Holder::work), 100'000u);
  lease.reset();
  EXPECT_EQ(exchange_->held.used_by(Holder::work), 0u);
}

TEST_F(HeldValuesTest, values_under_a_lease_are_counted_once) {
  std::optional<RequestLease> lease;
  serve([this, &lease](Request request, RequestLease given) -> Task<Reply> {
    lease.emplace(std::move(given));
    co_await gate_;
    co_return Reply::text(format_text("{}", request.content().size()));
  });
  post(digits(50'000));
  EXPECT_GE(exchange_->held.used_by(Holder::work), 100'000u);
  EXPECT_LE(exchange_->pending_bytes(), 1'000u);
  gate_.open();
  lease.reset();
}

TEST_F(HeldValuesTest, a_lease_that_would_take_more_than_half_of_the_memory_is_refused) {
  serve([this](Request, RequestLease) {
    ++calls_;
    return Reply(204);
  });
  left_ = std::size_t{64} << 20;
  EXPECT_EQ(post(std::string(std::size_t{33} << 20, ' ')).status, 503u);
  EXPECT_EQ(calls_, 0);
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
