// ServerText: the interface of the operations of one tag, and its routes.
//
// Owns       its text.
// Borrows    the options, for its life.
// Thread     one.
// Allocates  freely.
// Fails      never: parts that cannot be decoded are not in the plan.
#pragma once

#include <string>
#include <vector>

#include "katana/openapi/generate/operation_plan.hpp"
#include "katana/openapi/generate/options.hpp"

namespace katana::openapi::generate {

class ServerText {
 public:
  // An argument of an operation.
  struct Argument {
    std::string type;       // in the interface
    std::string name;       // in both
    std::string extractor;  // "katana::Path<std::int64_t>"
    std::string passed;     // "std::move(pet_id.value)"
  };
  // The arguments behind the request.
  static std::vector<Argument> arguments_of(const OperationPlan& plan);

  ServerText(const GeneratorOptions& options, std::string tag)
      : options_(options), tag_(std::move(tag)) {}

  // One more operation.
  void add(const OperationPlan& plan);
  // "pets_api"
  std::string file_name() const;
  std::string header() const;
  // The sources of the server, each with at most `operations_max` operations; the first one has
  // add_routes().
  std::vector<std::string> sources(std::size_t operations_max) const;

 private:
  void add_reply_class(const OperationPlan& plan, const std::string& name);
  void add_reply(const PlannedReply& reply, const std::string& name);

  const GeneratorOptions& options_;
  std::string tag_;
  std::string replies_;
  std::string operations_;
  std::vector<std::string> routes_;  // of each operation
  bool has_several_ = false;         // content that may be of several media types
  bool has_form_beside_ = false;     // one of them a form
  bool has_nested_ = false;          // names with brackets
};

}  // namespace katana::openapi::generate

// SPDX-License-Identifier: Apache-2.0
