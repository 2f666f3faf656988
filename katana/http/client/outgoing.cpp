#include "katana/http/client/outgoing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "katana/wire/http/method.hpp"
#include "katana/wire/http/reply_head.hpp"
#include "katana/wire/http/secret_names.hpp"
#include "katana/wire/http/url.hpp"

namespace katana::client {
namespace {

// Set by the client (RFC 9110 §7.6.1, §8.6), or not supported by it.
constexpr std::array<Bytes, 8> own_fields = {
    "Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive", "Upgrade", "TE", "Trailer",
    "Expect"};

std::unexpected<Error> wrong(std::string message) {
  return fail(Code::invalid_argument, std::move(message));
}

// The values of these fields are no lists (RFC 9110 §5.3): of two, some servers take the first and
// others the last. For Host the last one of the program counts.
constexpr std::array<Bytes, 12> fields_once = {
    "Authorization", "Content-Location", "Content-Range",     "Content-Type",        "Cookie",
    "From",          "If-Range",         "If-Modified-Since", "If-Unmodified-Since", "Range",
    "Referer",       "User-Agent"};

Result<void> check_field(const Request::Field& field) {
  if (!http::valid_field(field.name, field.value)) {
    return wrong(
        fmt::format("field {:?}: {:?} cannot be sent: a name must be a token, and a value "
                    "has no control characters and no space at its ends",
                    field.name, field.value));
  }
  const auto is_it = [&](Bytes name) { return http::equals_ignoring_case(name, field.name); };
  if (std::ranges::any_of(own_fields, is_it)) {
    return wrong(fmt::format("field '{}' is set by the client: leave it out", field.name));
  }
  return {};
}

Result<void> check_repetition(const std::vector<Request::Field>& fields) {
  for (const Bytes name : fields_once) {
    const auto has_name = [name](const Request::Field& field) {
      return http::equals_ignoring_case(field.name, name);
    };
    if (std::ranges::count_if(fields, has_name) > 1) {
      return wrong(fmt::format("field '{}' is given twice: a request has it once", name));
    }
  }
  return {};
}

// RFC 9110 §9.3.7, §9.3.8: the reply to TRACE repeats the request.
Result<void> check_method(const Request& request, const HttpClientOptions& options) {
  if (request.method() == "CONNECT") {
    return wrong("method CONNECT is not supported: this client opens no tunnel");
  }
  if (request.method() == "OPTIONS" && request.has_content()) {
    const bool has_type = std::ranges::any_of(request.fields(), [](const Request::Field& field) {
      return http::equals_ignoring_case(field.name, "Content-Type") && !field.value.empty();
    });
    if (!has_type) return wrong("OPTIONS with content needs a Content-Type");
  }
  if (request.method() != "TRACE") return {};
  if (request.has_content()) return wrong("TRACE has no content: its reply repeats the request");
  for (const Request::Field& field : request.fields()) {
    const auto is_it = [&](Bytes name) { return http::equals_ignoring_case(name, field.name); };
    if (http::is_secret_field(field.name) || std::ranges::any_of(options.secret_fields, is_it) ||
        std::ranges::any_of(request.secret_fields(), is_it)) {
      return wrong(fmt::format("TRACE cannot have the field '{}': its reply repeats the request",
                               field.name));
    }
  }
  return {};
}

// True if the request does not leave this machine.
bool stays_here(const Origin& origin, const HttpClientOptions& options) {
  if (!is_this_machine(origin)) return false;
  const auto proxy = Proxy::make(options.proxy);
  return proxy && (!*proxy || !(*proxy)->serves(origin));
}

// RFC 6750 §5.3: anyone on the way can use a token that is sent in plaintext.
Result<void> check_token(const Request& request, const Origin& origin,
                         const HttpClientOptions& options) {
  if (origin.secure || options.tokens_in_plaintext) return {};
  constexpr Bytes scheme = "bearer ";
  for (const Request::Field& field : request.fields()) {
    const Bytes begin = Bytes(field.value).substr(0, scheme.size());
    if (http::equals_ignoring_case(field.name, "Authorization") &&
        http::equals_ignoring_case(begin, scheme) && !stays_here(origin, options)) {
      return fail(Code::permission_denied,
                  fmt::format("{}: a Bearer token is not sent in plaintext: use https, or set "
                              "tokens_in_plaintext to allow it",
                              origin.text()));
    }
  }
  return {};
}

// Makes the field lines. The value of Host is moved into `host`. `decodes` becomes false if the
// request has an Accept-Encoding: a caller that asks for codings decodes them.
Result<std::string> make_fields(const Request& request, const HttpClientOptions& options,
                                std::string& host, bool& decodes) {
  if (auto right = check_repetition(request.fields()); !right) {
    return std::unexpected(right.error());
  }
  std::string lines;
  bool names_agent = options.user_agent.empty();
  for (const Request::Field& field : request.fields()) {
    if (auto right = check_field(field); !right) return std::unexpected(right.error());
    if (http::equals_ignoring_case(field.name, "Host")) {
      host = field.value;
      continue;
    }
    decodes = decodes && !http::equals_ignoring_case(field.name, "Accept-Encoding");
    names_agent = names_agent || http::equals_ignoring_case(field.name, "User-Agent");
    lines.append(field.name).append(": ").append(field.value).append("\r\n");
  }
  if (!names_agent) lines.append("User-Agent: ").append(options.user_agent).append("\r\n");
  if (request.expects_continue()) lines.append("Expect: 100-continue\r\n");
  if (decodes) {
    const auto codings = options.codecs.pick(options.codings);  // as make() has checked
    decodes = codings && !codings->empty();
    if (decodes) {
      lines.append("Accept-Encoding: ").append(coding::names_of(*codings)).append("\r\n");
    }
  }
  return lines;
}

// A request whose method usually has content states a length of zero (RFC 9110 §8.6).
std::int64_t length_of(const Request& request, std::size_t bytes) {
  const Bytes method = request.method();
  const bool expected = method == "POST" || method == "PUT" || method == "PATCH";
  if (request.source() != nullptr) {
    return request.length() ? static_cast<std::int64_t>(*request.length()) : http::unknown_length;
  }
  const bool has_length = request.has_content() || expected;
  return has_length ? static_cast<std::int64_t>(bytes) : http::unknown_length;
}

}  // namespace

http1::RequestHead Outgoing::head() const noexcept {
  return {.method = method,
          .target = target,
          .host = host,
          .fields = fields,
          .content_length = content_length};
}

Text Outgoing::http1_head(const Proxy* proxy) const {
  http1::RequestHead parts = head();
  std::string more, absolute;
  if (is_chunked()) more = "Transfer-Encoding: chunked\r\n";
  if (proxy != nullptr) {
    more += proxy->authorization();
    absolute = origin.text() + target;
    parts.target = absolute;
  }
  if (!more.empty()) {
    more += fields;
    parts.fields = more;
  }
  Text text;
  text.resize(http1::request_head_bytes_max(parts));
  const char* const end = http1::write_request_head(text.data(), parts);
  text.resize(static_cast<std::size_t>(end - text.data()));
  return text;
}

http2::RequestHead Outgoing::http2_head() const noexcept {
  return {.method = method,
          .scheme = origin.secure ? "https" : "http",
          .authority = host,
          .target = target,
          .fields = fields,
          .content_length = content_length};
}

Result<Outgoing> make_outgoing(Request& request, const HttpClientOptions& options, bool decodes) {
  auto url = parse_url(request.url());
  if (!url) return std::unexpected(url.error());
  if (auto right = check_method(request, options); !right) return std::unexpected(right.error());
  if (auto right = check_token(request, url->origin, options); !right) {
    return std::unexpected(right.error());
  }
  Outgoing made;
  made.host = std::move(url->authority);
  if (request.length() > std::uint64_t{INT64_MAX}) {
    return wrong(fmt::format("a content of {} bytes cannot be sent", *request.length()));
  }
  auto fields = make_fields(request, options, made.host, decodes);
  if (!fields) return std::unexpected(fields.error());
  made.fields = *std::move(fields);
  made.decodes = decodes;
  made.method = request.method();
  made.target = std::move(url->target);
  made.content_length = length_of(request, request.content().size());
  if (!http1::is_sendable(made.head())) {
    return wrong(
        fmt::format("method {:?} or Host {:?} cannot be sent: a method must be a token, "
                    "and Host a name with an optional port",
                    made.method, made.host));
  }
  made.name = fmt::format("{} {}", made.method, shown_url(request.url()));
  made.origin = std::move(url->origin);
  made.source = request.source();
  made.expects = request.expects_continue();
  if (made.source == nullptr && !request.content().empty())
    made.content = KeptContent(std::move(request.content()));
  const http::Method method = http::method_from(made.method);
  made.is_head = method == http::Method::head;
  made.repeatable = request.is_repeatable() || http::is_idempotent(method);
  return made;
}

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
