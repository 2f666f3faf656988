#include "katana/stores/database/postgres/fake_server_test.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <utility>

namespace katana::database::postgres {
namespace {

std::string number_of(std::uint64_t value, int bytes) {
  std::string text;
  for (int index = bytes - 1; index >= 0; --index) {
    text += static_cast<char>(value >> (8 * index) & 0xff);
  }
  return text;
}
std::string zero_ended(Bytes text) { return std::string(text) + '\0'; }

std::uint64_t read_number(Bytes text) {
  std::uint64_t value = 0;
  for (const char octet : text) value = value << 8 | static_cast<unsigned char>(octet);
  return value;
}

// Takes fields off the front of a message; a missing field is empty.
struct Reader {
  Bytes rest;
  std::uint64_t number(std::size_t bytes) { return read_number(take(bytes)); }
  Bytes take(std::size_t bytes) {
    const Bytes taken = rest.substr(0, bytes);
    rest.remove_prefix(taken.size());
    return taken;
  }
  Bytes text() {
    const Bytes taken = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(rest.size(), taken.size() + 1));
    return taken;
  }
};

struct FakeColumn {
  std::string name;
  std::uint32_t type;
  std::string octets;
};

constexpr std::uint32_t composite_type = 16'400;
const std::string composite_fields = R"([["street",25],["zip",23]])";

std::string sized(const std::string& octets) { return number_of(octets.size(), 4) + octets; }

// The row of "SELECT wide"; hostile_server_fixture_test.hpp has the same values.
std::vector<FakeColumn> wide_row() {
  const std::string address =
      number_of(2, 4) + number_of(25, 4) + sized("a b") + number_of(23, 4) + sized(number_of(7, 4));
  return {
      {"id", 20, number_of(123'456'789'012, 8)},
      {"name", 25, "Ada \xc3\xbc"},
      {"flag", 16, std::string(1, '\1')},
      {"price", 1700,
       number_of(2, 2) + number_of(0, 4) + number_of(2, 2) + number_of(12, 2) + number_of(3000, 2)},
      {"at", 1184, number_of(1, 8)},
      {"tags", 1009,
       number_of(1, 4) + number_of(1, 4) + number_of(25, 4) + number_of(2, 4) + number_of(1, 4) +
           sized("x") + number_of(UINT64_MAX, 4)},
      {"home", composite_type, address}};
}

// The row that a statement gives.
std::vector<FakeColumn> row_of(Bytes sql, std::optional<std::int64_t> parameter) {
  if (sql == "SELECT wide") return wide_row();
  if (sql.starts_with("SELECT t.typname")) {
    return {{"typname", 25, "address"},
            {"case", 25, "c"},
            {"of", 25, "0"},
            {"fields", 25, composite_fields}};
  }
  const bool selects = sql.starts_with("SELECT");
  const std::uint64_t value = selects
                                  ? std::strtoull(std::string(sql.substr(7)).c_str(), nullptr, 10)
                                  : std::uint64_t(parameter.value_or(0));
  return {{"n", 23, number_of(value, 4)}};
}

}  // namespace

std::string wire_message(char type, const std::string& payload) {
  return type + number_of(payload.size() + 4, 4) + payload;
}

class FakeServer::Session {
 public:
  Session(FakeServer& server, int socket, Plan plan)
      : server_(server), socket_(socket), plan_(std::move(plan)) {}
  ~Session() { ::close(socket_); }

  int socket() const noexcept { return socket_; }
  bool is_read() const noexcept { return is_read_; }
  // False: it is over.
  bool receive();

 private:
  bool take_start();
  bool take_message(char type, Reader message);
  void describe(Bytes sql, bool parameters);
  void bind(Reader message);
  void execute();
  void sync();
  void commit(std::vector<std::int64_t>& ids);
  void say(char type, const std::string& payload);
  bool flush();
  bool send(Bytes piece);
  bool is_value(std::size_t offset) const {
    return std::ranges::any_of(
        values_, [&](const auto& each) { return offset >= each.first && offset < each.second; });
  }

  static bool gives_row(Bytes sql) {
    return sql.starts_with("SELECT") || sql.find("RETURNING") != Bytes::npos;
  }

  FakeServer& server_;
  const int socket_;
  const Plan plan_;
  std::string received_;
  std::string answer_;
  bool started_ = false;
  bool silent_ = false;
  bool is_read_ = true;
  char state_ = 'I';
  std::map<std::string, std::string> statements_;
  std::string bound_;
  std::optional<std::int64_t> parameter_;
  std::vector<std::int64_t> pending_;  // of the implicit transaction
  std::vector<std::int64_t> within_;   // of the explicit one
  std::size_t bytes_ = 0;
  int messages_ = 0;
  std::vector<std::pair<std::size_t, std::size_t>> values_;  // where they begin and end
};

bool FakeServer::Session::receive() {
  std::array<char, 4096> piece;
  const ssize_t count = ::recv(socket_, piece.data(), piece.size(), MSG_DONTWAIT);
  if (count <= 0) return count < 0 && errno == EAGAIN;
  received_.append(piece.data(), static_cast<std::size_t>(count));
  while (true) {
    const std::size_t head = started_ ? 5 : 4;
    if (received_.size() < head) break;
    const std::size_t size = read_number(Bytes(received_).substr(head - 4, 4)) + (started_ ? 1 : 0);
    if (received_.size() < size) break;
    const std::string message = received_.substr(0, size);
    received_.erase(0, size);
    const bool goes_on = started_ ? take_message(message[0], {Bytes(message).substr(5)})
                                  : (received_.insert(0, message), take_start());
    if (!goes_on) return false;
  }
  return flush();
}

bool FakeServer::Session::take_start() {
  const std::size_t size = read_number(Bytes(received_).substr(0, 4));
  const std::uint64_t code = read_number(Bytes(received_).substr(4, 4));
  received_.erase(0, size);
  if (code == 80877102) return false;  // a cancel request
  if (code != 196608) return send("N");
  started_ = true;
  say('R', number_of(0, 4));
  for (const auto& [name, value] :
       {std::pair("server_version", "15.0"), std::pair("client_encoding", "UTF8"),
        std::pair("in_hot_standby", "off"), std::pair("standard_conforming_strings", "on")}) {
    say('S', zero_ended(name) + zero_ended(value));
  }
  say('K', number_of(1, 4) + number_of(2, 4));
  say('Z', "I");
  return true;
}

bool FakeServer::Session::take_message(char type, Reader message) {
  switch (type) {
    case 'P': {
      const std::string name(message.text());
      statements_[name] = std::string(message.text());
      say('1', "");
      return true;
    }
    case 'B': bind(message); return true;
    case 'D':
      if (message.number(1) == 'S') {
        describe(statements_[std::string(message.text())], true);
      } else {
        describe(bound_, false);
      }
      return true;
    case 'E': execute(); return true;
    case 'S': sync(); return true;
    case 'H': return true;
    default: return false;  // X, or what it does not know
  }
}

void FakeServer::Session::describe(Bytes sql, bool parameters) {
  if (parameters) {
    const bool takes = sql.find("$1") != Bytes::npos;
    say('t', number_of(takes ? 1 : 0, 2) + (takes ? number_of(20, 4) : ""));
  }
  if (!gives_row(sql)) return say('n', "");
  const std::vector<FakeColumn> row = row_of(sql, 0);
  std::string columns = number_of(row.size(), 2);
  for (const FakeColumn& each : row) {
    columns += zero_ended(each.name) + number_of(0, 4) + number_of(0, 2) + number_of(each.type, 4) +
               number_of(4, 2) + number_of(UINT64_MAX, 4) + number_of(1, 2);
  }
  say('T', columns);
}

void FakeServer::Session::bind(Reader message) {
  (void)message.text();
  bound_ = statements_[std::string(message.text())];
  bool binary = false;
  for (std::uint64_t formats = message.number(2); formats > 0; --formats) {
    binary = message.number(2) == 1;
  }
  parameter_.reset();
  if (message.number(2) == 1) {
    const Bytes value = message.take(message.number(4));
    std::int64_t id = 0;
    (void)std::from_chars(value.data(), value.data() + value.size(), id);
    parameter_ = binary ? static_cast<std::int64_t>(read_number(value)) : id;
  }
  say('2', "");
}

void FakeServer::Session::execute() {
  const Bytes sql = bound_;
  if (sql.starts_with("COPY")) {
    is_read_ = false;
    server_.unread_ = socket_;
    return say('G', std::string(3, '\0'));  // text, without columns
  }
  if (gives_row(sql)) {
    const std::vector<FakeColumn> row = row_of(sql, parameter_);
    std::string values = number_of(row.size(), 2);
    for (const FakeColumn& each : row) {
      values += sized(each.octets);
      const std::size_t end = bytes_ + answer_.size() + 5 + values.size();
      values_.emplace_back(end - each.octets.size(), end);
    }
    say('D', values);
  }
  if (sql.starts_with("INSERT")) {
    (state_ == 'T' ? within_ : pending_).push_back(parameter_.value_or(-1));
    return say('C', zero_ended("INSERT 0 1"));
  }
  if (gives_row(sql)) return say('C', zero_ended("SELECT 1"));
  if (sql == "BEGIN") state_ = 'T';
  if (sql == "COMMIT") commit(within_);
  if (sql == "COMMIT" || sql == "ROLLBACK") {
    within_.clear();
    pending_.clear();
    state_ = 'I';
  }
  say('C', zero_ended(sql.substr(0, sql.find(' '))));
}

void FakeServer::Session::sync() {
  commit(pending_);
  say('Z', std::string(1, state_));
}

void FakeServer::Session::commit(std::vector<std::int64_t>& ids) {
  const std::lock_guard lock(server_.mutex_);
  for (const std::int64_t id : ids) ++server_.inserted_[id];
  ids.clear();
}

void FakeServer::Session::say(char type, const std::string& payload) {
  // libpq accepts no notices before the start is answered.
  for (int count = 0; count < plan_.notices && messages_ > 0; ++count) {
    answer_ += wire_message(
        'N', zero_ended("SNOTICE") + zero_ended("C00000") + zero_ended("Mnothing happened") + '\0');
  }
  if (messages_ == plan_.wrong_at) answer_ += plan_.wrong;
  std::string message = wire_message(type, payload);
  if (messages_++ == plan_.lie_at) {
    const auto length =
        static_cast<std::uint32_t>(payload.size() + 4) + static_cast<std::uint32_t>(plan_.lie);
    message.replace(1, 4, number_of(length, 4));
  }
  answer_ += message;
}

bool FakeServer::Session::flush() {
  std::string answer = std::exchange(answer_, {});
  if (answer.empty() || silent_) return true;
  const std::size_t end = bytes_ + answer.size();
  const auto is_here = [&](std::size_t offset) { return offset >= bytes_ && offset < end; };
  const bool flips = is_here(plan_.flip_at);
  if (flips) answer[plan_.flip_at - bytes_] ^= static_cast<char>(plan_.flip);
  bool goes_on = true;
  if (is_here(plan_.cut_at)) {
    answer.resize(plan_.cut_at - bytes_);
    goes_on = false;
  }
  if (is_here(plan_.silent_at)) {
    answer.resize(plan_.silent_at - bytes_);
    silent_ = true;
  }
  bytes_ = end;
  {
    const std::lock_guard lock(server_.mutex_);
    if (flips) server_.value_flipped_ = is_value(plan_.flip_at);
    server_.bytes_sent_ = std::max(server_.bytes_sent_, bytes_);
    server_.messages_sent_ = std::max(server_.messages_sent_, messages_);
  }
  return send(answer) && goes_on;
}

bool FakeServer::Session::send(Bytes piece) {
  const std::size_t step = plan_.single_bytes ? 1 : piece.size();
  for (std::size_t at = 0; at < piece.size();) {
    const Bytes part = piece.substr(at, step);
    const ssize_t count = ::send(socket_, part.data(), part.size(), MSG_NOSIGNAL);
    if (count <= 0) return false;
    at += static_cast<std::size_t>(count);
  }
  return true;
}

FakeServer::FakeServer() {
  std::string folder = "/tmp/katana-fake-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) throw std::runtime_error("no temporary folder");
  folder_ = folder;
  listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = folder_ + "/.s.PGSQL.5432";
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  wake_ = eventfd(0, EFD_CLOEXEC);
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_, 16) != 0 || wake_ < 0) {
    throw std::runtime_error("no socket for the fake server");
  }
  thread_ = std::thread([this] { run(); });
}

FakeServer::~FakeServer() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  (void)eventfd_write(wake_, 1);
  thread_.join();
  ::close(listener_);
  ::close(wake_);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

Options FakeServer::options() const {
  Options options;
  options.hosts = {{folder_}};
  options.user = "app";
  options.database = "fake";
  options.connections_max = 1;
  options.backoff_min = milliseconds(1);
  options.backoff_max = milliseconds(4);
  return options;
}

void FakeServer::plan(Planner planner) {
  const std::lock_guard lock(mutex_);
  planner_ = std::move(planner);
  connections_ = 0;
  bytes_sent_ = 0;
  messages_sent_ = 0;
  value_flipped_ = false;
}

int FakeServer::inserted(std::int64_t id) const {
  const std::lock_guard lock(mutex_);
  const auto found = inserted_.find(id);
  return found == inserted_.end() ? 0 : found->second;
}

std::size_t FakeServer::bytes_sent() const {
  const std::lock_guard lock(mutex_);
  return bytes_sent_;
}

int FakeServer::messages_sent() const {
  const std::lock_guard lock(mutex_);
  return messages_sent_;
}

std::size_t FakeServer::unread_bytes() const {
  int bytes = 0;
  if (unread_ >= 0 && ::ioctl(unread_, FIONREAD, &bytes) != 0) return 0;
  return static_cast<std::size_t>(bytes);
}

std::size_t FakeServer::read_unread(std::size_t bytes_max) {
  std::string piece(bytes_max, '\0');
  const ssize_t count = unread_ < 0 ? 0 : ::recv(unread_, piece.data(), piece.size(), MSG_DONTWAIT);
  return count < 0 ? 0 : static_cast<std::size_t>(count);
}

bool FakeServer::value_flipped() const {
  const std::lock_guard lock(mutex_);
  return value_flipped_;
}

void FakeServer::run() {
  while (true) {
    std::vector<pollfd> polled{{wake_, POLLIN, 0}, {listener_, POLLIN, 0}};
    for (const auto& session : sessions_) {
      polled.push_back({session->is_read() ? session->socket() : -1, POLLIN, 0});
    }
    (void)::poll(polled.data(), polled.size(), -1);
    for (std::size_t index = sessions_.size(); index-- > 0;) {
      if (polled[index + 2].revents == 0 || sessions_[index]->receive()) continue;
      sessions_.erase(sessions_.begin() + static_cast<std::ptrdiff_t>(index));
    }
    const std::lock_guard lock(mutex_);
    if (ends_) return sessions_.clear();
    if (polled[1].revents == 0) continue;
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) continue;
    Plan plan = planner_ ? planner_(connections_++) : Plan();
    sessions_.push_back(std::make_unique<Session>(*this, socket, std::move(plan)));
  }
}

}  // namespace katana::database::postgres

// SPDX-License-Identifier: Apache-2.0
