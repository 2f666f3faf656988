// Reply: the result of a handler: status, fields, body.
//
// Owns       its fields and body, unless the body is a Literal: a string or a view is copied, a
//            Text is moved. Move-only.
// Thread     a value.
// Allocates  nothing for a literal without fields; otherwise from the recycler.
// Fails      a status or field that would be malformed (CR or LF in a value) makes it invalid():
//            500 is sent instead.
// Invariant  nothing a handler puts into a value can begin another field line or another reply.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "katana/base/system/hints.hpp"
#include "katana/base/system/result.hpp"
#include "katana/base/text/bytes.hpp"
#include "katana/base/text/text.hpp"
#include "katana/base/values/file_part.hpp"
#include "katana/wire/http/reply_head.hpp"

namespace katana::net {
class Reactor;
}

namespace katana {

class Folder;
class RequestView;
class ResourceVersion;
struct FileReplyOptions;

// Text that is part of the program and valid for ever. Only a constant converts to it.
class Literal {
 public:
  template <std::size_t size>
  consteval Literal(const char (&text)[size])
      : bytes_(text, size - 1) {}                            // NOLINT: implicit on purpose
  constexpr Bytes bytes() const noexcept { return bytes_; }  // lives as long as the program

 private:
  Bytes bytes_;
};

// Text that a reply copies; the caller may destroy it before the reply is sent.
template <class T>
concept CopiedContent = std::same_as<T, std::string> || std::same_as<T, Bytes>;

// The destination of a streamed reply's body.
class ContentSink {
 public:
  // Returns false, and takes nothing, if there is no room at present.
  virtual bool write(Bytes content) noexcept = 0;
  // Takes as much of the part as there is room for off its front. The connection sends the file
  // itself where it can, without a copy. Returns true if all of the part was taken. Throws
  // std::runtime_error when the file is shorter.
  virtual bool write_file(FilePart& part);
  // For a source whose content is expensive to make. Call it before returning false although there
  // was room. Returns true if the source is asked again after others had their turn.
  virtual bool yield() noexcept { return false; }

 protected:
  ~ContentSink() = default;
};

// A streamed reply, as its ContentSource sees it; lives as long as the source. Its reactor's
// thread.
class ContentStream {
 public:
  // Requests a call of produce(), because there is something to write. May call it at once, and may
  // destroy the source.
  virtual void wake() noexcept = 0;
  // The source may be silent without limit: no timeout applies to it.
  virtual void set_patient() noexcept = 0;
  virtual net::Reactor& reactor() noexcept = 0;

 protected:
  ~ContentStream() = default;
};

// Produces the body of a streamed reply when there is room for it.
class ContentSource {
 public:
  virtual ~ContentSource() = default;
  // Called once, before the first produce(): for a source that waits for more than room.
  virtual void begin(ContentStream&) {}
  // Writes until the sink has no room, or there is nothing to write at present. Returns true if
  // everything is written. Called when there is room again, and by ContentStream::wake().
  virtual bool produce(ContentSink& sink) = 0;
  // The server is about to stop: an endless source wakes its stream and ends.
  virtual void drain() noexcept {}
  // The bytes that it keeps because the client has not taken them.
  virtual std::size_t held_bytes() const noexcept { return 0; }

  static void* operator new(std::size_t bytes) { return recycler::allocate(bytes); }
  static void operator delete(void* memory, std::size_t bytes) noexcept {
    recycler::release(memory, bytes);
  }
};

namespace coding {
class Encoder;
}
namespace detail {
struct PreparedReply;
}

class Reply {
 public:
  // The mark by which database::transact() rolls back for a status of 400 or above.
  using RefusesByStatus = void;

  // A reply without a body.
  explicit Reply(unsigned status = 204) noexcept { set_status(status); }

  // 200 with text/plain. A literal is referred to, a Text moved, anything else copied.
  static Reply text(Literal content) noexcept { return {200, "text/plain", content}; }
  static Reply text(Text content) noexcept { return {200, "text/plain", std::move(content)}; }
  template <CopiedContent T>
  static Reply text(const T& content) {
    return text(Text(content));
  }
  // 200 with finished markup; html() of http/handlers/html.hpp escapes values.
  static Reply html(Literal content) noexcept { return {200, "text/html; charset=utf-8", content}; }
  static Reply html(Text content) noexcept {
    return {200, "text/html; charset=utf-8", std::move(content)};
  }
  template <CopiedContent T>
  static Reply html(const T& content) {
    return html(Text(content));
  }
  // 200 with finished JSON text.
  static Reply json(Literal content) noexcept { return {200, "application/json", content}; }
  static Reply json(Text content) noexcept { return {200, "application/json", std::move(content)}; }

  template <CopiedContent T>
  static Reply json(const T& content) {
    return json(Text(content));
  }

  // 204
  static Reply no_content() noexcept { return Reply(204); }
  // 303, or 301, 302, 307, 308, to a URL or a path. Spaces, quotes and non-ASCII characters are
  // percent-encoded. A control character, or another status, makes the reply invalid. A location
  // made of user input may name another host.
  static Reply redirect(Bytes location, unsigned status = 303);
  // A file, or the requested ranges of it: http/handlers/file_reply.hpp.
  static Reply file(const RequestView& request, const std::string& path);
  static Reply file(const RequestView& request, const std::string& path,
                    const FileReplyOptions& options);
  static Reply file(const RequestView& request, const Folder& folder, Bytes name);
  static Reply file(const RequestView& request, const Folder& folder, Bytes name,
                    const FileReplyOptions& options);

  Reply(unsigned status, Literal type, Literal content) noexcept
      : content_stays_(true), content_type_(type.bytes()), content_(content.bytes()) {
    set_status(status);
  }
  Reply(unsigned status, Literal type, Text content) noexcept
      : content_type_(type.bytes()), owned_(std::move(content)) {
    set_status(status);
  }

  template <CopiedContent T>
  Reply(unsigned status, Literal type, const T& content) : Reply(status, type, Text(content)) {}

  // A body of any size in bounded memory. `length` if it is known, otherwise http::unknown_length.
  static Reply stream(Literal type, std::int64_t length,
                      std::unique_ptr<ContentSource> source) noexcept;
  // `produce(ContentSink&)` returns true when everything is written.
  template <std::invocable<ContentSink&> Produce>
  static Reply stream(Literal type, std::int64_t length, Produce produce) {
    struct Source final : ContentSource {
      explicit Source(Produce given) : make(std::move(given)) {}
      bool produce(ContentSink& sink) override { return make(sink); }
      Produce make;
    };
    return stream(type, length, std::make_unique<Source>(std::move(produce)));
  }

  // 200 to 599; with another one the reply is invalid. Only the protocol sends 1xx.
  Reply& set_status(unsigned status) noexcept {
    status_ = static_cast<std::uint16_t>(status);
    if (status < 200 || status > 599) flaws_ |= is_invalid;
    return *this;
  }
  // Adds a header. The reply becomes invalid if name or value are malformed, or if the protocol
  // sets this header itself (Content-Length, Transfer-Encoding, Connection, Date, Server,
  // Content-Type). A field whose value is no list, such as ETag, Location or Retry-After, replaces
  // the earlier one of its name (RFC 9110 §5.3); see is_single_field().
  Reply& add_field(Bytes name, Bytes value);
  Reply with(Bytes name, Bytes value) && { return std::move(add_field(name, value)); }
  // Adds the strong ETag of a version, and Last-Modified if its time is known; see
  // http/handlers/preconditions.hpp. compression() names its coding in the tag.
  Reply& set_version(const ResourceVersion& version);
  Reply with_version(const ResourceVersion& version) && { return std::move(set_version(version)); }
  // Replaces the body. Status, headers and type stay; without a type it is text/plain. A stream of
  // the reply is dropped.
  Reply& set_content(Text content) noexcept;
  Reply& set_content(Literal content) noexcept;
  template <CopiedContent T>
  Reply& set_content(const T& content) {
    return set_content(Text(content));
  }
  // Sets a media type that is not known in advance. A malformed one makes the reply invalid.
  Reply& set_content_type(Bytes type);
  // Closes the connection after this reply.
  Reply& close() noexcept {
    close_ = true;
    return *this;
  }

  unsigned status() const noexcept { return status_; }  // 200 to 599
  // The parts of the reply; the views are valid until it is changed or moved.
  Bytes content_type() const noexcept {
    return owned_type_.empty() ? content_type_ : owned_type_.bytes();
  }
  Bytes fields() const noexcept { return fields_.bytes(); }
  Bytes content() const noexcept { return owned_.empty() ? content_ : owned_.bytes(); }
  bool content_stays() const noexcept { return content_stays_; }  // it is a Literal
  bool closes() const noexcept { return close_; }                 // close() was called
  bool invalid() const noexcept { return (flaws_ & is_invalid) != 0; }
  // For an invalid reply: the mistake and the remedy.
  std::string mistake() const;
  // The error that problem(error) kept in the reply; null if there is none.
  const Error* cause() const noexcept;
  // Valid, whole, and no reason to close: nearly every reply.
  bool is_ordinary() const noexcept { return flaws_ == 0 && !close_ && source_ == nullptr; }
  bool is_streamed() const noexcept { return source_ != nullptr; }
  std::int64_t stream_length() const noexcept { return stream_length_; }
  std::unique_ptr<ContentSource>& source() noexcept { return source_; }
  // Status, type, fields and close(), without the content.
  Reply copy_of_head() const;

 private:
  friend struct detail::PreparedReply;
  struct Note;  // the reason why it is invalid, or its error
  static constexpr std::uint8_t is_invalid = 1;
  static constexpr std::uint8_t has_cause = 2;
  static constexpr std::uint8_t is_reported = 4;  // all its flaws are reported

  KATANA_RARE void refuse(std::string why);
  const Note* note() const noexcept;

  std::uint16_t status_ = 204;
  bool content_stays_ = false;
  bool close_ = false;
  std::uint8_t flaws_ = 0;
  Bytes content_type_;
  Bytes content_;
  Text owned_;
  Text owned_type_;
  Text fields_;
  std::unique_ptr<ContentSource> source_;
  std::int64_t stream_length_ = http::unknown_length;
  // A Note if the reply has a flaw. Otherwise, for the head of a reply that is written in pieces,
  // the coding::Encoder of its content. Nearly all replies have neither: with one pointer they are
  // cheaper to move and destroy.
  std::shared_ptr<void> extra_;
  bool is_head_ = false;
  bool has_version_ = false;  // set_version() set the ETag
};

namespace detail {

// For parts of this module with well-formed heads, which are checked once and sent often.
struct PreparedReply {
  // `lines` are complete lines.
  static void append_fields(Reply& reply, Bytes lines) { reply.fields_.append(lines); }
  // `type` outlives the reply.
  static void refer_content_type(Reply& reply, Bytes type) noexcept { reply.content_type_ = type; }
  // `content` outlives the reply and the output of its connection.
  static void refer_content(Reply& reply, Bytes content) noexcept {
    reply.content_ = content;
    reply.content_stays_ = true;
  }
  static void set_source(Reply& reply, std::int64_t length,
                         std::unique_ptr<ContentSource> source) noexcept {
    reply.stream_length_ = length;
    reply.source_ = std::move(source);
  }
  static Text& fields(Reply& reply) noexcept { return reply.fields_; }
  // The reply either only refers to its body, or owns all of it.
  static Text take_owned_content(Reply& reply) noexcept { return std::exchange(reply.owned_, {}); }
  static void set_content(Reply& reply, Text content) noexcept {
    reply.owned_ = std::move(content);
    reply.content_ = {};
    reply.content_stays_ = false;
  }
  // The head of a reply that a handler writes in pieces.
  static bool is_head(const Reply& reply) noexcept { return reply.is_head_; }
  static void set_encoder(Reply& reply, std::shared_ptr<coding::Encoder> encoder) noexcept {
    if (reply.flaws_ == 0) reply.extra_ = std::move(encoder);
  }
  // True if its ETag is the version of a resource, whatever the content coding.
  static bool has_version(const Reply& reply) noexcept { return reply.has_version_; }
  static void set_has_version(Reply& reply, bool has) noexcept { reply.has_version_ = has; }
  // Returns true once for all flaws of a reply: the caller then reports them.
  static bool begin_report(Reply& reply) noexcept {
    if ((reply.flaws_ & Reply::is_reported) != 0) return false;
    reply.flaws_ |= Reply::is_reported;
    return true;
  }
  // Sets the error of the reply; see Reply::cause().
  static void set_cause(Reply& reply, const Error& error);
  static std::shared_ptr<coding::Encoder> encoder(const Reply& reply) {
    if (reply.flaws_ != 0) return nullptr;
    return std::static_pointer_cast<coding::Encoder>(reply.extra_);
  }
};

}  // namespace detail

// A problem document (RFC 9457): {"type":"about:blank","title":…,"status":…,"detail":…}.
Reply problem(unsigned status, Bytes detail);
// 401 with the authentication scheme for the client, as in R"(Basic realm="shop")" (RFC 9110
// §11.6.1). "Bearer" alone becomes R"(Bearer realm="restricted")".
Reply unauthenticated(Bytes challenge, Bytes detail);
// A problem with the status of the error's code, and its message as the detail. An internal error
// does not show its message to the client. The reply keeps the error as its cause(). The cause is
// logged when the status is 500 or above. The client sees it only if Router::development() is on.
// Code::unauthenticated challenges with R"(Bearer realm="restricted")".
Reply problem(const Error& error);

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
