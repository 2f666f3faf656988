// Http1Driver: HTTP/1.1 on a connection: one request, its reply, and the next.
//
// Owns       the machine, and the head of a reply as far as it has come.
// Borrows    its environment, and the call that it carries.
// Thread     its reactor's.
// Fails      see ProtocolDriver.
// Invariant  the connection is used for another request only after a complete reply. Then no byte
//            of the request is unsent, no byte of the input is unread, and both sides keep the
//            connection open.
#pragma once

#include "katana/base/text/text.hpp"
#include "katana/http/client/protocol_driver.hpp"
#include "katana/net/reactor/connection.hpp"
#include "katana/wire/http1/response_machine.hpp"

namespace katana::client {

class Http1Driver final : public ProtocolDriver {
 public:
  explicit Http1Driver(const DriverEnvironment& environment) noexcept;

  std::uint32_t capacity() const noexcept override { return call_ == nullptr && !ending_ ? 1 : 0; }
  bool ending() const noexcept override { return ending_; }
  bool idle() const noexcept override { return call_ == nullptr; }
  void begin(Call& call) noexcept override;
  void cancel_call(Call& call, CancelReason reason) noexcept override;
  void on_content_read(Call& call, std::size_t bytes) noexcept override;
  void on_upload(Call& call) noexcept override;
  void on_writable() noexcept override;
  std::size_t on_bytes(Bytes input) noexcept override;
  void on_input_end() noexcept override;
  void take_unsent_calls(CallList& calls) noexcept override;
  void on_lost(const Error& error) noexcept override;

 private:
  bool take(const http1::ResponseMachine::Step& step, Bytes used, bool in_head) noexcept;
  bool give_head() noexcept;
  void complete(bool all_read) noexcept;
  void fail(Error error) noexcept;
  void send_upload() noexcept;
  bool write_piece(Bytes piece) noexcept;
  bool is_all_sent() const noexcept;

  Call* call_ = nullptr;
  http1::ResponseMachine machine_;
  Text head_;
  std::uint32_t served_ = 0;  // calls completed before this one
  bool reply_begun_ = false;  // its first byte has arrived
  bool uploads_ = false;      // content of an Upload has yet to be sent
  bool ending_ = false;
};

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
