// Request: method, URL, fields and content of a request.
//
//   client::Request("https://example.org/users")
//   client::Request("POST", url).field("Accept", "application/json").content(text, "text/plain")
//
// Owns       its texts.
// Thread     a value.
// Fails      HttpClient::fetch() returns an Error for an invalid one: no text in it can add a line
//            or field of its own (request splitting).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "katana/base/instant.hpp"

namespace katana::client {

// Not an aggregate: g++ 12 would destroy one twice in a co_await expression (decision 0018).
class Request {
 public:
  struct Field {
    std::string name;
    std::string value;
  };

  explicit Request(std::string url) : url_(std::move(url)) {}
  Request(std::string method, std::string url) : method_(std::move(method)), url_(std::move(url)) {}

  // The client sets Content-Length, Transfer-Encoding, Connection and similar fields, and refuses
  // them here. Host may be given.
  Request& field(std::string name, std::string value) & {
    fields_.push_back({std::move(name), std::move(value)});
    return *this;
  }
  Request&& field(std::string name, std::string value) && {
    return std::move(field(std::move(name), std::move(value)));
  }
  // The client adds Content-Length.
  Request& content(std::string content, std::string type) & {
    content_ = std::move(content);
    has_content_ = true;
    return field("Content-Type", std::move(type));
  }
  Request&& content(std::string text, std::string type) && {
    return std::move(content(std::move(text), std::move(type)));
  }
  // Overrides HttpClientOptions::timeout.
  Request& timeout(Duration timeout) & {
    timeout_ = timeout;
    return *this;
  }
  Request&& timeout(Duration duration) && { return std::move(timeout(duration)); }
  // It may be sent twice although its method is not idempotent, because it has a key by which the
  // server recognises the repetition.
  Request& repeatable() & {
    repeatable_ = true;
    return *this;
  }
  Request&& repeatable() && { return std::move(repeatable()); }

  const std::string& method() const noexcept { return method_; }
  const std::string& url() const noexcept { return url_; }
  const std::vector<Field>& fields() const noexcept { return fields_; }
  std::string& content() noexcept { return content_; }
  bool has_content() const noexcept { return has_content_; }
  bool is_repeatable() const noexcept { return repeatable_; }
  Duration timeout() const noexcept { return timeout_; }

 private:
  std::string method_ = "GET";
  std::string url_;
  std::vector<Field> fields_;
  std::string content_;
  Duration timeout_;
  bool has_content_ = false;
  bool repeatable_ = false;
};

}  // namespace katana::client
