// OperationCall: one request of a generated client: parameters by their style, content, reply.
//
//   client::OperationCall call(settings, "GET", "/pets/{petId}", "https://pets.example/v1");
//   call.path("petId", id);                    // {petId}, percent-encoded
//   call.query(query);                         // a described struct: names and values
//   co_return co_await client::run<GetPetResponse>(http, std::move(call));
//
// `katana openapi generate --client` writes such code; a program may, too. Values are those of
// http/handlers/extract.hpp: numbers, booleans, text, described enums, types with a TextForm, lists
// of them. An empty std::optional and an empty list are not sent. How a member of a query or a form
// is written, katana_separators() decides (base/values/separators.hpp). It may be a list in one
// text, or any value by names with brackets (items[0][price]=5), where null is not sent. Without it
// a list is a name for each item, and an object is JSON.
//
// Owns       its texts.
// Borrows    settings for the constructor; values for the call.
// Thread     a value; run() as HttpClient::fetch().
// Allocates  freely.
// Fails      take() and run() with an Error that begins with method and path. Causes are: no base
//            URL, a cookie or a segment that cannot be written, an error of HttpClient::fetch(), a
//            reply that is not as described.
// Invariant  a value cannot add a parameter, a segment, a cookie or another header.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/values/content_of.hpp"
#include "katana/base/values/described.hpp"
#include "katana/base/values/separators.hpp"
#include "katana/base/values/text_form.hpp"
#include "katana/data/container/json_read.hpp"
#include "katana/data/container/json_write.hpp"
#include "katana/http/client/http_client.hpp"

namespace katana::client {

// Settings for all calls of a generated client.
struct ApiSettings {
  // "https://api.example/v1". Empty: the first server of the description.
  std::string base_url = {};
  // The timeout of a whole call. Zero: HttpClientOptions::timeout.
  Duration timeout = {};
  // Header fields of every request, such as Authorization. A redirect does not take them to another
  // origin.
  std::vector<Request::Field> fields = {};
  // Query parameters of every request, by name, such as an API key.
  std::vector<std::pair<std::string, std::string>> query = {};
};

// How a path parameter is written: 3,4 or .3.4 or ;name=3,4.
enum class PathStyle : std::uint8_t { simple, label, matrix };

namespace detail {

// One value as text; a type that has none is written as JSON.
template <class T>
std::string parameter_text(const T& value) {
  if constexpr (std::same_as<T, std::string>) {
    return value;
  } else if constexpr (std::same_as<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_arithmetic_v<T>) {
    char text[64];
    return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
  } else if constexpr (DescribedEnum<T>) {
    return std::string(enumerator_name(value));
  } else if constexpr (TextFormed<T>) {
    return std::string(Bytes(TextForm<T>::write(value)));
  } else {
    return container::to_json(value);
  }
}

// All but letters, digits and "-._~".
std::string percent_encoded(Bytes text);

// A file of a form, or a list of such.
template <class M>
concept FileMember = requires(const M& member) { member.filename; } ||
                     requires(const M& member) { member[0].filename; };

// Calls take(const auto& value) unless it is absent.
template <class M, class Take>
void if_there(const M& member, Take&& take) {
  if constexpr (is_optional<M>) {
    if (member) take(*member);
  } else {
    take(member);
  }
}

}  // namespace detail

class OperationCall {
 public:
  // `path` has {names}; `server` is the base URL when the settings have none.
  OperationCall(const ApiSettings& settings, const char* method, const char* path,
                const char* server);

  // {name} of the path: a value or a list of values, percent-encoded.
  template <class T>
  void path(Bytes name, const T& value, PathStyle style = PathStyle::simple, bool explode = false) {
    std::vector<std::string> items;
    if constexpr (ListMember<T>) {
      for (const auto& item : value) items.push_back(detail::parameter_text(item));
    } else {
      items.push_back(detail::parameter_text(value));
    }
    put_path(name, items, style, explode);
  }
  // Adds the members of `values` that are not empty, as names and values.
  template <Described T>
  void query(const T& values) {
    each_text(values, [this](Bytes name, const std::vector<std::string>& items, char separator) {
      put_query(name, items, separator);
    });
  }
  // The same as header fields; a list is one field, its items between commas.
  template <Described T>
  void header(const T& values) {
    each_text(values, [this](Bytes name, const std::vector<std::string>& items, char) {
      put_header(name, items);
    });
  }
  // The same as one Cookie field; JSON is percent-encoded, as cookies have no quotes.
  template <Described T>
  void cookie(const T& values) {
    each_text<true>(values, [this](Bytes name, const std::vector<std::string>& items, char) {
      put_cookie(name, items);
    });
  }

  // ---- content, one of these
  template <class T>
  void json(const T& value, const char* type = "application/json") {
    set_content(container::to_json(value), type);
  }
  void content(std::string content, std::string type) {
    set_content(std::move(content), std::move(type));
  }
  // As the type that it names, which has to be one of those that it lists.
  template <class T, MediaTypeText... types>
  void media(const JsonOf<T, types...>& content) {
    set_media(container::to_json(content.value), content.type, content.media_types);
  }
  template <MediaTypeText... types>
  void media(const RawOf<types...>& content) {
    set_media(content.value, content.type, content.media_types);
  }
  template <class T, MediaTypeText... types>
  void media(const FormOf<T, types...>& content) {
    if (!lists_media(content.type, content.media_types)) return;
    if (content.type == "multipart/form-data") {
      multipart(content.value);
    } else {
      form(content.value);
    }
  }
  template <class... A>
  void media(const ContentOf<A...>& content) {
    std::visit([this](const auto& each) { this->media(each); }, content.value);
  }
  // application/x-www-form-urlencoded
  // A file cannot be sent so: with one the call fails.
  template <Described T>
  void form(const T& values) {
    for_each_field(values, [this](const auto& field, const auto& member) {
      detail::if_there(member, [&]<class M>(const M& value) {
        if constexpr (detail::FileMember<M>) refuse_file(field.name, value);
      });
    });
    std::string text;
    each_text(values, [&text](Bytes name, const std::vector<std::string>& items, char separator) {
      append_pairs(text, name, items, separator);
    });
    set_content(std::move(text), "application/x-www-form-urlencoded");
  }
  // multipart/form-data: members of a type with `filename` and `content` are files.
  template <Described T>
  void multipart(const T& values);

  // The request, or the Error why it cannot be made.
  Result<Request> take() &&;
  // "GET /pets/{petId}"
  const std::string& name() const noexcept { return name_; }

 private:
  template <bool encodes_json = false, class T, class Take>
  static void each_text(const T& values, Take&& take) {
    for_each_field(values, [&](const auto& field, const auto& member) {
      detail::if_there(member, [&]<class M>(const M& value) {
        // Only a form has files, which form() refuses.
        if constexpr (!detail::FileMember<M>) {
          take_texts<encodes_json>(field.name, value, separator_of<T>(field.name), take);
        }
      });
    });
  }
  template <bool encodes_json, class M, class Take>
  static void take_texts(Bytes name, const M& value, char separator, Take& take) {
    if (separator == nested_names) {
      for (auto& [inner, text] : nested_pairs(name, container::to_json(value))) {
        take(inner, {std::move(text)}, '\0');
      }
      return;
    }
    if constexpr (DictionaryMember<M>) {
      if (separator == own_names) {
        for (const auto& [key, item] : value) take(key, {detail::parameter_text(item)}, '\0');
        return;
      }
    }
    std::vector<std::string> items;
    if constexpr (ListMember<M>) {
      for (const auto& item : value) items.push_back(detail::parameter_text(item));
      if (items.empty()) return;
    } else {
      items.push_back(detail::parameter_text(value));
      if constexpr (encodes_json && requires { TextForm<M>::is_json; }) {
        items.back() = detail::percent_encoded(items.back());
      }
    }
    take(name, items, separator);
  }
  template <class M>
  void refuse_file(Bytes name, const M& value) {
    if constexpr (ListMember<M>) {
      if (value.empty()) return;
    } else {
      if (value.filename.empty() && value.content.empty()) return;
    }
    fail_with("'" + std::string(name) +
              "' is a file: send the form with the `type` multipart/form-data");
  }
  // Pairs with names in brackets for a JSON value.
  static std::vector<std::pair<std::string, std::string>> nested_pairs(Bytes name, Bytes json);
  static void append_pairs(std::string& text, Bytes name, const std::vector<std::string>& items,
                           char separator);
  void put_path(Bytes name, const std::vector<std::string>& items, PathStyle style, bool explode);
  void put_query(Bytes name, const std::vector<std::string>& items, char separator);
  void put_header(Bytes name, const std::vector<std::string>& items);
  void put_cookie(Bytes name, const std::vector<std::string>& items);
  void put_part(Bytes name, Bytes filename, Bytes type, Bytes content);
  void finish_parts();
  void set_content(std::string content, std::string type);
  // False: it is not listed, and the call fails.
  bool lists_media(const std::string& type, std::span<const Bytes> listed);
  void set_media(std::string content, const std::string& type, std::span<const Bytes> listed);
  void fail_with(std::string words);

  std::string name_;
  std::string method_;
  std::string base_;
  std::string path_;
  std::string query_;
  std::string cookies_;
  std::string content_;
  std::string content_type_;
  struct Part {
    std::string head;
    std::string content;
  };
  std::vector<Part> parts_;
  std::vector<Request::Field> fields_;
  std::vector<std::string> secret_;
  Duration timeout_;
  bool has_content_ = false;
  std::optional<Error> error_;
};

// Reads the content of a reply by its description; the first mistake is kept.
class ReplyContent {
 public:
  ReplyContent(const Response& response, const char* operation) noexcept
      : response_(response), operation_(operation) {}

  // Whether the content is of that type: "text/csv", "text/*", "*/*".
  bool is(Bytes type) const noexcept;
  template <class T>
  void json(T& value) {
    if (!check_json()) return;
    container::Findings findings;
    if (!container::read_json(response_.content(), value, findings)) refuse(findings.error());
  }
  // Notes that the media type is none of the described ones, which `types` names.
  void refuse_type(const char* types);
  // The status is not described.
  void undescribed();
  const std::optional<Error>& error() const noexcept { return error_; }

 private:
  bool check_json();
  void refuse(const Error& error);

  const Response& response_;
  const char* operation_;
  std::optional<Error> error_;
};

// Sends it. R::from(Response) makes the result.
template <class R>
Task<Result<R>> run(HttpClient http, OperationCall call) {
  Result<Request> request = std::move(call).take();
  if (!request) co_return std::unexpected(request.error());
  Result<Response> response = co_await http.fetch(*std::move(request));
  if (!response) co_return std::unexpected(response.error());
  co_return R::from(*std::move(response));
}

template <Described T>
void OperationCall::multipart(const T& values) {
  for_each_field(values, [&](const auto& field, const auto& member) {
    const auto put = [&]<class V>(const V& value) {
      if constexpr (requires { value.filename, value.content_type, value.content; }) {
        put_part(field.name, value.filename, value.content_type, value.content);
      } else if constexpr (Described<V> || DictionaryMember<V>) {
        put_part(field.name, {}, "application/json", container::to_json(value));
      } else if constexpr (requires { TextForm<V>::is_json; }) {
        put_part(field.name, {}, "application/json", detail::parameter_text(value));
      } else {
        put_part(field.name, {}, {}, detail::parameter_text(value));
      }
    };
    detail::if_there(member, [&]<class M>(const M& value) {
      if constexpr (!requires { value.filename; } && !requires { value[0].filename; }) {
        if (separator_of<T>(field.name) == nested_names) {
          for (const auto& [name, text] : nested_pairs(field.name, container::to_json(value))) {
            put_part(name, {}, {}, text);
          }
          return;
        }
      }
      if constexpr (ListMember<M>) {
        for (const auto& item : value) put(item);
      } else {
        put(value);
      }
    });
  });
  finish_parts();
}

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
