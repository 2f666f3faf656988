// Outgoing: a request that was found right, as it goes out each time it is sent, whatever protocol
// the connection speaks.
//
// Owns       what its head is made of, and content; connections that are sending the content share
//            it.
// Thread     its reactor's.
// Fails      make_outgoing() names the URL or the field, what is wrong, and the remedy.
// Invariant  the head is one head of one request, whatever the texts of the Request were.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "katana/base/outbox.hpp"
#include "katana/base/result.hpp"
#include "katana/base/retained.hpp"
#include "katana/base/text.hpp"
#include "katana/client/options.hpp"
#include "katana/client/request.hpp"
#include "katana/client/url.hpp"
#include "katana/wire/http1/request_head.hpp"
#include "katana/wire/http2/request_writer.hpp"

namespace katana::client {

// Content that stays until the last connection is done with it.
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

  Bytes bytes() const noexcept { return kept_ != nullptr ? Bytes(kept_->text) : Bytes(); }
  // False: there is no block for it, and nothing was promised.
  bool send(Outbox& outbox) const noexcept {
    if (bytes().size() <= copied_bytes_max) return bytes().empty() || outbox.write(bytes());
    return outbox.refer(kept_->text, *kept_);
  }

 private:
  // Shorter content goes out behind its head, in the same block.
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
  // As HTTP/1.1 has its head.
  Text http1_head() const;
  // Refers to this.
  http2::RequestHead http2_head() const noexcept;

  Origin origin;
  std::string method;
  std::string host;                                    // and port, as Host has it
  std::string target;                                  // path and query
  std::string fields;                                  // complete lines "name: value" CRLF
  std::int64_t content_length = http::unknown_length;  // that: none is said
  KeptContent content;
  std::string name;      // "GET https://example.org/users": what errors call it
  bool is_head = false;  // the method is HEAD: its reply has no content
  bool repeatable = false;

 private:
  friend Result<Outgoing> make_outgoing(Request request, const HttpClientOptions& options);
  http1::RequestHead head() const noexcept;
};

Result<Outgoing> make_outgoing(Request request, const HttpClientOptions& options);

}  // namespace katana::client
