#include "tests/postgres/protocol_client_test.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

#include "katana/base/values/secrets.hpp"

namespace katana::postgres {
namespace {

// Controls as hexadecimal digits: a failed comparison stays readable.
std::string shown(Bytes bytes) {
  std::string made;
  for (const char octet : bytes) {
    const auto code = static_cast<unsigned char>(octet);
    if (code >= ' ' && code < 0x7f) {
      made += octet;
    } else {
      made += fmt::format("\\x{:02x}", code);
    }
  }
  return made;
}

std::string shown(const Report& report) {
  return fmt::format(
      "{}", fmt::join(std::array{report.severity, report.sqlstate, report.message, report.detail,
                                 report.hint, report.position, report.internal_position,
                                 report.internal_query, report.where, report.schema, report.table,
                                 report.column, report.type, report.constraint, report.file,
                                 report.line, report.routine},
                      "|"));
}

Report report_in(const PGresult* result) {
  const auto field = [result](int code) {
    const char* const text = PQresultErrorField(result, code);
    return text == nullptr ? Bytes() : Bytes(text);
  };
  return {.severity = field(PG_DIAG_SEVERITY_NONLOCALIZED),
          .sqlstate = field(PG_DIAG_SQLSTATE),
          .message = field(PG_DIAG_MESSAGE_PRIMARY),
          .detail = field(PG_DIAG_MESSAGE_DETAIL),
          .hint = field(PG_DIAG_MESSAGE_HINT),
          .position = field(PG_DIAG_STATEMENT_POSITION),
          .internal_position = field(PG_DIAG_INTERNAL_POSITION),
          .internal_query = field(PG_DIAG_INTERNAL_QUERY),
          .where = field(PG_DIAG_CONTEXT),
          .schema = field(PG_DIAG_SCHEMA_NAME),
          .table = field(PG_DIAG_TABLE_NAME),
          .column = field(PG_DIAG_COLUMN_NAME),
          .type = field(PG_DIAG_DATATYPE_NAME),
          .constraint = field(PG_DIAG_CONSTRAINT_NAME),
          .file = field(PG_DIAG_SOURCE_FILE),
          .line = field(PG_DIAG_SOURCE_LINE),
          .routine = field(PG_DIAG_SOURCE_FUNCTION)};
}

std::string column_text(const Field& field) {
  return fmt::format(" {}:{}:{}:{}:{}:{}:{}", shown(field.name), field.type, field.table,
                     field.column, field.type_bytes, field.modifier,
                     static_cast<int>(field.format));
}

std::string value_text(const Value& value) {
  return value.is_null ? " NULL" : fmt::format(" [{}]", shown(value.bytes));
}

}  // namespace

// ---- ProtocolClient ----------------------------------------------------------------------------

int ProtocolClient::connect(const Where& where) {
  const bool is_unix = !where.folder.empty();
  const int made = ::socket(is_unix ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un local{};
  local.sun_family = AF_UNIX;
  const std::string path = fmt::format("{}/.s.PGSQL.{}", where.folder, where.port);
  if (path.size() >= sizeof local.sun_path) throw std::runtime_error("a path is too long");
  std::memcpy(local.sun_path, path.data(), path.size());
  sockaddr_in remote{};
  remote.sin_family = AF_INET;
  remote.sin_port = htons(where.port);
  remote.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const auto* const address = is_unix ? reinterpret_cast<const sockaddr*>(&local)
                                      : reinterpret_cast<const sockaddr*>(&remote);
  const socklen_t size = is_unix ? sizeof local : sizeof remote;
  if (made < 0 || ::connect(made, address, size) != 0) {
    throw std::runtime_error("cannot connect to PostgreSQL");
  }
  return made;
}

ProtocolClient::ProtocolClient(const Where& where, const StartupOptions& options,
                               const std::string& password, const Limits& limits, Meddle meddle)
    : socket_(connect(where)), meddle_(meddle) {
  start(options, password, limits);
  machine_.emplace(pending_, limits);
}

ProtocolClient::~ProtocolClient() {
  if (is_ready_ && machine_->terminate(output_) == Submitted::ok) flush();
  ::close(socket_);
}

void ProtocolClient::start(const StartupOptions& options, const std::string& password,
                           const Limits& limits) {
  Startup startup(options, random_octets(scram_nonce_bytes), limits);
  if (startup.begin(output_) != Submitted::ok) throw std::runtime_error("begin");
  for (;;) {
    flush();
    const StartStep step = startup.next(Bytes(input_).substr(consumed_), output_);
    note(step);
    consumed_ += step.consumed;
    if (step.event == StartEvent::ready || step.event == StartEvent::error) break;
    if (step.event == StartEvent::refused) {
      problem_ = text_of(startup.refusal());
      break;
    }
    if (step.event == StartEvent::encrypt) {
      encrypt(startup);
    } else if (step.event == StartEvent::password || step.event == StartEvent::proof) {
      if (startup.answer(password, output_) != Submitted::ok) throw std::runtime_error("answer");
    } else if (step.event == StartEvent::need_bytes && !receive()) {
      problem_ = "the server closed the connection";
      break;
    }
  }
  is_bound_ = startup.is_bound();
  version_ = startup.version();
  is_ready_ = startup.state() == StartState::ready;
}

void ProtocolClient::note(const StartStep& step) {
  switch (step.event) {
    case StartEvent::setting: {
      const Setting setting = setting_of(step.body);
      settings_.emplace_back(setting.name, setting.value);
      return;
    }
    case StartEvent::key:
      process_ = backend_key_of(step.body).process;
      key_ = backend_key_of(step.body).key;
      return;
    case StartEvent::error: problem_ = report_of(step.body).sqlstate; return;
    default: return;
  }
}

// As tls-server-end-point has it: SHA-256, because that is the hash of the test's signatures.
void ProtocolClient::encrypt(Startup& startup) {
  context_.reset(SSL_CTX_new(TLS_client_method()));
  ssl_.reset(SSL_new(context_.get()));
  SSL_set_fd(ssl_.get(), socket_);
  if (SSL_connect(ssl_.get()) != 1) throw std::runtime_error("no TLS");
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  X509* const certificate = SSL_get0_peer_certificate(ssl_.get());
  if (X509_digest(certificate, EVP_sha256(), digest.data(), &size) != 1) {
    throw std::runtime_error("no digest");
  }
  const Bytes end_point(reinterpret_cast<const char*>(digest.data()), size);
  if (startup.encrypted({.server_end_point = end_point}, output_) != Submitted::ok) {
    throw std::runtime_error("encrypted");
  }
}

void ProtocolClient::flush() {
  Bytes rest = output_.text;
  while (!rest.empty()) {
    const auto sent = ssl_ ? SSL_write(ssl_.get(), rest.data(), static_cast<int>(rest.size()))
                           : ::send(socket_, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent <= 0) break;  // the server is gone: the next read tells why
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
  output_.text.clear();
}

bool ProtocolClient::receive() {
  input_.erase(0, consumed_);
  consumed_ = 0;
  std::array<char, 16 * 1024> memory;
  const auto count = ssl_ ? SSL_read(ssl_.get(), memory.data(), static_cast<int>(memory.size()))
                          : ::recv(socket_, memory.data(), memory.size(), 0);
  if (count <= 0) return false;
  const std::string got(memory.data(), static_cast<std::size_t>(count));
  input_ += meddle_ != nullptr ? meddle_(got) : got;
  kept_max_ = std::max(kept_max_, input_.size());
  return true;
}

Step ProtocolClient::next() {
  flush();
  for (;;) {
    const Step step = machine_->next(Bytes(input_).substr(consumed_));
    consumed_ += step.consumed;
    if (step.event == Event::refused) problem_ = text_of(machine_->refusal());
    if (step.event != Event::need_bytes) return step;
    if (!receive()) throw std::runtime_error("the server closed the connection");
  }
}

void ProtocolClient::collect(const Step& step, ProtocolLog& log) {
  switch (step.event) {
    case Event::columns: {
      log.results += "columns";
      Fields fields(step.body);
      for (Field field; fields.next(field);) log.results += column_text(field);
      log.results += "\n";
      return;
    }
    case Event::row: {
      log.results += "row";
      Row row(step.body);
      for (Value value; row.next(value);) log.results += value_text(value);
      log.results += "\n";
      return;
    }
    case Event::complete: log.results += fmt::format("{}\n", tag_of(step.body).text); return;
    case Event::empty: log.results += "empty\n"; return;
    case Event::data: log.results += "data " + shown(step.body) + "\n"; return;
    case Event::error: log.results += "error " + shown(report_of(step.body)) + "\n"; return;
    case Event::notice: log.notices += shown(report_of(step.body)) + "\n"; return;
    case Event::notification: {
      const Notification told = notification_of(step.body);
      log.notified.push_back(fmt::format("{} {} {}", told.process, told.channel, told.payload));
      return;
    }
    case Event::ready:
      log.results += fmt::format("ready {}\n", static_cast<char>(machine_->transaction()));
      return;
    default: return;
  }
}

ProtocolLog ProtocolClient::collect_to_ready(const std::string& copied) {
  ProtocolLog log;
  for (;;) {
    const Step step = next();
    collect(step, log);
    if (step.event == Event::copy_in) {
      const Submitted put = machine_->copy_data(copied, output_);
      if (put != Submitted::ok || machine_->end_copy(output_) != Submitted::ok) {
        throw std::runtime_error("copy");
      }
      if (machine_->needs_sync()) (void)machine_->sync(output_);
    }
    if (step.event == Event::ready || step.event == Event::refused || step.is_fatal) return log;
  }
}

ProtocolLog ProtocolClient::query(const std::string& sql, const std::string& copied) {
  if (machine_->query(sql, output_) != Submitted::ok) throw std::runtime_error("query");
  return collect_to_ready(copied);
}

void ProtocolClient::submit(const ProtocolStatement& statement) {
  std::vector<Value> values;
  for (const auto& value : statement.values) {
    values.push_back(value ? Value{*value} : Value{.is_null = true});
  }
  const std::array<Format, 1> results = {statement.results};
  if (machine_->parse({.sql = statement.sql}, output_) != Submitted::ok ||
      machine_->bind({.values = values, .result_formats = results}, output_) != Submitted::ok ||
      machine_->describe(Kind::portal, "", output_) != Submitted::ok ||
      machine_->execute({}, output_) != Submitted::ok) {
    throw std::runtime_error("submit");
  }
}

ProtocolLog ProtocolClient::run(const ProtocolStatement& statement) {
  submit(statement);
  (void)machine_->sync(output_);
  return collect_to_ready("");
}

std::vector<std::string> ProtocolClient::pipeline(
    const std::vector<ProtocolStatement>& statements) {
  const std::uint64_t first = machine_->next_request();
  for (const ProtocolStatement& statement : statements) submit(statement);
  (void)machine_->sync(output_);
  std::vector<std::string> results(statements.size(), "skipped\n");
  for (;;) {
    const Step step = next();
    if (step.event == Event::ready || step.event == Event::refused) return results;
    ProtocolLog log;
    collect(step, log);
    if (log.results.empty()) continue;
    std::string& result = results.at((step.request - first) / 4);  // four requests of each
    result = (result == "skipped\n" ? "" : result) + log.results;
  }
}

ProtocolLog ProtocolClient::run_in_parts(const ProtocolStatement& statement,
                                         std::uint32_t rows_max) {
  ProtocolLog log;
  if (machine_->parse({.sql = statement.sql}, output_) != Submitted::ok ||
      machine_->bind({}, output_) != Submitted::ok ||
      machine_->describe(Kind::portal, "", output_) != Submitted::ok ||
      machine_->execute({.rows_max = rows_max}, output_) != Submitted::ok ||
      machine_->flush(output_) != Submitted::ok) {
    throw std::runtime_error("submit");
  }
  for (;;) {
    const Step step = next();
    collect(step, log);
    if (step.event == Event::suspended) {
      (void)machine_->execute({.rows_max = rows_max}, output_);
      (void)machine_->flush(output_);
    }
    if (step.event == Event::complete || step.event == Event::error) {
      (void)machine_->sync(output_);
    }
    if (step.event == Event::ready || step.event == Event::refused) return log;
  }
}

void ProtocolClient::cancel(const Where& where) const {
  Sink message;
  if (write_cancel({process_, key_}, message) != Submitted::ok) throw std::runtime_error("key");
  const int other = connect(where);
  char byte = 0;
  const bool sent = ::send(other, message.text.data(), message.text.size(), MSG_NOSIGNAL) > 0;
  // The server closes it once it has passed the request on.
  const bool closed = ::recv(other, &byte, 1, 0) == 0;
  ::close(other);
  if (!sent || !closed) throw std::runtime_error("the cancel request was not taken");
}

// ---- LibpqClient -------------------------------------------------------------------------------

LibpqClient::LibpqClient(const std::string& where) : pg_(PQconnectdb(where.c_str())) {
  if (PQstatus(pg_) != CONNECTION_OK) throw std::runtime_error(PQerrorMessage(pg_));
  PQsetNoticeReceiver(pg_, &on_notice, &notices_);
}

void LibpqClient::on_notice(void* log, const PGresult* notice) {
  *static_cast<std::string*>(log) += shown(report_in(notice)) + "\n";
}

void LibpqClient::collect(const PGresult* result, const std::string& copied, ProtocolLog& log) {
  switch (PQresultStatus(result)) {
    case PGRES_TUPLES_OK:
      log.results += "columns";
      for (int at = 0; at < PQnfields(result); ++at) {
        log.results += column_text({.name = PQfname(result, at),
                                    .table = PQftable(result, at),
                                    .column = static_cast<std::uint16_t>(PQftablecol(result, at)),
                                    .type = PQftype(result, at),
                                    .type_bytes = static_cast<std::int16_t>(PQfsize(result, at)),
                                    .modifier = PQfmod(result, at),
                                    .format = static_cast<Format>(PQfformat(result, at))});
      }
      log.results += "\n";
      for (int row = 0; row < PQntuples(result); ++row) {
        log.results += "row";
        for (int at = 0; at < PQnfields(result); ++at) {
          const auto size = static_cast<std::size_t>(PQgetlength(result, row, at));
          log.results += value_text({.bytes = {PQgetvalue(result, row, at), size},
                                     .is_null = PQgetisnull(result, row, at) == 1});
        }
        log.results += "\n";
      }
      [[fallthrough]];
    case PGRES_COMMAND_OK:
      log.results += fmt::format("{}\n", PQcmdStatus(const_cast<PGresult*>(result)));
      return;
    case PGRES_EMPTY_QUERY: log.results += "empty\n"; return;
    case PGRES_PIPELINE_ABORTED: log.results += "skipped\n"; return;
    case PGRES_FATAL_ERROR: log.results += "error " + shown(report_in(result)) + "\n"; return;
    case PGRES_COPY_OUT: {
      char* data = nullptr;
      for (int size = 0; (size = PQgetCopyData(pg_, &data, 0)) > 0; PQfreemem(data)) {
        log.results += "data " + shown({data, static_cast<std::size_t>(size)}) + "\n";
      }
      return;
    }
    case PGRES_COPY_IN:
      if (PQputCopyData(pg_, copied.data(), static_cast<int>(copied.size())) != 1 ||
          PQputCopyEnd(pg_, nullptr) != 1) {
        throw std::runtime_error("copy");
      }
      return;
    default: throw std::runtime_error("an unexpected result of libpq");
  }
}

ProtocolLog LibpqClient::collect_all(const std::string& copied) {
  ProtocolLog log;
  while (PGresult* const result = PQgetResult(pg_)) {
    collect(result, copied, log);
    PQclear(result);
  }
  constexpr std::array<char, 4> states = {'I', '?', 'T', 'E'};  // by PGTransactionStatusType
  log.results += fmt::format("ready {}\n", states.at(PQtransactionStatus(pg_)));
  log.notices = std::exchange(notices_, "");
  while (PGnotify* const told = PQnotifies(pg_)) {
    log.notified.push_back(fmt::format("{} {} {}", static_cast<std::uint32_t>(told->be_pid),
                                       told->relname, told->extra));
    PQfreemem(told);
  }
  return log;
}

ProtocolLog LibpqClient::query(const std::string& sql, const std::string& copied) {
  if (PQsendQuery(pg_, sql.c_str()) != 1) throw std::runtime_error(PQerrorMessage(pg_));
  return collect_all(copied);
}

void LibpqClient::send(const ProtocolStatement& statement) {
  std::vector<const char*> values;
  for (const auto& value : statement.values) values.push_back(value ? value->c_str() : nullptr);
  const int sent = PQsendQueryParams(pg_, statement.sql.c_str(), static_cast<int>(values.size()),
                                     nullptr, values.data(), nullptr, nullptr,
                                     statement.results == Format::binary ? 1 : 0);
  if (sent != 1) throw std::runtime_error(PQerrorMessage(pg_));
}

ProtocolLog LibpqClient::run(const ProtocolStatement& statement) {
  send(statement);
  return collect_all("");
}

std::vector<std::string> LibpqClient::pipeline(const std::vector<ProtocolStatement>& statements) {
  if (PQenterPipelineMode(pg_) != 1) throw std::runtime_error("no pipeline");
  for (const ProtocolStatement& statement : statements) send(statement);
  if (PQpipelineSync(pg_) != 1) throw std::runtime_error(PQerrorMessage(pg_));
  std::vector<std::string> results;
  for (std::size_t at = 0; at < statements.size(); ++at) {
    ProtocolLog log;
    while (PGresult* const result = PQgetResult(pg_)) {
      collect(result, "", log);
      PQclear(result);
    }
    results.push_back(log.results);
  }
  PGresult* const end = PQgetResult(pg_);
  const bool has_ended = PQresultStatus(end) == PGRES_PIPELINE_SYNC;
  PQclear(end);
  if (!has_ended || PQexitPipelineMode(pg_) != 1) throw std::runtime_error("the pipeline goes on");
  notices_.clear();
  return results;
}

}  // namespace katana::postgres

// SPDX-License-Identifier: Apache-2.0
