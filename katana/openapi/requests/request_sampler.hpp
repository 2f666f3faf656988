// RequestSampler: requests that a description takes, drawn from a seed: for load and for tests.
//
//   auto sampler = openapi::RequestSampler::make(description, {.seed = 7});
//   Result<openapi::DrawnRequest> request = sampler->draw();
//
// Operations are drawn by their weights: `x-weight` of an operation, 1 without it, or the weight in
// the options, by operationId or "GET /items/{id}". An operation of weight 0 is never drawn. A
// request has all required parameters, and others now and then. Content has the first media type
// that can be made (JSON, forms, text). Values are those of schema::Sampler: examples first, else
// by the schema. A parameter with known values, such as existing ids, takes them from a range of
// the options.
//
// Owns       its contract and random numbers.
// Thread     one.
// Allocates  freely.
// Fails      make() as Contract::compile(), and for a weight of no operation. draw() for an
//            operation that cannot be drawn, with its name and the reason.
// Invariant  each request that is drawn was checked and obeys the description. The same seed gives
//            the same requests.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/data/schema/samples/sampler.hpp"
#include "katana/openapi/contract/contract.hpp"
#include "katana/openapi/model/description.hpp"

namespace katana::openapi {

// A request without a host: the target goes below the URL of a server.
struct DrawnRequest {
  std::string operation;  // its operationId, or "GET /items/{id}"
  std::string method;     // "GET"
  std::string target;     // path and query, as they are sent
  std::vector<std::pair<std::string, std::string>> fields = {};  // Content-Type among them
  std::string content = {};                                      // empty: none
};

// Options for the requests that are drawn, and how often.
struct RequestSampleOptions {
  std::uint64_t seed = 1;                      // any; another gives other requests
  std::map<std::string, double> weights = {};  // by operationId or "GET /items/{id}"; 0 or more
  // Ranges of parameters, by name: whole numbers from first to second.
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> ranges = {};
  bool examples = false;  // of schemas: many requests are to differ
};

class RequestSampler {
 public:
  // `description` is not needed afterwards.
  static Result<RequestSampler> make(const Description& description, RequestSampleOptions options);
  // The next request; it depends on those before it.
  Result<DrawnRequest> draw();
  // A request of that operation: its operationId, or "GET /items/{id}".
  Result<DrawnRequest> draw_of(Bytes operation);

 private:
  RequestSampler(Contract contract, RequestSampleOptions options);
  const ContractOperation& choose();
  Result<DrawnRequest> draw_from(const ContractOperation& operation);
  std::optional<DrawnRequest> try_draw(const ContractOperation& operation, std::string& why);
  std::optional<std::string> text_of(const ParameterContract& parameter, std::string& why);
  bool add_query(const ParameterContract& parameter, std::string& query, std::string& why);
  bool add_content(const ContractOperation& operation, DrawnRequest& request, std::string& why);

  Contract contract_;
  RequestSampleOptions options_;
  schema::Sampler sampler_;
  std::vector<double> weights_;  // of operations, each with those before it
};

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
