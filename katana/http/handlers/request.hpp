// RequestView and Request: a request as a handler sees it.
//
// Owns       RequestView nothing: it is valid during the call of a plain handler, and a coroutine
//            that takes one does not compile. Request one copy of the head and of the body, shared
//            by its copies.
// Thread     its reactor's.
// Allocates  RequestView never; Request from the recycler.
#pragma once

#include <memory>
#include <optional>

#include "katana/base/coroutine/task.hpp"
#include "katana/base/system/hints.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/text/text.hpp"
#include "katana/http/routing/path_parameters.hpp"
#include "katana/http/session/client.hpp"
#include "katana/wire/http/head.hpp"
#include "katana/wire/http/url.hpp"

namespace katana {

class RequestView {
 public:
  // `query` lies in the head's bytes, and `parameters` point into `path`.
  RequestView(const http::Head& head, Bytes path, Bytes query, const PathParameters& parameters,
              Bytes content, session::ClientSource* source = nullptr) noexcept
      : head_(&head),
        parameters_(&parameters),
        path_(path),
        query_(query),
        content_(content),
        source_(source) {}

  http::Method method() const noexcept { return head_->method(); }     // or Method::extension
  Bytes method_text() const noexcept { return head_->method_text(); }  // with its case, as sent
  // The target as it was sent.
  Bytes target() const noexcept { return head_->target(); }
  // The path, percent-decoded once and without dot segments (see wire/http/url.hpp).
  Bytes path() const noexcept { return path_; }
  // The query as it was sent, without "?".
  Bytes query() const noexcept { return query_; }
  // The host that the request is for, with the port if it was sent. It comes from the authority of
  // the target, from Host, or from `:authority`. If there are two they agree, except for case and a
  // default port: other requests are refused, or their stream is reset. Empty: HTTP/1.0 without
  // any.
  Bytes authority() const noexcept;
  // The address of the client, the scheme, and the host that the client named. They come from
  // trusted proxies, or else from the connection and the request. Computed anew by each call.
  // Without a `source` (as in tests) nothing is known of the connection.
  session::Client client() const noexcept KATANA_VIEW;
  // The source of client(); null: there is none.
  session::ClientSource* source() const noexcept { return source_; }
  // The first header of that name, ignoring case.
  std::optional<Bytes> field(Bytes name) const noexcept { return head_->find(name); }
  const http::Head& head() const noexcept { return *head_; }
  // The values of the pattern's parameters. They may still hold "%2F" and "%25", which Path<T>
  // decodes.
  const PathParameters& parameters() const noexcept { return *parameters_; }
  Bytes content() const noexcept { return content_; }

 private:
  friend class Request;
  const http::Head* head_;
  const PathParameters* parameters_;
  Bytes path_;
  Bytes query_;
  Bytes content_;
  session::ClientSource* source_ = nullptr;
};

// A coroutine may not take it: it would dangle after the first suspension.
template <>
inline constexpr bool is_borrowed<RequestView> = true;

class Request {
 public:
  explicit Request(const RequestView& view);

  // The same as in RequestView, for as long as a copy of this Request lives.
  const RequestView& view() const noexcept KATANA_VIEW;
  http::Method method() const noexcept { return view().method(); }
  Bytes target() const noexcept KATANA_VIEW { return view().target(); }
  Bytes path() const noexcept KATANA_VIEW { return view().path(); }
  Bytes query() const noexcept KATANA_VIEW { return view().query(); }
  Bytes authority() const noexcept KATANA_VIEW { return view().authority(); }
  session::Client client() const noexcept KATANA_VIEW { return view().client(); }
  std::optional<Bytes> field(Bytes name) const noexcept KATANA_VIEW { return view().field(name); }
  const PathParameters& parameters() const noexcept KATANA_VIEW { return view().parameters(); }
  Bytes content() const noexcept KATANA_VIEW { return view().content(); }
  // The bytes that it and its copies hold together.
  std::size_t held_bytes() const noexcept;

 private:
  struct Storage;
  std::shared_ptr<const Storage> storage_;
};

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
