// ServerText: the interface of the operations of one tag, and its routes.
//
// Owns       its text.
// Borrows    the options, for its life.
// Thread     one.
// Allocates  freely.
// Fails      never: parts that cannot be decoded are not in the plan.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "katana/openapi/generate/operation_plan.hpp"
#include "katana/openapi/generate/options.hpp"
#include "katana/openapi/generate/shares.hpp"

namespace katana::openapi::generate {

class ServerText {
 public:
  // An argument of an operation.
  struct Argument {
    std::string type;       // in the interface
    std::string name;       // in both
    std::string extractor;  // "katana::Path<std::int64_t> pet_id"; empty: the one before has it
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
  // The sources of the server, each of at most that weight where it has several operations; the
  // first one has add_routes().
  std::vector<SourceText> sources(std::size_t weight_max) const;

 private:
  void add_reply_class(const OperationPlan& plan, const std::string& name);
  void add_reply(const PlannedReply& reply, const std::string& name);
  static void add_parts(std::span<const PlannedPath> parts, std::vector<Argument>& arguments);

  // The part of an operation that a source has. A program that includes the header does not compile
  // the writers of all replies.
  struct InSource {
    std::string replies;  // definitions of functions of its class of replies
    std::string route;    // statement of add_routes()
    std::size_t weight;   // OperationPlan::weight
  };

  const GeneratorOptions& options_;
  std::string tag_;
  std::string replies_;
  std::string operations_;
  std::vector<InSource> in_sources_;  // for each operation
  bool has_several_ = false;          // content that may be of several media types
  bool has_form_beside_ = false;      // one of them a form
  bool has_nested_ = false;           // names with brackets
  bool has_parts_ = false;            // several parameters in one segment
};

}  // namespace katana::openapi::generate

// SPDX-License-Identifier: Apache-2.0
