// Request: method, URL, headers and body of a request.
//
//   client::Request("https://example.org/users")
//   client::Request("POST", url).field("Accept", "application/json").content(text, "text/plain")
//
// Owns       its texts.
// Thread     a value.
// Fails      HttpClient::fetch() returns an Error for an invalid one. No text in it can add a line
//            or a header (request splitting).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/values/instant.hpp"
#include "katana/http/client/content_source.hpp"

namespace katana::client {

// Not an aggregate: g++ 12 would destroy one twice in a co_await expression (decision 0018).
class Request {
 public:
  // A header of the request.
  struct Field {
    std::string name;   // any case; HTTP/2 sends it in lower case
    std::string value;  // without CR, LF and NUL; fetch() fails with others
  };

  explicit Request(std::string url) : url_(std::move(url)) {}
  Request(std::string method, std::string url) : method_(std::move(method)), url_(std::move(url)) {}

  // Adds a header. fetch() fails for Content-Length, Transfer-Encoding, Connection and similar
  // ones, which the client sets. Host may be given.
  Request& field(std::string name, std::string value) & {
    fields_.push_back({std::move(name), std::move(value)});
    return *this;
  }
  Request&& field(std::string name, std::string value) && {
    return std::move(field(std::move(name), std::move(value)));
  }
  // Sets the body; the client adds Content-Length.
  Request& content(std::string content, std::string type) & {
    content_ = std::move(content);
    has_content_ = true;
    return field("Content-Type", std::move(type));
  }
  Request&& content(std::string text, std::string type) && {
    return std::move(content(std::move(text), std::move(type)));
  }
  // Sets a body that is read while it is sent. With `length` the size is declared, and the body
  // must have it. Without it, HTTP/1.1 sends the body in chunks: a request without it says that the
  // server handles HTTP/1.1 (RFC 9112 §6.1). No other request may use the source at the same time.
  Request& content(std::shared_ptr<ContentSource> source, std::string type,
                   std::optional<std::uint64_t> length = {}) & {
    source_ = std::move(source);
    length_ = length;
    has_content_ = true;
    return field("Content-Type", std::move(type));
  }
  Request&& content(std::shared_ptr<ContentSource> source, std::string type,
                    std::optional<std::uint64_t> length = {}) && {
    return std::move(content(std::move(source), std::move(type), length));
  }
  // The same with a function that is called for each piece. It cannot be read again for a retry.
  Request& content(FunctionSource::Read read, std::string type,
                   std::optional<std::uint64_t> length = {}) & {
    return content(std::make_shared<FunctionSource>(std::move(read)), std::move(type), length);
  }
  Request&& content(FunctionSource::Read read, std::string type,
                    std::optional<std::uint64_t> length = {}) && {
    return std::move(content(std::move(read), std::move(type), length));
  }
  // Sends Expect: 100-continue. The body of a source follows when the server asks for it, or after
  // HttpClientOptions::continue_timeout (RFC 9110 §10.1.1).
  Request& expect_continue() & {
    expects_ = true;
    return *this;
  }
  Request&& expect_continue() && { return std::move(expect_continue()); }
  // Overrides HttpClientOptions::timeout.
  Request& timeout(Duration timeout) & {
    timeout_ = timeout;
    return *this;
  }
  Request&& timeout(Duration duration) && { return std::move(timeout(duration)); }
  // Allows retries although the method is not idempotent. Use it for a request with a key by which
  // the server recognises the repetition.
  Request& repeatable() & {
    repeatable_ = true;
    return *this;
  }
  Request&& repeatable() && { return std::move(repeatable()); }
  // Overrides HttpClientOptions::hedge_after. Zero: never.
  Request& hedge_after(Duration pause) & {
    hedge_after_ = pause;
    return *this;
  }
  Request&& hedge_after(Duration after) && { return std::move(hedge_after(after)); }
  // Overrides HttpClientOptions::redirects_max.
  Request& redirects(std::uint32_t redirects_max) & {
    redirects_max_ = redirects_max;
    return *this;
  }
  Request&& redirects(std::uint32_t most) && { return std::move(redirects(most)); }
  // Headers of this name are not sent to another origin, as Authorization and Cookie are not.
  Request& secret(std::string name) & {
    secret_fields_.push_back(std::move(name));
    return *this;
  }
  Request&& secret(std::string name) && { return std::move(secret(std::move(name))); }
  // Overrides HttpClientOptions::decode, also for open(), which by default decodes nothing.
  Request& decode(bool decode) & {
    decode_ = decode;
    return *this;
  }
  Request&& decode(bool wanted) && { return std::move(decode(wanted)); }

  const std::string& method() const noexcept { return method_; }  // as given; default: "GET"
  const std::string& url() const noexcept { return url_; }        // absolute: http:// or https://
  // The headers in the order in which they are sent.
  const std::vector<Field>& fields() const noexcept { return fields_; }
  std::string& content() noexcept { return content_; }
  // False: the request has no body, not even an empty one.
  bool has_content() const noexcept { return has_content_; }
  // Null: the body is a text.
  const std::shared_ptr<ContentSource>& source() const noexcept { return source_; }
  std::optional<std::uint64_t> length() const noexcept { return length_; }
  bool expects_continue() const noexcept { return expects_ && source_ != nullptr; }
  bool is_repeatable() const noexcept { return repeatable_; }
  Duration timeout() const noexcept { return timeout_; }
  std::optional<Duration> hedge_after() const noexcept { return hedge_after_; }
  std::optional<std::uint32_t> redirects() const noexcept { return redirects_max_; }
  const std::vector<std::string>& secret_fields() const noexcept { return secret_fields_; }
  std::optional<bool> decode() const noexcept { return decode_; }

  // ---- for the client
  std::string take_url() noexcept { return std::move(url_); }
  // Makes it the request that follows the redirect, without the dropped headers.
  template <class IsDropped>
  void follow(std::string url, bool becomes_get, const IsDropped& is_dropped) {
    std::erase_if(fields_, is_dropped);
    url_ = std::move(url);
    if (!becomes_get) return;
    method_ = "GET";
    content_.clear();
    source_.reset();
    has_content_ = false;
  }

 private:
  std::string method_ = "GET";
  std::string url_;
  std::vector<Field> fields_;
  std::string content_;
  std::shared_ptr<ContentSource> source_;
  std::optional<std::uint64_t> length_;  // of the body from source_
  Duration timeout_;
  std::vector<std::string> secret_fields_;
  std::optional<std::uint32_t> redirects_max_;
  std::optional<Duration> hedge_after_;
  std::optional<bool> decode_;
  bool has_content_ = false;
  bool expects_ = false;
  bool repeatable_ = false;
};

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
