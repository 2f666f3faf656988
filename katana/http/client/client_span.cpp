#include "katana/http/client/client_span.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <string>

#include "katana/observe/trace/trace_parent.hpp"
#include "katana/wire/http/method.hpp"
#include "katana/wire/http/url.hpp"

namespace katana::client {
namespace {

// The OpenTelemetry conventions use this name for a method that is not a known one.
constexpr Bytes other_method = "_OTHER";
constexpr Bytes name_of_other = "HTTP";
constexpr unsigned client_error = 400;

bool is_known(const Outgoing& outgoing) noexcept {
  return http::method_from(outgoing.method) != http::Method::extension;
}

Bytes version_of(const Response& response) noexcept {
  switch (response.version()) {
    case HttpVersion::http_2: return "2";
    case HttpVersion::http_1_0: return "1.0";
    default: return "1.1";
  }
}

// Returns whether one of the lines is a field of that name.
bool has_field(Bytes lines, Bytes name) noexcept {
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find("\r\n"), lines.size());
    const Bytes line = lines.substr(0, end);
    if (line.size() > name.size() && line[name.size()] == ':' &&
        http::equals_ignoring_case(line.substr(0, name.size()), name)) {
      return true;
    }
    lines.remove_prefix(std::min(end + 2, lines.size()));
  }
  return false;
}

// A field that the caller has set stays.
void add_field(Outgoing& outgoing, Bytes name, Bytes value) {
  if (value.empty() || has_field(outgoing.fields, name)) return;
  outgoing.fields.append(name).append(": ").append(value).append("\r\n");
}

void add_context(Outgoing& outgoing, const trace::CurrentSpan& current) {
  const trace::Root& root = *current.root;
  add_field(outgoing, "baggage", root.baggage());
  if (!root.tracer().options().propagates || has_field(outgoing.fields, "traceparent")) return;
  const auto parent = trace::trace_parent_of(current.context);
  add_field(outgoing, "traceparent", {parent.data(), parent.size()});
  add_field(outgoing, "tracestate", root.state());
}

}  // namespace

ClientSpan::ClientSpan(Outgoing& outgoing, std::size_t fields_size, std::uint32_t resends,
                       bool propagates)
    : span_(is_known(outgoing) ? Bytes(outgoing.method) : name_of_other, trace::SpanKind::client) {
  outgoing.fields.resize(fields_size);
  const trace::CurrentSpan* const current = trace::current_span();
  if (current == nullptr) return;
  if (propagates) add_context(outgoing, *current);
  if (!span_.is_recorded()) return;
  span_.set("http.request.method", is_known(outgoing) ? Bytes(outgoing.method) : other_method);
  if (!is_known(outgoing)) span_.set("http.request.method_original", Bytes(outgoing.method));
  span_.set("server.address", Bytes(outgoing.origin.host));
  span_.set("server.port", outgoing.origin.port);
  // "GET https://example.org/users": the name contains the URL as errors show it.
  const Bytes url = Bytes(outgoing.name).substr(outgoing.method.size() + 1);
  span_.set("url.full", url.substr(0, url.find(' ')));  // the rest is its origin
  if (resends > 0) span_.set("http.request.resend_count", resends);
}

void report_attempt(const HttpClientOptions& options, const Outgoing& outgoing, Call& call,
                    Duration duration) noexcept {
  if (!options.on_attempt) return;
  AttemptReport report{.method = is_known(outgoing) ? Bytes(outgoing.method) : other_method,
                       .host = outgoing.origin.host,
                       .port = outgoing.origin.port,
                       .duration = duration};
  std::string status;
  if (call.failed()) {
    report.error = code_name(call.error().code());
  } else {
    report.status = call.response().status();
    report.version = version_of(call.response());
    if (report.status >= client_error) report.error = status = std::to_string(report.status);
  }
  try {
    options.on_attempt(report);
  } catch (const std::exception&) {
    // Without memory there is no series; the attempt itself is done.
  }
}

void ClientSpan::end(Call& call) noexcept {
  if (!span_.is_recorded()) return;
  if (call.failed()) {
    span_.fail();
    span_.set("error.type", code_name(call.error().code()));
  } else {
    const Response& response = call.response();
    span_.set("http.response.status_code", response.status());
    span_.set("network.protocol.version", version_of(response));
    if (response.status() >= client_error) {
      span_.fail();
      span_.set("error.type", Bytes(fmt::format_int(response.status()).c_str()));
    }
  }
  span_.end();
}

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
