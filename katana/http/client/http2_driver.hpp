// Http2Driver: HTTP/2 on a connection: requests as streams, as many at a time as the server takes.
//
// Owns       the machine, and an exchange for each call that it carries.
// Borrows    its environment, and the calls; their content until it is copied into the outbox,
//            which happens as the server's windows allow.
// Thread     its reactor's.
// Fails      see ProtocolDriver. An error in one reply fails its call and resets its stream; an
//            error of the connection fails all of its calls.
// Invariant  a server can make this hold no more than the stream's window (stream_bytes_max) for
//            an unread stream, and no such stream delays another. A stream is open exactly
//            as long as the driver carries its call.
//
// A call may reach its deadline without any bytes arriving on its connection. The server may then
// be gone, and the connection gets no further call: each would fail only at its own deadline.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/http/client/protocol_driver.hpp"
#include "katana/net/reactor/connection.hpp"
#include "katana/wire/http2/client_machine.hpp"

namespace katana::client {

class Http2Driver final : public ProtocolDriver {
 public:
  explicit Http2Driver(const DriverEnvironment& environment) noexcept;

  std::uint32_t capacity() const noexcept override;
  bool ending() const noexcept override { return unresponsive_ || !machine_.is_usable(); }
  bool idle() const noexcept override { return machine_.stream_count() == 0; }
  void begin(Call& call) noexcept override;
  void cancel_call(Call& call, CancelReason reason) noexcept override;
  void on_content_read(Call& call, std::size_t bytes) noexcept override;
  void on_upload(Call& call) noexcept override;
  void announce_close() noexcept override { machine_.close(outbox()); }
  std::size_t on_bytes(Bytes input) noexcept override;
  void on_input_end() noexcept override;
  void on_writable() noexcept override;
  void on_deadline() noexcept override;
  void take_unsent_calls(CallList& calls) noexcept override;
  void on_lost(const Error& error) noexcept override;

 private:
  // A call, and its stream.
  struct Exchange : http2::ClientStream {
    bool sends() const noexcept { return !unsent.empty() || end_due; }

    Call* call = nullptr;
    Bytes unsent;  // content of the request, or the piece of its upload
    Upload* upload = nullptr;
    bool end_due = false;    // the upload has ended, and the stream has not
    std::size_t unread = 0;  // content of the reply that is not yet returned to the window
    Instant begun{};
  };

  Outbox& outbox() noexcept { return connection_.outbox(); }
  Instant now() const noexcept;
  Exchange& take_exchange(Call& call);
  Exchange* find(const Call& call) noexcept;
  static Exchange& exchange_of(http2::ClientStream& stream) noexcept {
    return static_cast<Exchange&>(stream);
  }

  std::size_t pull(Bytes input) noexcept;
  void take(const http2::ClientStep& step) noexcept;
  void take_head(Exchange& exchange, bool last) noexcept;
  bool take_content(Exchange& exchange) noexcept;
  void lose(Exchange& exchange, const http2::ClientStep& step) noexcept;
  void release(Exchange& exchange) noexcept;
  void fail_all(const Error& error, bool lost) noexcept;
  bool is_full() noexcept;
  void begin_uploads() noexcept;
  void after_piece(Exchange& exchange, std::size_t bytes) noexcept;
  void take_interim(Exchange& exchange) noexcept;
  void upload() noexcept;
  Exchange* next_upload() noexcept;
  void after_call() noexcept;
  Error why_not(http2::Begun begun) const;
  Error why_lost(const http2::ClientStep& step) const;
  Error why_closed() const;

  http2::ClientMachine machine_;
  std::deque<Exchange> exchanges_;
  std::vector<Exchange*> free_;
  std::uint32_t uploads_ = 0;        // exchanges with something unsent
  std::uint32_t unbegun_ = 0;        // uploads that have not been begun
  std::uint32_t uploaded_last_ = 0;  // the stream that had the last turn
  std::uint64_t served_ = 0;         // calls whose replies were complete
  Instant received_at_;              // when the last bytes arrived
  http2::ErrorCode goaway_ = http2::ErrorCode::no_error;
  bool started_ = false;
  bool busy_ = false;           // since on_idle() was last reported
  bool capacity_grew_ = false;  // since on_more_capacity() was last reported
  bool unresponsive_ = false;
  bool was_full_ = false;  // since on_writable()
};

}  // namespace katana::client

// SPDX-License-Identifier: Apache-2.0
