// ClientText: a typed client of the operations of one tag.
//
// Owns       its text.
// Borrows    the options and the description, for its life.
// Thread     one.
// Allocates  freely.
// Fails      never: parts that cannot be sent are not in the plan.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "katana/openapi/generate/operation_plan.hpp"
#include "katana/openapi/generate/options.hpp"
#include "katana/openapi/generate/shares.hpp"
#include "katana/openapi/model/description.hpp"

namespace katana::openapi::generate {

class ClientText {
 public:
  ClientText(const GeneratorOptions& options, const Description& api, std::string tag)
      : options_(options), api_(api), tag_(std::move(tag)) {}

  // One more operation.
  void add(const OperationPlan& plan);
  // "pets_client"
  std::string file_name() const;
  std::string header() const;
  // The sources of the client, each of at most that weight where it has several operations.
  std::vector<SourceText> sources(std::size_t weight_max) const;

 private:
  void add_response(const OperationPlan& plan, const std::string& name);
  void add_reader(const OperationPlan& plan, const std::string& name);
  void add_call(const OperationPlan& plan, const std::string& response);
  std::string server_of(const model::Operation& operation) const;

  const GeneratorOptions& options_;
  const Description& api_;
  std::string tag_;
  std::string responses_;
  std::string operations_;
  struct InSource {
    std::string reader;  // of its responses
    std::string call;    // definition of its function
    std::size_t weight;  // OperationPlan::weight
  };
  std::vector<InSource> in_sources_;  // for each operation
};

}  // namespace katana::openapi::generate

// SPDX-License-Identifier: Apache-2.0
