#include "katana/http/middleware/security_headers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "katana/base/values/base64.hpp"
#include "katana/base/values/secrets.hpp"
#include "katana/http/handlers/reply_fields.hpp"
#include "katana/http/handlers/request_context.hpp"
#include "katana/wire/http/characters.hpp"

namespace katana {
namespace {

class SecurityFields {
 public:
  explicit SecurityFields(const SecurityHeaderOptions& options)
      : policy_name_(options.policy_report_only ? "Content-Security-Policy-Report-Only"
                                                : "Content-Security-Policy"),
        policy_(options.policy.parts()),
        has_policy_(!options.policy.empty()) {
    if (options.nosniff) add("X-Content-Type-Options", "nosniff");
    add("X-Frame-Options", options.frame_options);
    add("Referrer-Policy", options.referrer_policy);
    add("Cross-Origin-Opener-Policy", options.opener_policy);
    add("Cross-Origin-Resource-Policy", options.resource_policy);
    add("Cross-Origin-Embedder-Policy", options.embedder_policy);
    add("Permissions-Policy", options.permissions_policy);
    if (has_policy_ && policy_.size() == 1) add(policy_name_, policy_.front());
    for (const Field& field : fields_) all_ += field.line;
    if (options.hsts > Duration{} && options.is_https) {
      hsts_ =
          fmt::format("Strict-Transport-Security: max-age={}\r\n", options.hsts.ns / 1'000'000'000);
      is_https_ = options.is_https;
    }
  }

  const std::string& mistake() const noexcept { return mistake_; }

  void apply(const RequestView& request, session::Exchange& exchange, Reply& reply) const {
    if (reply.fields().empty()) {
      detail::PreparedReply::append_fields(reply, all_);
    } else {
      for (const Field& field : fields_) {
        if (find_field(reply.fields(), field.name)) continue;
        detail::PreparedReply::append_fields(reply, field.line);
      }
    }
    if (policy_.size() > 1 && !find_field(reply.fields(), policy_name_)) {
      // If a reply with a nonce were kept, the next client would know the nonce.
      exchange.personalise(session::Personal::nonce);
      reply.add_field(policy_name_, fmt::format("{}", fmt::join(policy_, nonce_of(exchange))));
    }
    if (is_https_ && !find_field(reply.fields(), "Strict-Transport-Security") &&
        is_https_(request, exchange)) {
      detail::PreparedReply::append_fields(reply, hsts_);
    }
  }

 private:
  struct Field {
    std::string name;
    std::string line;
  };

  void add(const std::string& name, const std::string& value) {
    if (value.empty()) return;
    if (!http::valid_field(name, value)) {
      mistake_ = fmt::format("security_headers: '{}' cannot be the value of {}", value, name);
      return;
    }
    fields_.push_back({name, fmt::format("{}: {}\r\n", name, value)});
  }
  // Without a served route no element has a nonce: it stays unknown.
  static std::string nonce_of(session::Exchange& exchange) {
    auto* const context = static_cast<detail::RequestContext*>(exchange.kept());
    const auto nonce = context == nullptr ? nullptr : context->find<CspNonce, CspNonce>();
    return std::string(nonce == nullptr ? CspNonce().text() : nonce->text());
  }

  std::string policy_name_;
  std::vector<std::string> policy_;
  bool has_policy_;
  std::vector<Field> fields_;
  std::string all_;
  std::string hsts_;
  std::function<bool(const RequestView&, session::Exchange&)> is_https_;
  std::string mistake_;
};

}  // namespace

CspNonce::CspNonce() {
  std::array<char, 16> octets;
  fill_random(octets);
  std::ranges::copy(encode_base64url({octets.data(), octets.size()}), text_.begin());
}

Middleware security_headers(SecurityHeaderOptions options) {
  Middleware middleware;
  const auto fields = std::make_shared<const SecurityFields>(options);
  middleware.mistake =
      options.policy.mistake().empty() ? fields->mistake() : options.policy.mistake();
  if (options.policy.has_nonce()) {
    middleware.function = detail::make_middleware_function([] { return CspNonce(); });
  }
  middleware.amend = [fields](const RequestView& request, session::Exchange& exchange,
                              Reply& reply) { fields->apply(request, exchange, reply); };
  return middleware;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
