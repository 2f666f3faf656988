// A service and its client that were generated from orders.yaml: objects and lists in queries and
// forms, by names with brackets and as JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "api.hpp"
#include "katana/base/text/text.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/http/client/http_client.hpp"
#include "katana/testing/fake_upstream.hpp"
#include "katana/testing/test_server.hpp"

namespace {

using katana::container::to_json;
using testing::HasSubstr;

// Replies with the request as it understood it, as JSON.
class Orders final : public orders::OrdersApi {
 public:
  katana::Task<orders::FindOrdersReply> find_orders(katana::Request,
                                                    orders::FindOrdersQuery query) override {
    co_return orders::FindOrdersReply::status_200(katana::Text(to_json(query)));
  }
  katana::Task<orders::FindLabelsReply> find_labels(katana::Request,
                                                    orders::FindLabelsQuery query) override {
    co_return orders::FindLabelsReply::status_200(katana::Text(to_json(query)));
  }
  katana::Task<orders::AddOrderReply> add_order(katana::Request,
                                                orders::AddOrderForm form) override {
    co_return orders::AddOrderReply::status_200(katana::Text(to_json(form)));
  }
  katana::Task<orders::AttachReply> attach(katana::Request, orders::AttachForm form) override {
    std::string text = form.file.filename + "=" + form.file.content + " " + form.order->name;
    for (const auto& each : form.items) text += " " + each->name;
    if (form.card) text += " " + form.card->number;
    co_return orders::AttachReply::status_200(katana::Text(text));
  }
  katana::Task<orders::NoteReply> note(katana::Request, orders::NoteForm form) override {
    co_return orders::NoteReply::status_200(katana::Text(form.item->name));
  }
};

class OrdersTest : public testing::Test {
 protected:
  static katana::Result<katana::Service> service() {
    katana::Router router;
    orders::add_routes(router, std::make_shared<Orders>());
    return std::move(router).build();
  }
  static std::string shown(const katana::testing::TestReply& reply) {
    return std::to_string(reply.status()) + " " + std::string(reply.content());
  }
  std::string get(katana::Bytes query) {
    return shown(server_.get("/orders?" + std::string(query)));
  }
  std::string post(katana::Bytes form) {
    return shown(server_.send("POST", "/orders", form,
                              {{"Content-Type", "application/x-www-form-urlencoded"}}));
  }
  katana::testing::TestServer server_{service()};
};

TEST_F(OrdersTest, a_query_has_lists_and_objects) {
  EXPECT_EQ(get("ids=1,2&fields[]=a&fields%5B%5D=b&expand[0]=x&expand[1]=y&created[gte]=5"),
            R"(200 {"limit":20,"ids":[1,2],"fields[]":["a","b"],"expand":["x","y"],)"
            R"("created":{"gte":5}})");
  EXPECT_THAT(get("created=7&expand[]=x&limit=3"), HasSubstr(R"("limit":3)"));
  EXPECT_THAT(get("created=7&expand[]=x"), HasSubstr(R"("expand":["x"],"created":7)"));
}

TEST_F(OrdersTest, what_does_not_fit_is_400_that_names_all_of_it) {
  const std::string refused =
      get("limit=101&ids=1,a&expand[]=far+too+long&created[lte]=5&expand[]=b");
  EXPECT_THAT(refused, testing::StartsWith("400"));
  for (const char* const words :
       {"query parameter 'limit': expected at most 100, got 101",
        "query parameter 'ids[1]': expected integer, got other text",
        "query parameter 'expand[0]': expected at most 9 characters, got 12",
        "query parameter 'created[lte]': is not known"}) {
    EXPECT_THAT(refused, HasSubstr(words));
  }
  EXPECT_THAT(get("expand[0][a]=1&expand[0]=2"),
              HasSubstr("query parameter 'expand[0]' is a value"));
  EXPECT_THAT(get("limit=%zz"), HasSubstr("query parameter 'limit': expected valid percent-enc"));
}

TEST_F(OrdersTest, an_object_of_any_names_has_the_names_that_are_left) {
  const auto ask = [this](const char* query) {
    return shown(server_.get("/labels?" + std::string(query)));
  };
  EXPECT_EQ(ask("red=1&limit=3&a%5Bb%5D=2&labels=3&x%26y=4"),
            R"(200 {"limit":3,"labels":{"a[b]":2,"labels":3,"red":1,"x&y":4}})");
  EXPECT_EQ(ask("limit=3"), R"(200 {"limit":3,"labels":null})");
  EXPECT_EQ(ask("labels[x]=1&labels%5By%5D=2&labels[]=3&labels=4"),
            R"(200 {"limit":20,"labels":{"labels":4,"labels[]":3,"labels[x]":1,"labels[y]":2}})");
  EXPECT_THAT(ask("red=x"),
              testing::AllOf(testing::StartsWith("400"), HasSubstr(R"("pointer":"/labels/red")"),
                             HasSubstr("query parameter 'red': expected integer")));
  EXPECT_THAT(ask("labels[x]=10"),
              HasSubstr("query parameter 'labels[x]': expected at most 9, got 10"));
}

TEST_F(OrdersTest, a_form_has_lists_and_objects) {
  EXPECT_EQ(post("items[0][name]=a&items[0][price]=5&items[1][name]=b&items[1][parts][0][name]=c&"
                 "metadata[k]=v&metadata[l]=w&card[number]=42&codes=1%7C2&gift=true"),
            R"(200 {"items":[{"name":"a","price":5},{"name":"b","parts":[{"name":"c"}]}],)"
            R"("metadata":{"k":"v","l":"w"},"card":{"number":"42"},"codes":[1,2],"gift":true})");
  EXPECT_THAT(post("items[0][name]=a&card="), HasSubstr(R"("card":"")"));
  EXPECT_THAT(post("items[0][price]=-1&items[5][name]=b"),
              testing::AllOf(
                  testing::StartsWith("400"), HasSubstr("form field 'items[0][name]': is missing"),
                  HasSubstr("form field 'items[0][price]': expected at least 0, got -1")));
  EXPECT_THAT(post("gift=true"), HasSubstr("form field 'items': is missing"));
}

// The client at the service.
class OrdersClientTest : public OrdersTest {
 protected:
  static katana::client::HttpClient make_http() {
    katana::client::HttpClientOptions options;
    options.tls.system_authorities = false;
    options.seed = 1;
    return *katana::client::HttpClient::make(options);
  }
  template <class T>
  katana::Result<T> finish(katana::Task<katana::Result<T>> task) {
    server_.loop().within([&] { task.start(); });
    server_.loop().run_while([&] { return !task.done(); }, katana::seconds(60));
    return task.result();
  }
  void SetUp() override {
    ASSERT_TRUE(server_.start());
    server_.advance(katana::milliseconds(1));  // its reactor is that of this thread
  }

  katana::testing::FakeUpstream upstream_{server_, "http://orders.example",
                                          [](katana::Router& router) {
                                            katana::Group group = router.group("/v1");
                                            orders::add_routes(group, std::make_shared<Orders>());
                                          }};
  orders::OrdersClient client_{make_http()};
};

TEST_F(OrdersClientTest, what_the_client_sends_is_what_the_service_reads) {
  orders::FindOrdersQuery query;
  query.ids = {1, 2};
  query.fields = {"a"};
  query.expand = {"x&y", "z"};
  orders::Range range;
  range.gte = std::int64_t{5};
  query.created = range;
  const auto found = finish(client_.find_orders(query));
  ASSERT_TRUE(found) << found.error().describe();
  EXPECT_EQ(found->status_200(), to_json(query));
  EXPECT_EQ(upstream_.requests()[0].target,
            "/v1/orders?limit=20&ids=1,2&fields%5B%5D=a&expand%5B0%5D=x%26y&expand%5B1%5D=z&"
            "created%5Bgte%5D=5");
  orders::AddOrderForm order;
  orders::Item item;
  item.name = "a=b";
  item.price = std::int64_t{5};
  order.items = {item};
  order.metadata.emplace()["k"] = "v";
  order.codes = {1, 2};
  const auto added = finish(client_.add_order(order));
  ASSERT_TRUE(added) << added.error().describe();
  EXPECT_EQ(added->status_200(), to_json(order));
}

TEST_F(OrdersClientTest, an_object_of_any_names_is_sent_by_its_names) {
  orders::FindLabelsQuery query;
  query.limit = 3;
  query.labels.emplace()["red"] = 1;
  (*query.labels)["a[b]"] = 2;
  (*query.labels)["labels[x]"] = 4;  // the map's own name as the prefix
  const auto found = finish(client_.find_labels(query));
  ASSERT_TRUE(found) << found.error().describe();
  EXPECT_EQ(found->status_200(), to_json(query));
  EXPECT_EQ(upstream_.requests()[0].target, "/v1/labels?limit=3&a%5Bb%5D=2&labels%5Bx%5D=4&red=1");
}

TEST_F(OrdersClientTest, objects_without_a_style_are_json) {
  orders::AttachForm form;
  form.file = {"a.txt", "text/plain", "abc"};
  form.order->name = "one";
  form.items.resize(2);
  form.items[0]->name = "two";
  form.items[1]->name = "three";
  form.card.emplace().number = "42";
  const auto attached = finish(client_.attach(form));
  ASSERT_TRUE(attached) << attached.error().describe();
  EXPECT_EQ(attached->status_200(), "a.txt=abc one two three 42");
  orders::NoteForm note;
  note.item->name = "one";
  const auto noted = finish(client_.note(note));
  ASSERT_TRUE(noted) << noted.error().describe();
  EXPECT_EQ(noted->status_200(), "one");
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
