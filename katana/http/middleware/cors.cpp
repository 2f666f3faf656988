#include "katana/http/middleware/cors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "katana/http/handlers/reply_fields.hpp"
#include "katana/wire/http/field_list.hpp"
#include "katana/wire/http/origin.hpp"

namespace katana {
namespace {

bool is_any(const std::vector<std::string>& list) { return list.size() == 1 && list[0] == "*"; }

std::string joined(const std::vector<std::string>& list) {
  return fmt::format("{}", fmt::join(list, ", "));
}

class Cors {
 public:
  explicit Cors(CorsOptions options)
      : options_(std::move(options)),
        any_origin_(is_any(options_.origins)),
        any_field_(is_any(options_.request_fields)),
        request_fields_(joined(options_.request_fields)),
        reply_fields_(joined(options_.reply_fields)) {}

  void apply(const RequestView& request, Reply& reply) const {
    if (!any_origin_) reply.add_field("Vary", "Origin");
    const auto origin = request.field("Origin");
    if (!origin || !allows(*origin)) return;
    const auto method = request.field("Access-Control-Request-Method");
    const bool is_preflight = request.method() == http::Method::options && method;
    if (is_preflight && !answer_preflight(request, reply)) return;
    reply.add_field("Access-Control-Allow-Origin", any_origin_ ? Bytes("*") : *origin);
    if (options_.credentials) reply.add_field("Access-Control-Allow-Credentials", "true");
    if (!is_preflight && !reply_fields_.empty()) {
      reply.add_field("Access-Control-Expose-Headers", reply_fields_);
    }
  }

 private:
  bool allows(Bytes origin) const {
    return any_origin_ || std::ranges::find(options_.origins, origin) != options_.origins.end();
  }

  // Returns false if the request is not allowed, or the path has no routes.
  bool answer_preflight(const RequestView& request, Reply& reply) const {
    const auto allow = find_field(reply.fields(), "Allow");
    if (!allow || reply.status() != 204) return false;
    const Text methods(*allow);  // a copy: adding a field moves the original
    reply.add_field("Vary", "Access-Control-Request-Method, Access-Control-Request-Headers");
    const auto wanted = request.field("Access-Control-Request-Headers");
    if (wanted && !any_field_) {
      Bytes name;
      for (http::ListReader names(*wanted); names.next(name);) {
        if (!http::list_contains_token(request_fields_, name)) return false;
      }
    }
    reply.add_field("Access-Control-Allow-Methods", methods.bytes());
    // With credentials a star would mean a field of that name: the requested fields are listed.
    if (wanted && !wanted->empty()) {
      reply.add_field("Access-Control-Allow-Headers", any_field_ ? *wanted : request_fields_);
    }
    reply.add_field("Access-Control-Max-Age",
                    format_text("{}", options_.max_age.ns / 1'000'000'000).bytes());
    return true;
  }

  CorsOptions options_;
  bool any_origin_;
  bool any_field_;
  std::string request_fields_;
  std::string reply_fields_;
};

}  // namespace

Result<Middleware> cors(CorsOptions options) {
  if (is_any(options.origins)) {
    if (options.credentials) {
      return fail(Code::invalid_argument,
                  "cors: credentials for any origin are refused by browsers; name the origins");
    }
  } else {
    if (options.origins.empty()) {
      return fail(Code::invalid_argument, "cors: no origin is allowed; name one, or \"*\" for any");
    }
    for (const std::string& origin : options.origins) {
      if (!http::is_origin(origin)) {
        return fail(Code::invalid_argument,
                    fmt::format("cors: '{}' is no origin; write it as a browser does, "
                                "\"https://example.org:8443\", in small letters and without a path",
                                origin));
      }
    }
  }
  if (options.credentials &&
      std::ranges::find(options.reply_fields, "*") != options.reply_fields.end()) {
    return fail(Code::invalid_argument,
                "cors: with credentials, browsers take \"*\" in reply_fields for a header of that "
                "name; name the headers");
  }
  for (const auto* list : {&options.request_fields, &options.reply_fields}) {
    for (const std::string& name : *list) {
      if (!http::valid_field(name, {})) {
        return fail(Code::invalid_argument, fmt::format("cors: '{}' is no field name", name));
      }
    }
  }
  Middleware middleware;
  middleware.after = [shared = std::make_shared<const Cors>(std::move(options))](
                         const RequestView& request, Reply& reply) {
    shared->apply(request, reply);
  };
  return middleware;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
