// Outgoing: a request that was found right, as the bytes that go out, each time it is sent.
//
// Owns       head and content; connections that are sending the content share it.
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
#include "katana/client/options.hpp"
#include "katana/client/request.hpp"
#include "katana/client/url.hpp"

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

  // False: there is no block for it, and nothing was promised.
  bool send(Outbox& outbox) const noexcept {
    return kept_ == nullptr || outbox.refer(kept_->text, *kept_);
  }

 private:
  struct Kept final : Retained {
    explicit Kept(std::string content)
        : Retained([](Retained& self) noexcept { delete static_cast<Kept*>(&self); }),
          text(std::move(content)) {}
    const std::string text;
  };
  Kept* kept_ = nullptr;
};

struct Outgoing {
  Origin origin;
  std::string head;      // and short content behind it
  KeptContent content;   // the rest
  std::string name;      // "GET https://example.org/users": what errors call it
  bool is_head = false;  // the method is HEAD: its reply has no content
  bool repeatable = false;
};

Result<Outgoing> make_outgoing(Request request, const HttpClientOptions& options);

}  // namespace katana::client
