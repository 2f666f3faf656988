#include "lab/load/tls_connection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace katana::load {
namespace {

constexpr std::size_t block_bytes = 4096;
// A record in full and as much before it, and the four blocks that has_capacity() wants to see.
constexpr std::size_t blocks_each = TlsConnection::sealed_bytes_max() / (block_bytes - 64) + 5;
constexpr std::size_t buffer_bytes = 34 * 1024;  // OpenSSL's buffer for one connection
constexpr std::size_t state_bytes = 40 * 1024;   // likewise, without them

}  // namespace

Result<std::shared_ptr<const tls::ClientContext>> make_tls(const TlsSpec& spec,
                                                           const LoadPlan& plan) {
  tls::ClientTlsOptions options;
  options.dangerously_accept_any_certificate = spec.insecure;
  options.authorities_file = spec.authorities_file;
  options.system_authorities = spec.authorities_file.empty();
  // Both, so that a server that has no HTTP/2 can say so.
  if (plan.http2) options.protocols = {"h2", "http/1.1"};
  if (!plan.tls_resume) options.session_lifetime = {};
  auto made = tls::ClientContext::make(options);
  if (!made && !spec.authorities_file.empty()) {
    return fail(Code::invalid_argument, "--ca: " + made.error().describe());
  }
  if (!made) return made;
  if (keeps_buffers(plan)) SSL_CTX_clear_mode(&(*made)->get(), SSL_MODE_RELEASE_BUFFERS);
  return made;
}

TlsConnection::TlsConnection(TlsSide& side) noexcept : side_(side), output_(side.blocks) {}

bool TlsConnection::begin(Instant now) {
  output_.clear();
  machine_.emplace(side_.context->get(), tls::Side::client);
  if (!machine_->valid() || !machine_->expect_name(side_.name.c_str())) return false;
  if (side_.resumes) {
    // A copy: OpenSSL takes a session of TLS 1.3 for used up, and a server need not offer another.
    const Session copy(session_ != nullptr ? SSL_SESSION_dup(session_.get()) : nullptr);
    machine_->resume(copy.get(), *this);
  }
  char nothing[1];
  return machine_->next({}, nothing, output_, now).event == tls::Event::need_bytes;
}

void TlsConnection::end() {
  // No alert can be sent behind part of a record, and bytes that the socket did not take are not
  // sent.
  const bool can_say_so = output_.empty();
  output_.clear();
  if (can_say_so) machine_->end(output_);
}

TlsSide::TlsSide(const LoadPlan& plan, const Target& target, std::size_t count)
    : context(target.tls),
      name(target.url.host),
      resumes(plan.tls_resume),
      connection_bytes(state_bytes + (keeps_buffers(plan) ? buffer_bytes : 0)),
      blocks(block_bytes, count * blocks_each + 4),
      plain(std::make_unique_for_overwrite<char[]>(plain_bytes)),
      gathered(std::make_unique_for_overwrite<char[]>(tls::record_bytes_max)) {
  for (std::size_t index = 0; index < count; ++index) connections.emplace_back(*this);
}

std::size_t TlsSide::memory_bytes_max() const noexcept {
  return connections.size() * (sizeof(TlsConnection) + connection_bytes) +
         blocks.capacity() * block_bytes + plain_bytes + tls::record_bytes_max;
}

Bytes front_of(const Outbox& outbox, char* room) noexcept {
  std::array<iovec, 64> pieces;
  const std::size_t count = outbox.gather(pieces);
  std::size_t size = 0;
  for (std::size_t index = 0; index < count && size < tls::record_bytes_max; ++index) {
    const Bytes piece(static_cast<const char*>(pieces[index].iov_base), pieces[index].iov_len);
    if (count == 1) return piece.substr(0, tls::record_bytes_max);
    const std::size_t taken = std::min(piece.size(), tls::record_bytes_max - size);
    std::memcpy(room + size, piece.data(), taken);
    size += taken;
  }
  return {room, size};
}

}  // namespace katana::load

// SPDX-License-Identifier: Apache-2.0
