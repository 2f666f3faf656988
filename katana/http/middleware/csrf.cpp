#include "katana/http/middleware/csrf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "katana/http/handlers/framework_problems.hpp"
#include "katana/wire/http/origin.hpp"

namespace katana {
namespace {

class OriginCheck {
 public:
  explicit OriginCheck(CsrfOptions options) : options_(std::move(options)) {}

  std::optional<Reply> judge(const RequestView& request) const {
    if (changes_nothing(request) || is_ours(request)) return std::nullopt;
    return problem(problem_types::csrf,
                   "This request comes from a page of another origin, or does not say where it "
                   "comes from (Sec-Fetch-Site, Origin).");
  }

 private:
  static bool changes_nothing(const RequestView& request) noexcept {
    switch (request.method()) {
      case http::Method::get:
      case http::Method::head:
      case http::Method::options:
      case http::Method::trace: return !request.field("Upgrade");
      default: return false;
    }
  }
  bool is_named(std::optional<Bytes> origin) const noexcept {
    return origin && std::ranges::any_of(options_.origins, [&](const std::string& each) {
             return http::same_origin(each, *origin);
           });
  }
  static bool is_of_server(Bytes origin, const RequestView& request) noexcept {
    const session::Client client = request.client();
    return http::is_origin_of(origin, client.host, client.is_secure());
  }
  bool is_ours(const RequestView& request) const noexcept {
    const auto origin = request.field("Origin");
    if (const auto site = request.field("Sec-Fetch-Site")) {
      return *site == "same-origin" || *site == "none" || is_named(origin);
    }
    if (origin) return is_of_server(*origin, request) || is_named(origin);
    return !options_.refuse_unknown || !request.field("Cookie");
  }

  const CsrfOptions options_;
};

}  // namespace

Result<Middleware> csrf(CsrfOptions options) {
  for (const std::string& origin : options.origins) {
    if (!http::is_origin(origin)) {
      return fail(Code::invalid_argument,
                  fmt::format("csrf: '{}' is no origin; write it as a browser does, "
                              "\"https://example.org:8443\", in small letters and without a path",
                              origin));
    }
  }
  Middleware middleware;
  middleware.phase = Phase::identity;
  middleware.before = [check = std::make_shared<const OriginCheck>(std::move(options))](
                          const RequestView& request) { return check->judge(request); };
  return middleware;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
