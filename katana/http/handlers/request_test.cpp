#include "katana/http/handlers/request.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "katana/http/routing/route_table_builder.hpp"

namespace katana {
namespace {

// A view of a request, and the memory it borrows.
struct Borrowed {
  explicit Borrowed(std::string target = "/users/7%2F8?a=1&b=2", std::string with = "content")
      : text("POST " + target + " HTTP/1.1\r\nHost: example\r\nX-Two: 2\r\n\r\n"),
        path(target.substr(0, target.find('?'))),
        content(std::move(with)) {
    const auto slice = [&](std::string_view part) {
      return http::Slice{static_cast<std::uint16_t>(text.find(part)),
                         static_cast<std::uint16_t>(part.size())};
    };
    head.begin(text.data());
    head.set_bytes(text.size());
    head.set_request_line(http::Method::post, slice("POST"), slice(target), 1);
    head.add_field(slice("Host"), slice("example"));
    head.add_field(slice("X-Two"), value_of_two());
    RouteTableBuilder builder;
    EXPECT_TRUE(builder.add(http::Method::post, "/users/{id}"));
    table.emplace(std::move(builder).build());
    EXPECT_EQ(table->match(http::Method::post, path, parameters).kind, MatchKind::found);
    const std::size_t mark = target.find('?');
    const Bytes query = mark == std::string::npos
                            ? Bytes()
                            : Bytes(text).substr(5 + mark + 1, target.size() - mark - 1);
    view.emplace(head, path, query, parameters, content);
  }
  http::Slice value_of_two() const {
    return {static_cast<std::uint16_t>(text.find("X-Two: ") + 7), 1};
  }
  // Overwrites the bytes, as the connection does after the handler's call.
  void overwrite() {
    for (std::string* each : {&text, &path, &content}) std::ranges::fill(*each, '\xee');
    head = http::Head();
    parameters = PathParameters();
  }

  std::string text, path, content;
  http::Head head;
  PathParameters parameters;
  std::optional<RouteTable> table;
  std::optional<RequestView> view;
};

// The arrival of a request, without a connection.
struct CameByProxy final : session::ClientSource {
  session::Arrival arrival() noexcept override { return came; }
  session::Client client(const http::Head& head) noexcept override {
    return session::client_of(came, head);
  }
  session::Arrival came;
};

void expect_the_same(const RequestView& request) {
  EXPECT_EQ(request.method(), http::Method::post);
  EXPECT_EQ(request.method_text(), "POST");
  EXPECT_EQ(request.target(), "/users/7%2F8?a=1&b=2");
  EXPECT_EQ(request.path(), "/users/7%2F8");
  EXPECT_EQ(request.query(), "a=1&b=2");
  EXPECT_EQ(request.field("host"), "example");
  EXPECT_EQ(request.field("x-two"), "2");
  EXPECT_EQ(request.field("x-three"), std::nullopt);
  EXPECT_EQ(request.content(), "content");
  ASSERT_EQ(request.parameters().size(), 1u);
  EXPECT_EQ(request.parameters()[0].name, "id");
  EXPECT_EQ(request.parameters()[0].value, "7%2F8");
}

TEST(RequestView, shows_every_part_where_it_lies) {
  const Borrowed borrowed;
  expect_the_same(*borrowed.view);
  EXPECT_EQ(borrowed.view->target().data(), borrowed.text.data() + 5);
  EXPECT_EQ(borrowed.view->content().data(), borrowed.content.data());
}

TEST(Request, every_part_survives_what_it_was_made_from) {
  Borrowed borrowed;
  const Request request(*borrowed.view);
  borrowed.overwrite();
  expect_the_same(request.view());
  EXPECT_EQ(request.content(), "content");
  EXPECT_EQ(request.path(), "/users/7%2F8");
}

TEST(Request, copies_share_what_they_own_and_the_last_one_keeps_it) {
  Borrowed borrowed;
  auto first = std::make_unique<Request>(*borrowed.view);
  const Request second = *first;
  EXPECT_EQ(first->content().data(), second.content().data());
  first.reset();
  borrowed.overwrite();
  expect_the_same(second.view());
}

TEST(Request, can_be_made_from_the_view_of_another) {
  Borrowed borrowed;
  auto first = std::make_unique<Request>(*borrowed.view);
  borrowed.overwrite();
  const Request second(first->view());
  first.reset();
  expect_the_same(second.view());
}

TEST(Request, parts_that_are_absent_stay_absent) {
  Borrowed borrowed("/users/9", "");
  const Request request(*borrowed.view);
  borrowed.overwrite();
  EXPECT_EQ(request.query(), "");
  EXPECT_EQ(request.content(), "");
  EXPECT_EQ(request.path(), "/users/9");
  EXPECT_EQ(request.parameters().find("id"), "9");
}

TEST(Request, large_content_is_copied_whole) {
  std::string content(300'000, '\0');
  for (std::size_t at = 0; at < content.size(); ++at) content[at] = static_cast<char>(at * 7);
  Borrowed borrowed("/users/9", content);
  const Request request(*borrowed.view);
  borrowed.overwrite();
  EXPECT_TRUE(request.content() == content);
}

TEST(Request, knows_its_client_after_the_call_that_brought_it) {
  Borrowed borrowed;
  const Network proxies[] = {*Network::parse("10.0.0.0/8")};
  auto source = std::make_unique<CameByProxy>();
  source->came.peer = engine::PeerEndpoint::of(*IpAddress::parse("10.0.0.1"), 4000);
  source->came.trust =
      session::ProxyTrust::make(proxies, {.fields = http::ForwardedFields::x_forwarded});
  const RequestView view(borrowed.head, borrowed.path, {}, borrowed.parameters, {}, source.get());
  EXPECT_EQ(view.client().host, "example");
  const Request request(view);
  borrowed.overwrite();
  source.reset();
  const Request copy = request;  // NOLINT: a copy shares what it knows
  EXPECT_EQ(copy.client().host, "example");
  EXPECT_EQ(copy.client().text().bytes(), "10.0.0.1:4000");
}

TEST(Request, without_a_connection_knows_no_address) {
  const Borrowed borrowed;
  EXPECT_EQ(borrowed.view->client().text().bytes(), "");
  EXPECT_EQ(borrowed.view->client().host, "example");
  EXPECT_EQ(borrowed.view->client().origin(), "http://example");
}

}  // namespace
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
