// A service generated from calculator.yaml. It has types of several without a discriminator, types
// that contain themselves, and the sources of two tags in two files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "api.hpp"
#include "katana/testing/fake_upstream.hpp"
#include "katana/testing/test_server.hpp"

namespace {

using calculator::Amount;
using calculator::Outcome;
using calculator::Unknown;

// The sum of the known numbers; unknown names are kept.
double value_of(const calculator::Operand& operand, Unknown& unknown);

struct Calculation {
  Unknown& unknown;
  double operator()(double number) const { return number; }
  double operator()(const std::string& name) const {
    unknown.names.push_back(name);
    return 0;
  }
  double operator()(const calculator::Expression& expression) const {
    return std::visit(*this, expression);
  }
  double operator()(const calculator::ExpressionSum& sum) const {
    double all = value_of(*sum.left, unknown) + value_of(*sum.right, unknown);
    if (sum.others) {
      for (const auto& each : *sum.others) all += value_of(each, unknown);
    }
    return all;
  }
  double operator()(const calculator::ExpressionNegation& negation) const {
    return -(*this)(*negation.of);
  }
};

double value_of(const calculator::Operand& operand, Unknown& unknown) {
  return operand.visit(Calculation{unknown});
}

class Values final : public calculator::ValuesApi {
 public:
  katana::Task<calculator::CalculateReply> calculate(katana::Request,
                                                     calculator::CalculateQuery query,
                                                     calculator::Operand operand) override {
    Unknown unknown;
    Amount amount;
    amount.value = value_of(operand, unknown);
    if (query.digits) amount.digits = *query.digits;
    unknown.names.insert(unknown.names.end(), query.only.begin(), query.only.end());
    const Outcome outcome = unknown.names.empty() ? Outcome(amount) : Outcome(unknown);
    co_return calculator::CalculateReply::status_200(outcome);
  }
};

class Chains final : public calculator::ChainsApi {
 public:
  katana::Task<calculator::MeasureReply> measure(katana::Request,
                                                 calculator::Chain chain) override {
    Amount amount;
    for (const calculator::Chain* at = &chain; at != nullptr;
         at = at->next ? &**at->next : nullptr) {
      ++amount.value;
    }
    if (chain.ledger && chain.ledger->owner) {
      const auto* const holder = chain.ledger->owner->get_if<calculator::Holder>();
      if (holder != nullptr) amount.digits = holder->name;
    }
    const Outcome outcome = amount;
    co_return calculator::MeasureReply::status_200(outcome);
  }
  katana::Task<calculator::CountReply> count(katana::Request, std::int64_t from,
                                             std::int32_t to) override {
    Amount amount;
    amount.value = static_cast<double>(to - from);
    co_return calculator::CountReply::status_200(amount);
  }
};

class CalculatorTest : public testing::Test {
 protected:
  static katana::Result<katana::Service> service() {
    katana::Router router;
    calculator::add_routes(router, std::make_shared<Values>());
    calculator::add_routes(router, std::make_shared<Chains>());
    return std::move(router).build();
  }
  std::string post(katana::Bytes target, katana::Bytes content) {
    const auto reply = server_.post(target, content);
    return std::to_string(reply.status()) + " " + std::string(reply.content());
  }
  katana::testing::TestServer server_{service()};
};

TEST_F(CalculatorTest, what_is_one_of_several_is_told_by_its_kind_and_members) {
  EXPECT_EQ(post("/values", "2.5"), R"(200 {"value":2.5})");
  EXPECT_EQ(post("/values", R"("x")"), R"(200 {"names":["x"]})");
  EXPECT_EQ(post("/values?digits=all", R"({"left":1,"right":2,"does":"sum"})"),
            R"(200 {"value":3.0,"digits":"all"})");
  EXPECT_EQ(post("/values?only=a&only=b", "1"), R"(200 {"names":["a","b"]})");
  const std::string refused = post("/values", "[]");
  EXPECT_THAT(refused, testing::StartsWith("422"));
  EXPECT_THAT(refused, testing::HasSubstr("expected number, string or object, got array"));
}

TEST_F(CalculatorTest, two_parameters_of_one_segment_are_two_arguments) {
  const auto get = [this](katana::Bytes target) {
    const auto reply = server_.get(target);
    return std::to_string(reply.status()) + " " + std::string(reply.content());
  };
  EXPECT_EQ(get("/ranges/3...10.json"), R"(200 {"value":7.0})");
  EXPECT_EQ(get("/ranges/-3...10.json"), R"(200 {"value":13.0})");
  EXPECT_THAT(get("/ranges/3...10"), testing::StartsWith("404"));
  EXPECT_THAT(get("/ranges/3.10.json"), testing::StartsWith("404"));
  EXPECT_THAT(get("/ranges/a...10.json"), testing::StartsWith("400"));
}

TEST_F(CalculatorTest, types_contain_themselves) {
  EXPECT_EQ(
      post("/values", R"({"does":"sum","left":{"does":"negation","of":{"does":"sum","left":1,)"
                      R"("right":2}},"right":10,"others":[{"does":"sum","left":5,"right":5}]})"),
      R"(200 {"value":17.0})");
  EXPECT_EQ(post("/chains", R"({"name":"a","next":{"name":"b","next":{"name":"c"}}})"),
            R"(200 {"value":3.0})");
  EXPECT_EQ(
      post("/chains", R"({"name":"a","ledger":{"owner":{"name":"b","other":{"owner":"c"}}}})"),
      R"(200 {"value":1.0,"digits":"b"})");
  EXPECT_EQ(post("/chains", R"({"name":"a","ledger":{"owner":{"closed":true}}})"),
            R"(200 {"value":1.0})");
  EXPECT_THAT(post("/chains", R"({"name":"a","next":{"next":{"name":"c"}}})"),
              testing::HasSubstr(R"("pointer":"/next/name")"));
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
