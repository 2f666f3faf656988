#include "katana/http/handlers/reply.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>

#include "katana/base/text/json_string.hpp"
#include "katana/http/handlers/framework_problems.hpp"
#include "katana/http/handlers/reply_fields.hpp"
#include "katana/wire/http/status.hpp"

namespace katana {
namespace {

constexpr std::array<Bytes, 6> protocol_fields = {
    "Content-Length", "Transfer-Encoding", "Connection", "Date", "Server", "Content-Type"};

// The scheme needs a parameter (RFC 6750 §3); this one is used if the program names no realm.
constexpr Bytes bearer_challenge = R"(Bearer realm="restricted")";

// The reply head has to fit one output block.
constexpr std::size_t fields_bytes_max = 3072;

// The value is not repeated: it may be a secret, or come from a client.
std::string why_refused(Bytes name, Bytes value) {
  const Bytes shown = http::valid_field(name, "") ? name.substr(0, 100) : Bytes("(malformed)");
  const bool reserved = std::ranges::any_of(protocol_fields, [&](Bytes each) {
    return http::equals_ignoring_case(name, each) &&
           !http::equals_ignoring_case(name, "Content-Type");
  });
  Bytes why = "with the other fields it is more than 3072 bytes: make them shorter";
  if (reserved) {
    why = "the protocol sets it itself: leave it out";
  } else if (shown != name.substr(0, 100)) {
    why = "its name is no token (RFC 9110 §5.1)";
  } else if (!http::valid_field(name, value)) {
    why = "its value has a line end, a control character, or a space at an end";
  } else if (http::equals_ignoring_case(name, "Content-Type")) {
    why = "give it to set_content_type(), with 1 to 256 bytes";
  }
  return fmt::format("the reply's field '{}' is invalid: {}", shown, why);
}

unsigned status_of(Code code) noexcept {
  switch (code) {
    case Code::invalid_argument:
    case Code::out_of_range: return 400;
    case Code::not_found: return 404;
    case Code::already_exists: return 409;
    case Code::permission_denied: return 403;
    case Code::unauthenticated: return 401;
    case Code::resource_exhausted:
    case Code::unavailable:
    case Code::cancelled: return 503;
    case Code::deadline_exceeded: return 504;
    case Code::unsupported: return 501;
    case Code::data_loss:
    case Code::internal: break;
  }
  return 500;
}

// Encodes the characters that a URL may not contain (RFC 3987 §3.1). Returns nothing for a control
// character.
std::optional<Text> encoded_location(Bytes location) {
  Text encoded;
  for (const char c : location) {
    const auto octet = static_cast<unsigned char>(c);
    if (octet < 0x20 || octet == 0x7f) return std::nullopt;
    if (octet > 0x7f || Bytes(" \"<>").contains(c)) {
      encoded.append(format_text("%{:02X}", octet).bytes());
    } else {
      encoded.push_back(c);
    }
  }
  return encoded;
}

void remove_field(Text& lines, Bytes name) {
  if (!find_field(lines.bytes(), name)) return;
  Text left;
  for_each_line(lines.bytes(), [&](Bytes field, Bytes, Bytes line) {
    if (!http::equals_ignoring_case(field, name)) left.append(line);
  });
  lines = std::move(left);
}

constexpr std::array redirect_statuses = {301u, 302u, 303u, 307u, 308u};

}  // namespace

struct Reply::Note {
  std::string mistake;
  std::optional<Error> cause;
};

const Reply::Note* Reply::note() const noexcept {
  return flaws_ != 0 ? static_cast<const Note*>(extra_.get()) : nullptr;
}

// Keeps the first mistake. A reply that stood for an error still does.
void Reply::refuse(std::string why) {
  Note note;
  if (const Note* const present = this->note()) note = *present;
  if (note.mistake.empty()) note.mistake = std::move(why);
  extra_ = std::make_shared<Note>(std::move(note));
  flaws_ = static_cast<std::uint8_t>((flaws_ | is_invalid) & ~is_reported);
}

std::string Reply::mistake() const {
  if (status_ < 200 || status_ > 599) {
    return fmt::format("the status of the reply is {}: give one from 200 to 599", status_);
  }
  return note() != nullptr ? note()->mistake : std::string();
}

const Error* Reply::cause() const noexcept {
  return note() != nullptr && note()->cause ? &*note()->cause : nullptr;
}

bool ContentSink::write_file(FilePart& part) {
  std::array<char, 16 * 1024> buffer;
  while (part.size > 0) {
    const std::ptrdiff_t count = part.read(buffer);
    if (count <= 0) throw std::runtime_error("a file became shorter while it was sent");
    if (!write({buffer.data(), static_cast<std::size_t>(count)})) return false;
    part.remove_prefix(static_cast<std::uint64_t>(count));
  }
  return true;
}

Reply Reply::stream(Literal type, std::int64_t length,
                    std::unique_ptr<ContentSource> source) noexcept {
  Reply reply(200);
  reply.content_type_ = type.bytes();
  reply.stream_length_ = length;
  reply.source_ = std::move(source);
  return reply;
}

Reply Reply::redirect(Bytes location, unsigned status) {
  Reply reply(status);
  const std::optional<Text> encoded = encoded_location(location);
  if (std::ranges::find(redirect_statuses, status) == redirect_statuses.end()) {
    reply.refuse(fmt::format(
        "the status {} is not one of a redirect: give 301, 302, 303, 307 or 308", status));
  } else if (location.empty() || !encoded) {
    reply.refuse(location.empty() ? "the location of the redirect is empty: name where it leads"
                                  : "the location of the redirect has a control character: "
                                    "percent-encode what a user sent");
  } else {
    reply.add_field("Location", encoded->bytes());
  }
  return reply;
}

Reply Reply::copy_of_head() const {
  Reply copy(status_);
  copy.is_head_ = true;
  copy.close_ = close_;
  copy.flaws_ = flaws_;
  copy.has_version_ = has_version_;
  if (flaws_ != 0) copy.extra_ = extra_;
  copy.content_type_ = content_type_;
  copy.owned_type_.append(owned_type_.bytes());
  copy.fields_.append(fields_.bytes());
  return copy;
}

Reply& Reply::add_field(Bytes name, Bytes value) {
  bool valid = http::valid_field(name, value);
  for (const Bytes reserved : protocol_fields) {
    valid = valid && !http::equals_ignoring_case(name, reserved);
  }
  if (valid && is_single_field(name)) {
    remove_field(fields_, name);
    if (http::equals_ignoring_case(name, "ETag")) has_version_ = false;
  }
  if (!valid || fields_.size() + name.size() + value.size() + 4 > fields_bytes_max) {
    refuse(why_refused(name, value));
    return *this;
  }
  fields_.append(name);
  fields_.append(": ");
  fields_.append(value);
  fields_.append("\r\n");
  return *this;
}

Reply& Reply::set_content(Text content) noexcept {
  if (content_type().empty()) content_type_ = "text/plain";
  source_ = nullptr;
  detail::PreparedReply::set_content(*this, std::move(content));
  return *this;
}

Reply& Reply::set_content(Literal content) noexcept {
  set_content(Text());
  detail::PreparedReply::refer_content(*this, content.bytes());
  return *this;
}

Reply& Reply::set_content_type(Bytes type) {
  constexpr std::size_t type_bytes_max = 256;
  if (type.empty() || type.size() > type_bytes_max || !http::valid_field("Content-Type", type)) {
    refuse(why_refused("Content-Type", type));
    return *this;
  }
  owned_type_ = Text(type);
  return *this;
}

Reply problem(unsigned status, Bytes detail) {
  Text content;
  content.append(R"({"type":"about:blank","title":)");
  append_json_text(content, http::reason_phrase(status));
  content.append(format_text(R"(,"status":{},"detail":)", status).bytes());
  append_json_text(content, detail);
  content.push_back('}');
  return Reply(status, "application/problem+json", std::move(content));
}

void detail::PreparedReply::set_cause(Reply& reply, const Error& error) {
  auto note = std::make_shared<Reply::Note>();
  if (const Reply::Note* const present = reply.note()) *note = *present;
  note->cause = error;
  reply.extra_ = std::move(note);
  reply.flaws_ = static_cast<std::uint8_t>((reply.flaws_ | Reply::has_cause) & ~Reply::is_reported);
}

Reply unauthenticated(Bytes challenge, Bytes detail) {
  // RFC 6750 §3: the scheme needs a parameter.
  const bool is_bare = http::equals_ignoring_case(challenge, "Bearer");
  return problem(problem_types::login_needed, detail)
      .with("WWW-Authenticate", is_bare ? bearer_challenge : challenge);
}

Reply problem(const Error& error) {
  const unsigned status = status_of(error.code());
  // The client does not learn the cause of an internal error; the log has it.
  Reply reply = detail::error_problem(
      status, status == 500 ? Bytes("The server failed to handle the request.") : error.message());
  if (status == 503) reply.add_field("Retry-After", "1");
  if (status == 401) reply.add_field("WWW-Authenticate", bearer_challenge);  // RFC 9110 §15.5.2
  detail::PreparedReply::set_cause(reply, error);
  return reply;
}

}  // namespace katana

// SPDX-License-Identifier: Apache-2.0
