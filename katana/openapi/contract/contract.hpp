// Contract: an OpenAPI description as the judge of requests and of replies.
//
//   Result<openapi::Contract> contract = openapi::Contract::compile(description);
//   const auto found = contract->find("GET", "/users/7");
//   openapi::Violations violations;
//   found.operation->check_request(request, violations);
//   found.operation->check_reply(reply, violations);
//
// A request is checked for its parameters, its media type, and its content by the schema of that
// type. Parameters are decoded by their styles and checked by their schemas. A reply is checked for
// its status, fields, media type and content.
//
//   content             checked by its schema
//   application/json    and …+json: as text, nothing is built of it
//   application/x-www-form-urlencoded, multipart/form-data: as an object; files are strings
//   text/…              as a string
//   other               only the media type counts
//
// A document permits all that it does not forbid: unnamed query parameters, fields and cookies.
// `readOnly` properties are required of replies only, `writeOnly` ones of requests only.
//
// All checks of one message take steps from one budget. When it is spent, the message departs from
// the description in any case, and a violation names the limit.
//
// Owns       copies of all parts of the description that it needs.
// Borrows    requests and replies, for the call.
// Thread     any, at once.
// Allocates  compile(), find(); a check for violations, for parameters that are lists or objects,
//            and for forms.
// Fails      compile() with an Error that names the place in the description.
// Invariant  the same document and message give the same violations, in the same order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/system/hints.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/values/step_budget.hpp"
#include "katana/data/container/value.hpp"
#include "katana/data/schema/schema.hpp"
#include "katana/openapi/contract/form_value.hpp"
#include "katana/openapi/contract/parameter.hpp"
#include "katana/openapi/contract/path_templates.hpp"
#include "katana/openapi/contract/violation.hpp"
#include "katana/openapi/model/description.hpp"

namespace katana::openapi {

// The header fields of a message, wherever they are.
class Fields {
 public:
  // The first of that name, ignoring case.
  virtual std::optional<Bytes> find(Bytes name) const = 0;

 protected:
  ~Fields() = default;
};

// The parts of a request that the checks read; nothing is kept.
struct RequestParts {
  std::span<const std::pair<Bytes, Bytes>> path;  // PathValues, or those of a router
  Bytes query;                                    // raw, without "?"
  const Fields& fields;                           // with Content-Type and Cookie
  Bytes content;                                  // decoded, if it had a Content-Encoding
  // False: there is content that the caller does not have.
  bool has_whole_content = true;
  // The bytes of the request that the checks read.
  std::size_t steps_bytes() const noexcept { return query.size() + content.size(); }
};

// The parts of a reply that check_reply() reads; nothing is kept.
struct ReplyParts {
  unsigned status = 200;    // 100 to 599
  const Fields& fields;     // the fields that are sent
  Bytes content_type;       // empty: none
  Bytes content;            // decoded, if it has a Content-Encoding
  bool has_content = true;  // false: to HEAD, or it is not looked at
  // False: middleware adds fields later, and a missing field is no violation.
  bool has_all_fields = true;
};

// A content by its media type, or by a range of them: "image/*".
struct MediaContract {
  // How content becomes data for its schema.
  enum class Kind : std::uint8_t {
    json,       // application/json, …+json
    form,       // application/x-www-form-urlencoded
    multipart,  // multipart/form-data
    text,       // text/… but for text/event-stream
    other,      // not at all: the media type alone is checked
  };
  std::string range;  // without parameters, in lower case
  // `other` for "*/*": JSON content is checked there all the same.
  Kind kind = Kind::other;
  std::string schema_pointer = {};  // in Description::schemas; empty: there is none
  // For a form: properties whose `encoding` has a style.
  std::vector<FormStyle> styles = {};
  // Compiled for the direction of the message. None: any content is right.
  std::optional<schema::Schema> schema = {};
};

// The description of one status.
struct ReplyContract {
  std::string status;  // "200", "4XX", "default"
  // Ordered as ContractOperation::contents(). Empty: the reply may have no content.
  std::vector<MediaContract> contents;
  std::vector<ParameterContract> fields;  // without Content-Type, which `contents` has
};

struct QueryScratch;  // of a check

class ContractOperation {
 public:
  const std::string& id() const noexcept KATANA_VIEW { return id_; }          // or empty
  const std::string& method() const noexcept KATANA_VIEW { return method_; }  // "GET"
  const std::string& path() const noexcept KATANA_VIEW { return path_; }      // the template
  // Without Accept, Content-Type and Authorization (OpenAPI 3.1.1 §4.8.12.2.1).
  const std::vector<ParameterContract>& parameters() const noexcept KATANA_VIEW {
    return parameters_;
  }
  // Exact ones, then "text/*", then "*/*": the first that fits counts. Empty: none is checked.
  const std::vector<MediaContract>& contents() const noexcept KATANA_VIEW { return contents_; }
  // The replies, ordered by status: exact ones, ranges, "default".
  const std::vector<ReplyContract>& replies() const noexcept KATANA_VIEW { return replies_; }
  // `required` of the body: without it, no content at all is right, too.
  bool requires_content() const noexcept { return requires_content_; }
  // "GET /users/{id}"
  std::string describe() const { return method_ + " " + path_; }

  // False: something was added to the violations. The caller gives one budget to all checks of a
  // request: StepBudget::for_bytes() of steps_bytes(). A check without a budget makes its own.
  bool check_request(const RequestParts& request, Violations& violations) const;
  bool check_request(const RequestParts& request, Violations& violations, StepBudget& budget) const;
  bool check_parameters(const RequestParts& request, Violations& violations,
                        StepBudget& budget) const;
  bool check_content(const RequestParts& request, Violations& violations, StepBudget& budget) const;
  bool check_reply(const ReplyParts& reply, Violations& violations) const;
  bool check_reply(const ReplyParts& reply, Violations& violations, StepBudget& budget) const;
  // The reply that the document describes for the status: by the status, by its range, or
  // `default`. Null: it describes none.
  const ReplyContract* reply_for(unsigned status) const noexcept;
  // Whether the document describes the status. `default` does not cover 206 and 304.
  bool says_of(unsigned status) const noexcept;

 private:
  friend class Contract;
  // The parameter that a name in a query belongs to.
  struct QueryName {
    std::string name;
    std::uint32_t parameter;
    bool is_member;  // of an exploded object
  };
  void prepare();
  void check_query(Bytes query, Violations& violations, StepBudget& budget) const;
  void take_member(Bytes name, Bytes raw, QueryScratch& scratch) const;
  void check_gathered(QueryScratch& scratch, std::uint64_t& seen, Violations& violations,
                      StepBudget& budget) const;
  const QueryName* find_query(Bytes name) const noexcept;

  std::string id_, method_, path_;
  std::vector<ParameterContract> parameters_;
  std::vector<MediaContract> contents_;
  std::vector<ReplyContract> replies_;
  bool requires_content_ = false;
  std::vector<QueryName> query_names_;       // by name
  std::vector<std::uint32_t> deep_objects_;  // parameters of that style
  std::optional<std::uint32_t> takes_rest_;  // an exploded object that has any names
  bool has_query_ = false;
};

// Which checks compile() prepares.
struct ContractOptions {
  // Formats such as date-time, uuid and email are checked.
  bool assert_formats = true;
  // Replies are checked, too: costs the memory of a second compilation.
  bool check_replies = true;
};

class Contract {
 public:
  // `description` is not needed afterwards. It takes 64 parameters of an operation.
  static Result<Contract> compile(const Description& description, ContractOptions options = {});

  // The result of find(). Points into the contract, and into the path.
  struct Found {
    const ContractOperation* operation = nullptr;  // null: the document has none
    PathValues values;                             // of the path that was asked for
    bool has_path = false;                         // the document has other methods for the path
  };
  // `path` is a normal one, below one of base_paths(). HEAD has the operation of GET.
  Found find(Bytes method, Bytes path) const;
  // The operation of that operationId; null: there is none.
  const ContractOperation* find_id(Bytes id) const noexcept KATANA_VIEW;
  // All operations, in the order of the description.
  std::span<const ContractOperation> operations() const noexcept KATANA_VIEW { return operations_; }
  // The base paths of its servers: "/v1", and "" when there is none.
  const std::vector<std::string>& base_paths() const noexcept KATANA_VIEW { return base_paths_; }

 private:
  Contract() = default;
  void add(const model::PathItem& path);
  Result<void> compile_schemas(const container::Value& schemas, const ContractOptions& options);
  std::vector<ContractOperation> operations_;
  std::vector<std::string> base_paths_;
  PathTemplates templates_;
  std::vector<std::vector<std::size_t>> by_path_;  // operations, by the index of the template
};

// Whether protocol and middleware may answer the status for any operation, such as 304, 413 and
// 5xx: it need not be described.
bool is_status_of_any_server(unsigned status) noexcept;

}  // namespace katana::openapi

// SPDX-License-Identifier: Apache-2.0
