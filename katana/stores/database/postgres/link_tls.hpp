// LinkTls: TLS of one session of PostgreSQL, as a function of bytes.
//
// Owns       its machine, and the context that was made for it.
// Shares     the pool of blocks for what it encrypts.
// Thread     one at a time.
// Allocates  by OpenSSL, and blocks.
// Fails      make() names the file. Later has_failed() is true, and problem() has the reason.
// Invariant  no byte is decrypted for the caller, or encrypted, before the certificate has passed
//            the check of LinkTlsOptions.
// Source     PostgreSQL 18, "SSL Support"; RFC 5929 §4
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "katana/base/memory/outbox.hpp"
#include "katana/base/system/result.hpp"
#include "katana/net/tls/client_context.hpp"
#include "katana/stores/database/postgres/link_options.hpp"
#include "katana/wire/tls/machine.hpp"

namespace katana::database::postgres {

class LinkTls {
 public:
  // `host`: the name whose certificate is wanted. Reads the files of the options.
  static katana::Result<std::unique_ptr<LinkTls>> make(const LinkTlsOptions& options,
                                                       const std::string& host,
                                                       std::shared_ptr<BlockPool> blocks);

  // Takes all of `input`, and writes plaintext to `plain`. Returns how many bytes those are.
  // REQUIRES room for the input and a record.
  std::size_t receive(Bytes input, std::span<char> plain) noexcept;
  // Encrypts the first bytes of `plain`. The result says how many: 0 while the output is full.
  std::size_t seal(Bytes plain) noexcept { return machine_.seal(plain, output_); }
  // Says that no byte follows.
  void end() noexcept { machine_.end(output_); }
  // Bytes for the socket.
  Outbox& output() noexcept { return output_; }

  // As the machine of TLS says.
  bool is_open() const noexcept { return machine_.opened(); }
  bool has_failed() const noexcept { return machine_.has_failed(); }
  // REQUIRES has_failed().
  std::string problem() const { return tls::describe_failure(machine_, host_); }
  // REQUIRES is_open().
  protocol::TlsFacts facts() noexcept;

 private:
  LinkTls(std::shared_ptr<const tls::ClientContext> context, std::string host,
          std::shared_ptr<BlockPool> blocks) noexcept
      : context_(std::move(context)),
        host_(std::move(host)),
        blocks_(std::move(blocks)),
        output_(*blocks_),
        machine_(context_->get(), tls::Side::client) {}

  const std::shared_ptr<const tls::ClientContext> context_;
  const std::string host_;
  std::string end_point_;  // of facts()
  const std::shared_ptr<BlockPool> blocks_;
  Outbox output_;
  tls::Machine machine_;
};

// The digest of a certificate to which SCRAM is bound (tls-server-end-point, RFC 5929 §4.1). Empty:
// the signature names no digest.
std::string server_end_point(const X509& certificate);

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
