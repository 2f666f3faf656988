// ServerText: the interface of the operations of one tag, and its routes.
//
// Owns       its text.
// Borrows    the types and the problems, for its life.
// Thread     one.
// Allocates  freely.
// Fails      adds to the problems what is not decoded: an error, or a warning if it is allowed.
#pragma once

#include <string>
#include <vector>

#include "katana/openapi/generate/options.hpp"
#include "katana/openapi/generate/types.hpp"

namespace katana::openapi::generate {

class ServerText {
 public:
  ServerText(Types& types, const GeneratorOptions& options, model::Problems& problems,
             std::string tag)
      : types_(types), options_(options), problems_(problems), tag_(std::move(tag)) {}

  // `name` is that of its function, and of no other operation of the description.
  void add(const model::Operation& operation, const std::string& name);
  // "pets_api"
  std::string file_name() const;
  std::string header() const;
  std::string source() const;

 private:
  struct Argument {
    std::string type;
    std::string name;
    std::string extractor;  // "katana::Path<std::int64_t>"
  };
  void leave(const model::Location& location, std::string words);
  void add_path(const model::Operation& operation, std::vector<Argument>& arguments,
                std::string& pattern);
  void add_group(const model::Operation& operation, model::In in, const std::string& name,
                 std::vector<Argument>& arguments);
  void add_body(const model::Operation& operation, const std::string& name,
                std::vector<Argument>& arguments);
  bool is_decoded(const model::Parameter& parameter, const TypeText& type) const;
  void add_reply_class(const model::Operation& operation, const std::string& name);
  void add_reply(const model::Reply& reply, const std::string& name);

  Types& types_;
  const GeneratorOptions& options_;
  model::Problems& problems_;
  std::string tag_;
  std::string replies_;
  std::string operations_;
  std::string routes_;
  Scope arguments_;
};

}  // namespace katana::openapi::generate

// SPDX-License-Identifier: Apache-2.0
