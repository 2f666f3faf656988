// Outgoing: a valid request, ready to be sent over any protocol, as often as needed.
//
// Owns       the parts of the head, and the body, shared with connections that are sending it.
// Thread     its reactor's.
// Fails      make_outgoing() names the URL or field, the mistake in it, and the remedy.
// Invariant  the head is one head of one request, whatever texts the Request contained.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "katana/base/memory/outbox.hpp"
#include "katana/base/memory/retained.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/text/text.hpp"
#include "katana/http/client/options.hpp"
#include "katana/http/client/proxy.hpp"
#include "katana/http/client/request.hpp"
#include "katana/http/client/url.hpp"
#include "katana/wire/http1/request_head.hpp"
#include "katana/wire/http2/request_writer.hpp"

namespace katana::client {

// A body, kept until the last connection has sent it.
class KeptContent {
 public:
  KeptContent() noexcept = default;
  explicit KeptContent(std::string text) : kept_(new Kept(std::move(text))) { kept_->retain(); }
  KeptContent(KeptContent&& other) noexcept : kept_(std::exchange(other.kept_, nullptr)) {}
  KeptContent& operator=(KeptContent&& other) noexcept {
    std::swap(kept_, other.kept_);
    return *this;
  }
  ~KeptContent() {
    if (kept_ != nullptr) kept_->let_go();
  }

  // Valid as long as this object or a connection that sends it.
  Bytes bytes() const noexcept { return kept_ != nullptr ? Bytes(kept_->text) : Bytes(); }
  // Returns false, and writes nothing, if the reactor has no block left.
  bool send(Outbox& outbox) const noexcept {
    if (bytes().size() <= copied_bytes_max) return bytes().empty() || outbox.write(bytes());
    return outbox.refer(kept_->text, *kept_);
  }

 private:
  // A body up to this size is copied behind its head, into the same block.
  static constexpr std::size_t copied_bytes_max = 2048;
  struct Kept final : Retained {
    explicit Kept(std::string content)
        : Retained([](Retained& self) noexcept { delete static_cast<Kept*>(&self); }),
          text(std::move(content)) {}
    const std::string text;
  };
  Kept* kept_ = nullptr;
};

struct Outgoing {
  // The head in the format of HTTP/1.1. `proxy`: the request goes to it, not to the origin.
  Text http1_head(const Proxy* proxy = nullptr) const;
  // HTTP/1.1 sends the content in chunks, because its length is not declared.
  bool is_chunked() const noexcept {
    return source != nullptr && content_length == http::unknown_length;
  }
  // The head for HTTP/2; refers to this object.
  http2::RequestHead http2_head() const noexcept;

  Origin origin;       // of the URL; a redirect makes another Outgoing
  std::string method;  // as given; compared with case
  std::string host;    // the value of Host, with the port
  std::string target;  // path and query
  std::string fields;  // complete lines "name: value" CRLF
  std::int64_t content_length = http::unknown_length;  // unknown_length: none is sent
  KeptContent content;                    // the whole body; empty if there is a `source`
  std::shared_ptr<ContentSource> source;  // of the body; null: it is `content`
  bool expects = false;                   // it sends Expect: 100-continue
  std::string name;                       // "GET https://example.org/users": the context of errors
  bool is_head = false;                   // the method is HEAD: its reply has no content
  bool repeatable = false;  // the method is idempotent (RFC 9110 §9.2.2): retries are allowed
  bool decodes = false;     // it sends Accept-Encoding, and the content of its reply is decoded

 private:
  friend Result<Outgoing> make_outgoing(Request& request, const HttpClientOptions& options,
                                        bool decodes);
  http1::RequestHead head() const noexcept;
};

// Takes the body out of `request`. `decodes`: unless the request has an Accept-Encoding.
Result<Outgoing> make_outgoing(Request& request, const HttpClientOptions& options,
                               bool decodes = false);

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
