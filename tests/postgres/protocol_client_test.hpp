// ProtocolClient: a session of the machines of wire/postgres over a blocking socket. ProtocolLog:
// results as text, which libpq's results are compared with.
//
// Owns       its socket, and TLS on it.
// Thread     one.
// Fails      by std::runtime_error.
// Invariant  it keeps no more unconsumed bytes than the limits allow and a read brings.
#pragma once

#include <libpq-fe.h>
#include <openssl/ssl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "katana/base/text/bytes.hpp"
#include "katana/wire/postgres/machine.hpp"
#include "katana/wire/postgres/startup.hpp"

namespace katana::postgres {

// The results of statements as lines. Notices and notifications stand apart: libpq tells of them
// when it reads them, which may be before a row that came before.
struct ProtocolLog {
  std::string results;
  std::string notices;
  std::vector<std::string> notified;

  bool operator==(const ProtocolLog&) const = default;
};

// A statement for the extended protocol. Nothing: NULL.
struct ProtocolStatement {
  std::string sql;
  std::vector<std::optional<std::string>> values = {};
  Format results = Format::text;
};

class ProtocolClient {
 public:
  struct Where {
    std::string folder = {};  // of a Unix socket; empty: 127.0.0.1
    std::uint16_t port = 0;
  };
  // Changes what the server sent before the client reads it.
  using Meddle = std::string (*)(std::string);

  // Starts a session. `password` answers any request.
  ProtocolClient(const Where& where, const StartupOptions& options, const std::string& password,
                 const Limits& limits = {}, Meddle meddle = nullptr);
  ~ProtocolClient();
  ProtocolClient(const ProtocolClient&) = delete;
  ProtocolClient& operator=(const ProtocolClient&) = delete;

  // The session began; otherwise see problem().
  bool is_ready() const noexcept { return is_ready_; }
  // The report or the refusal that ended the session.
  const std::string& problem() const noexcept { return problem_; }
  bool is_bound() const noexcept { return is_bound_; }
  std::uint32_t version() const noexcept { return version_; }
  const std::vector<std::pair<std::string, std::string>>& settings() const { return settings_; }
  std::uint32_t process() const noexcept { return process_; }
  std::size_t kept_max() const noexcept { return kept_max_; }

  Machine& machine() noexcept { return *machine_; }
  std::string& output() noexcept { return output_.text; }
  struct Sink {
    bool takes(std::size_t) const { return true; }
    void write(Bytes bytes) { text += bytes; }
    std::string text;
  };
  Sink& sink() noexcept { return output_; }
  // Sends all that was written.
  void flush();
  // The next event, whose body is valid until the next call.
  Step next();

  // Each runs to the event `ready`. `copied` is sent when a COPY FROM STDIN asks for it.
  ProtocolLog query(const std::string& sql, const std::string& copied = "");
  ProtocolLog run(const ProtocolStatement& statement);
  // All in one group, and in one send. A statement that the server ignored gives "skipped".
  std::vector<std::string> pipeline(const std::vector<ProtocolStatement>& statements);
  // By portals of so many rows.
  ProtocolLog run_in_parts(const ProtocolStatement& statement, std::uint32_t rows_max);
  // Asks the server to cancel what this session runs, by another connection.
  void cancel(const Where& where) const;

 private:
  static int connect(const Where& where);
  void start(const StartupOptions& options, const std::string& password, const Limits& limits);
  void note(const StartStep& step);
  void encrypt(Startup& startup);
  bool receive();
  void submit(const ProtocolStatement& statement);
  void collect(const Step& step, ProtocolLog& log);
  ProtocolLog collect_to_ready(const std::string& copied);

  struct FreeSsl {
    void operator()(SSL* ssl) const noexcept { SSL_free(ssl); }
    void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
  };
  int socket_ = -1;
  std::unique_ptr<SSL_CTX, FreeSsl> context_;
  std::unique_ptr<SSL, FreeSsl> ssl_;
  Meddle meddle_ = nullptr;
  Sink output_;
  std::string input_;
  std::size_t consumed_ = 0;  // of input_
  std::size_t kept_max_ = 0;
  std::vector<Machine::Pending> pending_ = std::vector<Machine::Pending>(1024);
  std::optional<Machine> machine_;
  bool is_ready_ = false;
  bool is_bound_ = false;
  std::uint32_t version_ = 0;
  std::uint32_t process_ = 0;
  std::string key_;
  std::vector<std::pair<std::string, std::string>> settings_;
  std::string problem_;
};

// The same by libpq.
class LibpqClient {
 public:
  explicit LibpqClient(const std::string& where);
  ~LibpqClient() { PQfinish(pg_); }
  LibpqClient(const LibpqClient&) = delete;
  LibpqClient& operator=(const LibpqClient&) = delete;

  PGconn* pg() const noexcept { return pg_; }
  ProtocolLog query(const std::string& sql, const std::string& copied = "");
  ProtocolLog run(const ProtocolStatement& statement);
  std::vector<std::string> pipeline(const std::vector<ProtocolStatement>& statements);

 private:
  static void on_notice(void* log, const PGresult* notice);
  void send(const ProtocolStatement& statement);
  void collect(const PGresult* result, const std::string& copied, ProtocolLog& log);
  ProtocolLog collect_all(const std::string& copied);

  PGconn* pg_;
  std::string notices_;
};

}  // namespace katana::postgres

// SPDX-License-Identifier: Apache-2.0
