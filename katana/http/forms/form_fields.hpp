// FormFields<T>: a described struct filled from a form in the body, as Query<T> is filled from the
// query. It reads both kinds of forms that browsers send:
//
//   application/x-www-form-urlencoded, multipart/form-data
//
//   struct Application {
//     std::string name;
//     int age = 0;
//     std::optional<FormFile> picture;
//   };
//   KATANA_DESCRIBE(Application, (name, required, length(1, 80)), (age, range(0, 150)), picture)
//
//   Reply apply(FormFields<Application> form) { return Reply::text(form->name); }
//
// The whole form is in memory: use it for forms that fit RouteOptions::content_bytes_max.
// read_form() (form.hpp) reads larger forms piece by piece.
//
// Owns       its value.
// Thread     any.
// Allocates  yes.
// Fails      with a Refusal: 415 for another type. 400 names a field that does not parse or breaks
//            a rule of its description.
// Invariant  members keep their initialisers unless they are named. If a name comes more than once,
//            the last value counts, and names that T lacks are ignored. A T with
//            KATANA_DESCRIBE_STRICT refuses both.
#pragma once

#include <expected>
#include <string>
#include <utility>

#include "katana/data/container/heap_bytes.hpp"
#include "katana/http/handlers/extract.hpp"
#include "katana/wire/http/multipart.hpp"

namespace katana {

// A part of a form that is a file. For a file control without a choice, a browser sends a part
// without name and content, which counts as no part.
struct FormFile {
  std::string filename;      // as the client says it; never a path to write to
  std::string content_type;  // as the client says it; empty: the part has no Content-Type
  std::string content;       // the whole file, in memory
};
// The heap bytes of the file's three strings; container::heap_bytes() calls it.
inline std::size_t katana_heap_bytes(const FormFile& file) {
  return container::heap_bytes(file.filename) + container::heap_bytes(file.content_type) +
         container::heap_bytes(file.content);
}

template <Described T>
struct FormFields {
  T value;  // valid by its description
  const T& operator*() const noexcept { return value; }
  const T* operator->() const noexcept { return &value; }
};

namespace detail {

// The fields of application/x-www-form-urlencoded, as the Pairs of read_pairs().
class FormPairs : public QueryPairs {
 public:
  explicit FormPairs(Bytes content) noexcept : QueryPairs(content, "form field") {}

  template <class T>
  Result<T> value(Telling telling) const {
    if constexpr (std::same_as<T, FormFile>) {
      if (telling == Telling::nothing) return fail(Code::invalid_argument);
      return fail(Code::invalid_argument, "is a file, which multipart/form-data can carry");
    } else {
      return QueryPairs::value<T>(telling);
    }
  }
};

// The parts of multipart/form-data.
class MultipartPairs {
 public:
  MultipartPairs(Bytes boundary, Bytes content) noexcept : reader_(boundary), rest_(content) {}

  static constexpr const char* kind = "form field";
  bool next();
  bool is(Bytes name) const noexcept { return name == name_; }
  Bytes shown_name() const noexcept { return name_; }
  template <class T>
  Result<T> value(Telling telling) const {
    if constexpr (std::same_as<T, FormFile>) {
      return FormFile{std::string(filename_), std::string(type_), content_};
    } else {
      return parse_text<T>(content_, telling);
    }
  }
  // Empty: the content was read to its end.
  std::optional<Error> error() const;

 private:
  bool is_file_not_chosen() const noexcept {
    return has_filename_ && filename_.empty() && content_.empty();
  }

  http::MultipartReader reader_;
  Bytes rest_;
  Bytes name_, filename_, type_;  // in the content
  bool has_filename_ = false;
  std::string content_;
};

enum class FormKind : std::uint8_t { other, pairs, parts };
// `boundary`: receives the boundary of the parts.
FormKind form_kind_of(const RequestView& request, Bytes& boundary) noexcept;
Refusal refuse_form_type(const RequestView& request);

template <class T>
struct Extractor<FormFields<T>> {
  static std::expected<FormFields<T>, Refusal> from(const RequestView& request, std::size_t) {
    Bytes boundary;
    const FormKind kind = form_kind_of(request, boundary);
    if (kind == FormKind::other) return std::unexpected(refuse_form_type(request));
    if (kind == FormKind::parts) {
      return extract_pairs<FormFields<T>>(MultipartPairs(boundary, request.content()));
    }
    return extract_pairs<FormFields<T>>(FormPairs(request.content()));
  }
};

template <class T>
inline constexpr bool wants_content<FormFields<T>> = true;

}  // namespace detail
}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
