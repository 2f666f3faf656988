// ContractCheck: the requests and replies of tests, compared with the service's OpenAPI
// description.
//
// A TestServer makes one for each document of its service (Group::document(),
// openapi::Document::serve() or keep()). A reply that departs from its operation becomes a
// TestReply without a status, whose problem() says where and how:
//
//   GET /items/7: the reply 200 departs from the OpenAPI description of GET /items/{id}:
//   content /count: expected an integer, got a string
//
// The same happens if the service accepts (2xx, 3xx) a request that the description refuses. A
// request that is wrong on purpose and is refused is no departure. Servers may also reply with a
// standard status that the description does not have, such as 304, 413 and 5xx. Undescribed
// operations are counted and not judged.
//
// TestOptions::check_contract switches it off for a test. TestOptions::contract is another
// description, as a result of of_document().
//
// Owns       the contract, and the record of what was seen. All servers of the process with the
//            same document share them, for coverage.
// Thread     any: tests may run on several.
// Allocates  freely: a test's tool.
// Fails      of_document(), for a document that is not a description.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "katana/base/system/result.hpp"
#include "katana/openapi/contract/contract.hpp"
#include "katana/testing/test_reply.hpp"

namespace katana::testing {

// A request as it was sent, and its reply.
struct RecordedExchange {
  std::string_view method;        // "GET"
  std::string_view target;        // path and query, as sent
  const TestFields& fields;       // of the request
  std::string_view content;       // body of the request
  bool has_whole_content = true;  // false: it was sent in pieces
  const TestReply& reply;         // also one without a status, when the connection broke
};

// The operations and replies of a description that tests have used.
struct ContractCoverage {
  struct Operation {
    std::string name;                           // "GET /items/{id}"
    std::size_t count = 0;                      // requests of the tests that it served
    std::set<std::string> seen_statuses = {};   // as the description has them: "200", "4XX"
    std::set<std::string> other_statuses = {};  // described, and never seen
  };
  std::vector<Operation> operations = {};               // in the order of the description
  std::map<std::string, std::size_t> undescribed = {};  // "GET /health", and its count
  std::size_t operations_seen() const noexcept;         // operations with a count above 0
  // A table for people, with unseen operations first.
  std::string describe() const;
};

class ContractCheck {
 public:
  // Makes a check from the text of a document, JSON or YAML. The same text gives the same check, in
  // the whole process.
  static Result<std::shared_ptr<ContractCheck>> of_document(const std::string& text);
  explicit ContractCheck(openapi::Contract contract);

  // Describes the departure; empty: there is none.
  std::string judge(const RecordedExchange& exchange);
  ContractCoverage coverage() const;

 private:
  std::string judge_described(const RecordedExchange& exchange,
                              const openapi::Contract::Found& found, std::string_view query) const;
  void note(const RecordedExchange& exchange, const openapi::ContractOperation* operation,
            std::string_view path);

  const openapi::Contract contract_;
  mutable std::mutex mutex_;  // guards the next members
  std::map<const openapi::ContractOperation*, std::map<std::string, std::size_t>> seen_;
  std::map<std::string, std::size_t> undescribed_;
};

// The coverage of every document of this process's servers: for the end of a test program.
std::vector<ContractCoverage> contract_coverage();

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
