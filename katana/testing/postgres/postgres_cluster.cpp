#include "katana/testing/postgres/postgres_cluster.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

namespace katana::testing {
namespace {

namespace fs = std::filesystem;
namespace postgres = database::postgres;

// A path of a Unix socket has 107 bytes at most, and the server appends "/.s.PGSQL.5432.lock".
constexpr std::size_t parent_bytes_max = 60;
constexpr const char* folder_prefix = "katana-postgres-";
constexpr const char* lock_name = "/lock";  // held while the process lives
constexpr std::uintmax_t memory_bytes_min = std::uintmax_t{1} << 30;
constexpr auto answer_wait = std::chrono::seconds(60);

// The user that runs the server; null: the present user.
const passwd* other_user() {
  if (geteuid() != 0) return nullptr;
  const passwd* const postgres = getpwnam("postgres");
  return postgres != nullptr ? postgres : getpwnam("nobody");
}

// Starts a child that runs `words` as the other user, and dies with the calling thread. Only system
// calls are made between fork() and exec(): other threads may hold any lock.
int start_program(const std::vector<std::string>& words, const std::string& log) {
  const passwd* const user = other_user();
  const uid_t uid = user != nullptr ? user->pw_uid : 0;
  const gid_t gid = user != nullptr ? user->pw_gid : 0;
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int process = fork();
  if (process != 0) return process;
  setpgid(0, 0);  // Ctrl-C ends the tests, whose end ends the server
  if (user != nullptr && (setgid(gid) != 0 || setuid(uid) != 0)) _exit(126);
  prctl(PR_SET_PDEATHSIG, SIGQUIT);  // after the user changed, which clears it
  const int input = ::open("/dev/null", O_RDONLY);
  const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (dup2(input, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0 || chdir("/") != 0) {
    _exit(126);
  }
  execv(arguments[0], arguments.data());
  _exit(127);
}

int wait_for(int process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

bool has_programs(const fs::path& folder) {
  return !folder.empty() && access((folder / "initdb").c_str(), X_OK) == 0 &&
         access((folder / "postgres").c_str(), X_OK) == 0;
}

// The output of a program, without its last line end.
std::string output_of(const char* command) {
  std::FILE* const pipe = ::popen(command, "re");
  if (pipe == nullptr) return {};
  std::string text;
  char piece[256];
  while (const std::size_t got = std::fread(piece, 1, sizeof piece, pipe)) text.append(piece, got);
  ::pclose(pipe);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

// "15" of "/usr/lib/postgresql/15/bin" and of "/usr/pgsql-15/bin"; 0: none.
int version_of(const fs::path& folder) {
  std::string name = folder.parent_path().filename().string();
  constexpr std::string_view prefix = "pgsql-";
  if (name.starts_with(prefix)) name.erase(0, prefix.size());
  int version = 0;
  std::from_chars(name.data(), name.data() + name.size(), version);
  return version;
}

fs::path newest_package() {
  fs::path newest;
  const auto consider = [&](const fs::path& folder) {
    if (!has_programs(folder)) return;
    if (newest.empty() || version_of(folder) > version_of(newest)) newest = folder;
  };
  std::error_code error;
  for (const auto& each : fs::directory_iterator("/usr/lib/postgresql", error)) {
    consider(each.path() / "bin");
  }
  for (const auto& each : fs::directory_iterator("/usr", error)) {
    if (each.path().filename().string().starts_with("pgsql-")) consider(each.path() / "bin");
  }
  return newest;
}

fs::path folder_in_path() {
  const char* const variable = std::getenv("PATH");
  for (std::string_view rest = variable != nullptr ? variable : ""; !rest.empty();) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const fs::path folder = rest.substr(0, end);
    if (has_programs(folder)) return folder;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {};
}

// In memory, if there is enough: copying a database there takes a third of the time. Otherwise the
// folder for temporary files, unless its path is too long for a socket.
fs::path parent_folder() {
  std::error_code error;
  const char* const memory = "/dev/shm";
  const fs::space_info space = fs::space(memory, error);
  if (!error && space.available >= memory_bytes_min && access(memory, W_OK) == 0) return memory;
  const fs::path temporary = fs::temp_directory_path(error);
  return error || temporary.string().size() > parent_bytes_max ? fs::path("/tmp") : temporary;
}

// Removes folders of killed processes: their locks are free.
void remove_left_over(const fs::path& parent) {
  std::error_code error;
  for (const auto& each : fs::directory_iterator(parent, error)) {
    if (!each.path().filename().string().starts_with(folder_prefix)) continue;
    const int lock = ::open((each.path().string() + lock_name).c_str(), O_RDWR | O_CLOEXEC);
    if (lock < 0) continue;  // of another user, or just being made
    if (flock(lock, LOCK_EX | LOCK_NB) == 0) fs::remove_all(each.path(), error);
    ::close(lock);
  }
}

std::string percent_encoded(std::string_view path) {
  std::string text;
  for (const char c : path) {
    if (c == '/') {
      text += "%2F";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

Result<std::string> find_postgres_programs() {
  // pg_config of a package for clients alone names a folder that does not exist.
  const fs::path named = output_of("pg_config --bindir 2>/dev/null");
  if (has_programs(named)) return named.string();
  for (const fs::path& folder : {folder_in_path(), newest_package()}) {
    if (!folder.empty()) return folder.string();
  }
  return fail(Code::not_found,
              "PostgreSQL's server is not installed: initdb and postgres are neither where "
              "pg_config says, nor in the PATH, nor in /usr/lib/postgresql/*/bin; install the "
              "package postgresql");
}

Result<PostgresCluster*> PostgresCluster::of_process() {
  static const Result<std::unique_ptr<PostgresCluster>> cluster =
      []() -> Result<std::unique_ptr<PostgresCluster>> {
    auto programs = find_postgres_programs();
    if (!programs) return std::unexpected(programs.error());
    return start(*programs);
  }();
  if (!cluster) return std::unexpected(cluster.error());
  return cluster->get();
}

Result<std::unique_ptr<PostgresCluster>> PostgresCluster::start(const std::string& programs) {
  std::unique_ptr<PostgresCluster> cluster(new PostgresCluster(programs));
  for (const auto step : {&PostgresCluster::make_folder, &PostgresCluster::make_data,
                          &PostgresCluster::start_server}) {
    if (auto done = (*cluster.*step)(); !done) {
      return std::unexpected(done.error().within("a PostgreSQL server for tests"));
    }
  }
  return cluster;
}

PostgresCluster::~PostgresCluster() {
  session_.reset();
  if (owner_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    owner_.join();
  }
  std::error_code ignored;  // leftovers are in the folder for temporary files
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
  if (lock_ >= 0) ::close(lock_);
}

Result<void> PostgresCluster::make_folder() {
  std::string folder = parent_folder().string();
  remove_left_over(folder);
  folder += fmt::format("/{}XXXXXX", folder_prefix);
  if (mkdtemp(folder.data()) == nullptr) {
    return fail(Code::unavailable,
                fmt::format("the folder {} cannot be made: {}", folder, std::strerror(errno)));
  }
  folder_ = folder;
  lock_ = ::open((folder_ + lock_name).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock_ < 0 || flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    return fail(Code::unavailable,
                fmt::format("no lock can be had in {}: {}", folder_, std::strerror(errno)));
  }
  const passwd* const user = other_user();
  if (geteuid() == 0 && user == nullptr) {
    return fail(Code::unavailable,
                "PostgreSQL refuses to run as root, and there is neither a user postgres nor a "
                "user nobody");
  }
  if (user != nullptr && chown(folder_.c_str(), user->pw_uid, user->pw_gid) != 0) {
    return fail(Code::unavailable, fmt::format("{} cannot be given to the user {}: {}", folder_,
                                               user->pw_name, std::strerror(errno)));
  }
  return {};
}

Result<void> PostgresCluster::make_data() {
  const int made =
      start_program({programs_ + "/initdb", "-D", folder_ + "/data", "-U", "katana", "-A", "trust",
                     "-E", "UTF8", "--no-locale", "-N", "--no-instructions"},
                    folder_ + "/log");
  if (made > 0 && wait_for(made) == 0) return {};
  return fail(Code::unavailable,
              fmt::format("{}/initdb failed{}: {}", programs_,
                          geteuid() == 0 ? " (it runs as another user than root)" : "", log()));
}

void PostgresCluster::own_server() {
  std::vector<std::string> words = {
      programs_ + "/postgres", "-D", folder_ + "/data", "-k", folder_, "-h", ""};
  for (const char* const setting :
       {"fsync=off", "full_page_writes=off", "synchronous_commit=off", "shared_buffers=32MB",
        "max_connections=100", "autovacuum=off", "wal_level=minimal", "max_wal_senders=0",
        "jit=off", "checkpoint_timeout=1d", "logging_collector=off"}) {
    words.emplace_back("-c");
    words.emplace_back(setting);
  }
  const int process = start_program(words, folder_ + "/log");
  std::unique_lock lock(mutex_);
  process_ = process;
  changed_.notify_all();
  changed_.wait(lock, [this] { return ends_; });
  if (*process_ <= 0) return;
  ::kill(*process_, SIGQUIT);  // at once: its data is not kept
  wait_for(*process_);
}

bool PostgresCluster::has_ended() {
  const std::lock_guard lock(mutex_);
  if (*process_ > 0 && waitpid(*process_, nullptr, WNOHANG) != *process_) return false;
  process_ = -1;
  return true;
}

Result<void> PostgresCluster::start_server() {
  owner_ = std::thread([this] { own_server(); });
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return process_.has_value(); });
  }
  const auto end = std::chrono::steady_clock::now() + answer_wait;
  std::string why;
  while (std::chrono::steady_clock::now() < end) {
    auto session = postgres::BlockingSession::connect(options("postgres"), {});
    if (session) {
      session_.emplace(*std::move(session));
      auto number = run("SHOW server_version_num");
      if (!number) return std::unexpected(number.error());
      version_ = std::atoi(number->c_str()) / 10'000;
      return {};
    }
    why = session.error().describe();
    if (has_ended()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return fail(Code::unavailable, fmt::format("it does not answer: {}; its log: {}", why, log()));
}

std::string PostgresCluster::log() const {
  std::ifstream file(folder_ + "/log");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

postgres::Options PostgresCluster::options(const std::string& database) const {
  postgres::Options options;
  options.hosts = {{folder_, 5432}};
  options.database = database;
  options.user = "katana";
  return options;
}

std::string PostgresCluster::url(const std::string& database) const {
  return fmt::format("postgresql://katana@{}/{}", percent_encoded(folder_), database);
}

Result<std::string> PostgresCluster::run(const std::string& statement) {
  const std::lock_guard lock(session_mutex_);
  const auto rows = session_->ask(statement);
  if (!rows) return std::unexpected(rows.error());
  return rows->empty() || rows->front().empty() ? std::string() : rows->front().front();
}

}  // namespace katana::testing

// SPDX-License-Identifier: Apache-2.0
