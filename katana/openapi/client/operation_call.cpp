#include "katana/openapi/client/operation_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "katana/base/system/check.hpp"
#include "katana/data/container/form_tree.hpp"
#include "katana/data/container/json_read.hpp"
#include "katana/wire/http/characters.hpp"

namespace katana::client {
namespace {

bool is_unreserved(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

// RFC 3986 §2.1: everything but unreserved characters.
void append_escaped(std::string& text, Bytes value) {
  static constexpr const char* digits = "0123456789ABCDEF";
  for (const char c : value) {
    if (is_unreserved(c)) {
      text += c;
      continue;
    }
    const auto octet = static_cast<unsigned char>(c);
    text += '%';
    text += digits[octet >> 4];
    text += digits[octet & 15];
  }
}

// The separator as it stands between escaped items of a query.
Bytes escaped_separator(char separator) noexcept {
  switch (separator) {
    case ' ': return "%20";
    case '|': return "%7C";
    case '\t': return "%09";
    default: return ",";
  }
}

// The type without parameters, in lower case.
std::string essence_of(Bytes type) {
  std::string essence(type.substr(0, type.find(';')));
  while (essence.ends_with(' ')) essence.pop_back();
  for (char& c : essence) c = http::to_lower(c);
  return essence;
}

std::string joined(const std::vector<std::string>& items) {
  return fmt::format("{}", fmt::join(items, ","));
}

}  // namespace

namespace detail {

std::string percent_encoded(Bytes text) {
  std::string encoded;
  append_escaped(encoded, text);
  return encoded;
}

}  // namespace detail

OperationCall::OperationCall(const ApiSettings& settings, const char* method, const char* path,
                             const char* server)
    : name_(std::string(method) + " " + path),
      method_(method),
      base_(settings.base_url.empty() ? server : settings.base_url),
      path_(path),
      fields_(settings.fields),
      timeout_(settings.timeout) {
  while (base_.ends_with('/')) base_.pop_back();
  for (const Request::Field& each : settings.fields) secret_.push_back(each.name);
  for (const auto& [key, value] : settings.query) append_pairs(query_, key, {value}, '\0');
}

void OperationCall::fail_with(std::string words) {
  if (!error_) error_ = Error(Code::invalid_argument, name_ + ": " + std::move(words));
}

void OperationCall::put_path(Bytes name, const std::vector<std::string>& items, PathStyle style,
                             bool explode) {
  std::string text;
  const std::string key = (style == PathStyle::matrix) ? std::string(name) : std::string();
  const Bytes between = style == PathStyle::label    ? (explode ? "." : ",")
                        : style == PathStyle::matrix ? (explode ? ";" : ",")
                                                     : ",";
  if (style == PathStyle::label) text = ".";
  for (std::size_t index = 0; index < items.size(); ++index) {
    if (index != 0) text += between;
    if (style == PathStyle::matrix && index == 0) text += ';';
    if (style == PathStyle::matrix && (index == 0 || explode)) {
      append_escaped(text, key);
      text += '=';
    }
    append_escaped(text, items[index]);
  }
  // A server takes these for the folder, and its parent.
  if (text.empty() || text == "." || text == "..") {
    fail_with(fmt::format("the path parameter '{}' cannot be '{}'", name, text));
  }
  const std::string place = "{" + std::string(name) + "}";
  const std::size_t at = path_.find(place);
  if (at != std::string::npos) path_.replace(at, place.size(), text);
}

std::vector<std::pair<std::string, std::string>> OperationCall::nested_pairs(Bytes name,
                                                                             Bytes json) {
  const auto value = container::read_json<container::Value>(json);
  KATANA_CHECK(value.has_value());  // it was written by to_json()
  return container::bracket_pairs(name, *value);
}

void OperationCall::append_pairs(std::string& text, Bytes name,
                                 const std::vector<std::string>& items, char separator) {
  bool first = true;
  for (const std::string& item : items) {
    if (first || separator == '\0') {
      if (!text.empty()) text += '&';
      append_escaped(text, name);
      text += '=';
    } else {
      text += escaped_separator(separator);
    }
    append_escaped(text, item);
    first = false;
  }
}

void OperationCall::put_query(Bytes name, const std::vector<std::string>& items, char separator) {
  append_pairs(query_, name, items, separator);
}

void OperationCall::put_header(Bytes name, const std::vector<std::string>& items) {
  const bool has_comma =
      items.size() > 1 && std::ranges::any_of(items, [](const std::string& item) {
        return item.find(',') != std::string::npos;
      });
  if (has_comma) fail_with(fmt::format("an item of the header field '{}' has a comma", name));
  fields_.push_back({std::string(name), joined(items)});
}

void OperationCall::put_cookie(Bytes name, const std::vector<std::string>& items) {
  const std::string text = joined(items);
  const bool fits = std::ranges::all_of(
      text, [](char c) { return c > 0x20 && c < 0x7f && c != ';' && c != '"' && c != '\\'; });
  if (!fits) {
    fail_with(fmt::format("the cookie '{}' has characters that a cookie cannot (RFC 6265)", name));
  }
  if (!cookies_.empty()) cookies_ += "; ";
  cookies_ += std::string(name) + "=" + text;
}

void OperationCall::set_content(std::string content, std::string type) {
  content_ = std::move(content);
  content_type_ = std::move(type);
  has_content_ = true;
}

bool OperationCall::lists_media(const std::string& type, std::span<const Bytes> listed) {
  const std::string essence = essence_of(type);
  const bool plain = std::ranges::all_of(type, [](char c) { return c >= 0x20 && c < 0x7f; });
  const bool fits =
      plain && essence.find('*') == std::string::npos &&
      std::ranges::any_of(listed, [&](Bytes each) { return media_type_fit(each, essence) != 0; });
  if (!fits) {
    fail_with(fmt::format("the content cannot be sent as '{}': name one of {} as its `type`", type,
                          fmt::join(listed, ", ")));
  }
  return fits;
}

void OperationCall::set_media(std::string content, const std::string& type,
                              std::span<const Bytes> listed) {
  if (lists_media(type, listed)) set_content(std::move(content), type);
}

void OperationCall::put_part(Bytes name, Bytes filename, Bytes type, Bytes content) {
  const auto quoted = [](Bytes text) {  // as browsers do (WHATWG HTML, multipart/form-data)
    std::string result;
    for (const char c : text) {
      if (c == '"') {
        result += "%22";
      } else if (c == '\r') {
        result += "%0D";
      } else if (c == '\n') {
        result += "%0A";
      } else {
        result += c;
      }
    }
    return result;
  };
  std::string head = "Content-Disposition: form-data; name=\"" + quoted(name) + "\"";
  if (!filename.empty()) head += "; filename=\"" + quoted(filename) + "\"";
  if (!type.empty()) {
    if (type.find_first_of("\r\n") != Bytes::npos) {
      fail_with(fmt::format("the type of the part '{}' has a line break", name));
      return;
    }
    head += "\r\nContent-Type: " + std::string(type);
  }
  parts_.push_back({std::move(head), std::string(content)});
}

void OperationCall::finish_parts() {
  std::string boundary = "katana-part";
  const auto is_in_a_part = [&] {
    return std::ranges::any_of(
        parts_, [&](const Part& part) { return part.content.find(boundary) != std::string::npos; });
  };
  for (unsigned number = 0; is_in_a_part(); ++number) {
    boundary = fmt::format("katana-part-{:x}", number * 0x9e3779b1U);
  }
  std::string content;
  for (const Part& part : parts_) {
    content += "--" + boundary + "\r\n" + part.head + "\r\n\r\n" + part.content + "\r\n";
  }
  content += "--" + boundary + "--\r\n";
  set_content(std::move(content), "multipart/form-data; boundary=" + boundary);
}

Result<Request> OperationCall::take() && {
  if (base_.find("://") == std::string::npos) {
    fail_with(fmt::format("the base URL '{}' is not absolute: set ApiSettings::base_url", base_));
  }
  if (error_) return std::unexpected(*error_);
  std::string url = base_ + path_;
  if (!query_.empty()) {
    url += path_.find('?') == std::string::npos ? '?' : '&';
    url += query_;
  }
  Request request(method_, std::move(url));
  for (Request::Field& each : fields_) request.field(std::move(each.name), std::move(each.value));
  for (std::string& each : secret_) request.secret(std::move(each));
  if (!cookies_.empty()) request.field("Cookie", std::move(cookies_));
  if (has_content_) request.content(std::move(content_), std::move(content_type_));
  if (timeout_ > Duration()) request.timeout(timeout_);
  return request;
}

bool ReplyContent::is(Bytes type) const noexcept {
  const auto given = response_.find("content-type");
  if (!given) return type == "*/*";
  const std::string essence = essence_of(*given);
  const std::string wanted = essence_of(type);
  if (wanted == "*/*" || wanted == essence) return true;
  return wanted.ends_with("/*") && essence.starts_with(wanted.substr(0, wanted.size() - 1));
}

bool ReplyContent::check_json() {
  const auto given = response_.find("content-type");
  if (!given) return true;
  const std::string essence = essence_of(*given);
  const bool json =
      essence == "application/json" || essence.ends_with("+json") || essence == "text/json";
  if (!json) refuse_type("JSON");
  return json;
}

void ReplyContent::refuse(const Error& error) {
  if (error_) return;
  error_ =
      error.within(fmt::format("{}: the content of the reply {}", operation_, response_.status()));
}

void ReplyContent::refuse_type(const char* types) {
  refuse(
      Error(Code::data_loss, fmt::format("is of type '{}', and {} is described",
                                         response_.find("content-type").value_or("none"), types)));
}

void ReplyContent::undescribed() {
  constexpr std::size_t shown_max = 200;
  if (error_) return;
  const Bytes content = response_.content().substr(0, shown_max);
  std::string shown;
  for (const char c : content) shown += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  error_ = Error(Code::data_loss,
                 fmt::format("{}: the description has no reply {}, which came with '{}'",
                             operation_, response_.status(), shown));
}

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
