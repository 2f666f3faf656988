#include "katana/stores/bus/message.hpp"

#include <fmt/format.h>

#include <cstring>
#include <new>

#include "katana/stores/bus/subject.hpp"

namespace katana::bus {
namespace {

bool is_header_name(Bytes name) noexcept {
  if (name.empty()) return false;
  for (const char octet : name) {
    if (octet <= ' ' || octet == ':' || octet == 0x7f) return false;
  }
  return true;
}

bool has_line_end(Bytes text) noexcept {
  return text.find_first_of(Bytes("\r\n\0", 3)) != Bytes::npos;
}

constexpr char lower(char octet) noexcept {
  return octet >= 'A' && octet <= 'Z' ? static_cast<char>(octet + ('a' - 'A')) : octet;
}

std::size_t line_bytes(Bytes name, Bytes value) noexcept { return name.size() + value.size() + 4; }

std::size_t headers_bytes(const Publication& publication) noexcept {
  std::size_t bytes = 0;
  for (const Header& each : publication.headers) bytes += line_bytes(each.name, each.value);
  if (!publication.id.empty()) bytes += line_bytes(message_id_header, publication.id);
  return bytes;
}

char* put(char* to, Bytes text) noexcept {
  if (!text.empty()) std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

char* put_line(char* to, Bytes name, Bytes value) noexcept {
  return put(put(put(put(to, name), ": "), value), "\r\n");
}

}  // namespace

bool is_same_header(Bytes left, Bytes right) noexcept {
  if (left.size() != right.size()) return false;
  for (std::size_t at = 0; at < left.size(); ++at) {
    if (lower(left[at]) != lower(right[at])) return false;
  }
  return true;
}

Result<void> check_publication(const Publication& publication, std::size_t payload_bytes_max) {
  if (auto subject = check_subject(publication.subject); !subject) return subject;
  if (!publication.reply_to.empty()) {
    if (auto reply = check_subject(publication.reply_to); !reply) return reply;
  }
  if (publication.payload.size() > payload_bytes_max) [[unlikely]] {
    return fail(Code::out_of_range,
                fmt::format("a message to '{}' of {} bytes is above payload_bytes_max, which is "
                            "{}",
                            publication.subject, publication.payload.size(), payload_bytes_max));
  }
  if (publication.headers.empty() && publication.id.empty()) [[likely]]
    return {};
  for (const Header& each : publication.headers) {
    if (!is_header_name(each.name) || has_line_end(each.value)) {
      return fail(Code::invalid_argument,
                  fmt::format("header '{}' of a message to '{}' has a name with a blank or ':', or "
                              "a value with a line end",
                              each.name.substr(0, 80), publication.subject));
    }
  }
  if (has_line_end(publication.id)) {
    return fail(Code::invalid_argument,
                fmt::format("the id of a message to '{}' has a line end", publication.subject));
  }
  if (headers_bytes(publication) > header_bytes_max) {
    return fail(Code::out_of_range,
                fmt::format("the headers of a message to '{}' have {} bytes, and may have {}",
                            publication.subject, headers_bytes(publication), header_bytes_max));
  }
  return {};
}

HeldMessage make_message(const Publication& publication, bool is_from_here, Origin origin,
                         std::uint16_t status, Bytes raw_headers) {
  const std::size_t headers = headers_bytes(publication) + raw_headers.size();
  const std::size_t copied = publication.memory == nullptr ? publication.payload.size() : 0;
  const std::size_t size = sizeof(detail::Envelope) + publication.subject.size() +
                           publication.reply_to.size() + headers + copied;
  Batch& batch = Block::make(size, 1);
  auto* const envelope = new (batch.block().data()) detail::Envelope;
  envelope->payload_size = static_cast<std::uint32_t>(publication.payload.size());
  envelope->headers_size = static_cast<std::uint32_t>(headers);
  envelope->subject_size = static_cast<std::uint16_t>(publication.subject.size());
  envelope->reply_size = static_cast<std::uint16_t>(publication.reply_to.size());
  envelope->status = status;
  envelope->is_from_here = is_from_here;
  envelope->origin = origin;
  char* to = reinterpret_cast<char*>(envelope + 1);
  to = put(put(to, publication.subject), publication.reply_to);
  for (const Header& each : publication.headers) to = put_line(to, each.name, each.value);
  if (!publication.id.empty()) to = put_line(to, message_id_header, publication.id);
  to = put(to, raw_headers);
  if (publication.memory == nullptr) {
    envelope->payload = to;
    put(to, publication.payload);
    return {batch, batch};
  }
  envelope->payload = publication.payload.data();
  envelope->payload_block = &publication.memory->block();
  publication.memory->retain();
  return {batch, *publication.memory};
}

std::optional<Bytes> Delivery::header(Bytes name) const noexcept {
  std::optional<Bytes> found;
  for_each_header(headers(), [&](Bytes each, Bytes value) {
    if (!found && is_same_header(each, name)) found = value;
  });
  return found;
}

void Posted::share() const noexcept {
  block_->share();
  if (Block* const payload = envelope().payload_block; payload != nullptr) payload->share();
}

// Drops the payload's block first, because the envelope refers to it.
void Posted::drop() noexcept {
  if (Block* const payload = envelope().payload_block; payload != nullptr) payload->drop();
  block_->drop();
}

std::size_t Posted::allocated_bytes() const noexcept {
  const Block* const payload = envelope().payload_block;
  return block_->allocated_bytes() + (payload != nullptr ? payload->allocated_bytes() : 0);
}

HeldMessage Posted::adopt() && {
  Block* const block = std::exchange(block_, nullptr);
  Batch& batch = block->adopt();
  Block* const payload = detail::envelope_of(*block).payload_block;
  return {batch, payload != nullptr ? payload->adopt() : batch};
}

}  // namespace katana::bus

// SPDX-License-Identifier: Apache-2.0
