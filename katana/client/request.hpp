// Request: what is asked for.
//
//   client::Request("https://example.org/users")
//   client::Request("POST", url).field("Accept", "application/json").content(text, "text/plain")
//
// Owns       its texts.
// Thread     a value.
// Fails      HttpClient::fetch() says what is wrong with it: nothing of it can become a line, or a
//            field, that was not meant (request splitting).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "katana/base/instant.hpp"

namespace katana::client {

// A class with constructors, and no aggregate, because g++ 12 would destroy it twice in a co_await
// expression (decision 0018).
class Request {
 public:
  struct Field {
    std::string name;
    std::string value;
  };

  explicit Request(std::string url) : url_(std::move(url)) {}
  Request(std::string method, std::string url) : method_(std::move(method)), url_(std::move(url)) {}

  // Host, Content-Length, Transfer-Encoding, Connection and their like are the client's to say,
  // but for Host, which may be given.
  Request& field(std::string name, std::string value) & {
    fields_.push_back({std::move(name), std::move(value)});
    return *this;
  }
  Request&& field(std::string name, std::string value) && {
    return std::move(field(std::move(name), std::move(value)));
  }
  // Sent with its length.
  Request& content(std::string content, std::string type) & {
    content_ = std::move(content);
    has_content_ = true;
    return field("Content-Type", std::move(type));
  }
  Request&& content(std::string text, std::string type) && {
    return std::move(content(std::move(text), std::move(type)));
  }
  // Instead of HttpClientOptions::timeout.
  Request& timeout(Duration timeout) & {
    timeout_ = timeout;
    return *this;
  }
  Request&& timeout(Duration duration) && { return std::move(timeout(duration)); }
  // May be sent twice although its method is not idempotent: it has a key by which the server knows
  // that it is the same.
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
