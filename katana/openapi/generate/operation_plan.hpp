// OperationPlan: the arguments and replies of an operation as types, for the code of its server and
// its client.
//
// Owns       its texts.
// Borrows    the description.
// Thread     a value; the planner is one thread's.
// Allocates  freely.
// Fails      adds constructs that the code does not decode to the problems: as errors, or as
//            warnings if they are allowed.
// Invariant  both sides have the same arguments in the same order.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "katana/openapi/generate/options.hpp"
#include "katana/openapi/generate/types.hpp"

namespace katana::openapi::generate {

// How content is read and written.
enum class ContentForm {
  json,       // JSON, by a type of C++
  form,       // application/x-www-form-urlencoded, by a struct
  multipart,  // multipart/form-data, by a struct
  text,       // as it is
  several,    // of a request: a JsonOf, FormOf, RawOf or ContentOf (base/values/content_of.hpp)
};

// Content of a request or of a reply.
struct PlannedContent {
  ContentForm form = ContentForm::json;  // how it is read
  std::string media_type = {};           // as it is sent; of several all, for people
  std::string type = {};                 // of C++
  std::string name = {};  // suffix that distinguishes replies of one status: "_text_csv"
};

// A parameter of the path, in the order of the path.
struct PlannedPath {
  std::string sent_name = {};                 // as the description has it
  std::string type = {};                      // of C++
  std::string name = {};                      // of the argument
  model::Style style = model::Style::simple;  // of the segment
  bool explode = false;                       // of a list in it
  bool is_list = false;                       // std::vector
  // Several parameters of one segment are one for the router. The first of them has these:
  std::size_t parts = 1;        // how many there are
  std::string parts_form = {};  // "{}...{}"
  std::string parts_name = {};  // of the router's parameter
};

// The query, header fields or cookies, as one struct.
struct PlannedGroup {
  model::In in = model::In::query;  // never the path
  std::string type = {};            // the struct
  std::string name = {};            // of the argument
  bool split = false;               // has katana_separators()
  bool nested = false;              // one of these is nested_names
};

// The content of a request.
struct PlannedBody {
  PlannedContent content = {};  // of the one type that is read
  std::string name = {};        // of the argument; empty: there is none
  bool optional = false;        // may be left out
  bool nested = false;          // of a form: has katana_separators()
  bool form_beside = false;     // of several: one is a FormOf
  std::string alias = {};       // of several media types: "using … = katana::ContentOf<…>;\n\n"
};

// A status with its contents.
struct PlannedReply {
  const model::Reply* reply = nullptr;        // borrowed from the description
  std::string method = {};                    // "status_200", "status_4xx", "status_other"
  std::vector<PlannedContent> contents = {};  // one JSON at most
};

// An operation as both sides have it.
struct OperationPlan {
  const model::Operation* operation = nullptr;  // borrowed from the description
  std::string name = {};                        // "get_pet"
  std::string type = {};                        // "GetPet"
  std::string reply_type = {};                  // "GetPetReply", of the server
  std::string response_type = {};               // "GetPetResponse", of the client
  std::string pattern = {};                     // of the router
  bool is_routed = true;                        // false: the router takes no such pattern
  std::vector<PlannedPath> paths = {};          // the first arguments
  std::vector<PlannedGroup> groups = {};        // then these
  PlannedBody body = {};                        // then this
  std::vector<PlannedReply> replies = {};       // by status, the default last
  // The cost to compile its code, in members of structs that are read or written. See
  // Types::weight_of(). JSON of shared and of large types is in other sources.
  std::size_t weight = 0;
  // The part of the weight that is in other sources: the reader and the writer of a large form.
  std::size_t weight_apart = 0;
};

// Makes plans. Borrows its arguments for its life.
class Planner {
 public:
  Planner(Types& types, const GeneratorOptions& options, model::Problems& problems)
      : types_(types), options_(options), problems_(problems) {}

  // Called for each operation before the first plan: its path is as it is.
  void note_route(Bytes method, Bytes path) { shapes_.insert(shape_of(method, path)); }

  // `name` is the operation's in C++, of which no other has it; `tag` names types of its path.
  OperationPlan plan(const model::Operation& operation, const std::string& name,
                     const std::string& tag);

 private:
  void leave(const model::Location& location, std::string words);
  void check_route(OperationPlan& plan);
  void add_paths(OperationPlan& plan, const std::string& tag);
  static std::string shape_of(Bytes method, Bytes pattern);
  void join_parts(OperationPlan& plan);
  void add_group(OperationPlan& plan, model::In in);
  // Its members; false: it is not decoded.
  bool add_member(const OperationPlan& plan, const model::Parameter& parameter,
                  std::vector<Types::Field>& fields);
  bool add_own_names(const OperationPlan& plan, const model::Parameter& parameter,
                     std::vector<Types::Field>& fields);
  void add_body(OperationPlan& plan);
  // Without a type: there is no content, or it is not decoded, and a problem was added.
  PlannedContent form_of(OperationPlan& plan, const std::vector<model::MediaType>& all);
  // How a member of a form is sent; false: it is not decoded.
  bool encode(const OperationPlan& plan, const model::MediaType& media, Types::Field& field);
  std::string type_of_form_beside(OperationPlan& plan, const std::vector<model::MediaType>& forms);
  PlannedContent several_of(OperationPlan& plan, const std::vector<model::MediaType>& all);
  PlannedContent content_of(const model::MediaType& media, const std::string& hint);
  PlannedReply reply_of(const OperationPlan& plan, const model::Reply& reply);
  void weigh_contents(OperationPlan& plan);

  Types& types_;
  const GeneratorOptions& options_;
  model::Problems& problems_;
  Scope arguments_;
  std::set<std::string> shapes_;  // of routes whose segments have one parameter at most, and joined
};

// The text as a comment of one line, whatever line ends it has.
std::string one_line(Bytes text);

}  // namespace katana::openapi::generate

// SPDX-License-Identifier: Apache-2.0
