#include "katana_tool/sql/postgres_server.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <thread>
#include <vector>

#include "katana/stores/database/postgres/blocking_session.hpp"
#include "katana_tool/files.hpp"

namespace katana::tool::sql {
namespace {

namespace fs = std::filesystem;

constexpr auto start_max = std::chrono::seconds(60);
constexpr auto poll_interval = std::chrono::milliseconds(20);

// Where initdb and postgres are: the newest of Debian's folders, or on the PATH.
fs::path find_programs() {
  fs::path found;
  int newest = 0;
  std::error_code ignored;
  for (const auto& each : fs::directory_iterator("/usr/lib/postgresql", ignored)) {
    const int version = std::atoi(each.path().filename().c_str());
    if (version > newest && fs::exists(each.path() / "bin/initdb", ignored)) {
      newest = version;
      found = each.path() / "bin";
    }
  }
  const char* const path = std::getenv("PATH");
  std::string_view folders = path != nullptr ? path : "";
  while (found.empty() && !folders.empty()) {
    const std::size_t end = folders.find(':');
    const fs::path folder = folders.substr(0, end);
    if (fs::exists(folder / "initdb", ignored)) found = folder;
    folders.remove_prefix(end == folders.npos ? folders.size() : end + 1);
  }
  return found;
}

// PostgreSQL refuses to run as root.
const passwd* other_user() { return geteuid() == 0 ? getpwnam("nobody") : nullptr; }

// With the log as its output; it ends when this process does.
int start_process(const std::vector<std::string>& words, const std::string& log) {
  const passwd* const user = other_user();
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int process = fork();
  if (process != 0) return process;
  setpgid(0, 0);  // an interrupt of the terminal then lets it end in order
  if (user != nullptr && (setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0)) _exit(126);
  prctl(PR_SET_PDEATHSIG, SIGQUIT);  // after the user changed, which clears it
  const int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int output = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
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

std::unexpected<Error> failed(const std::string& what, const std::string& folder) {
  const auto log = read_file(folder + "/log");
  return fail(Code::unavailable, fmt::format("{}: {}", what, log ? *log : "it wrote nothing"));
}

}  // namespace

Result<std::unique_ptr<PostgresServer>> PostgresServer::start() {
  const fs::path programs = find_programs();
  if (programs.empty()) {
    return fail(
        Code::not_found,
        "there is no PostgreSQL to start (initdb is neither in /usr/lib/postgresql/*/bin nor "
        "on the PATH): install it (apt-get install postgresql), name a server by --database "
        "URL, or commit sql.lock (katana sql check --update), which needs none");
  }
  std::string folder = fs::temp_directory_path() / "katana-sql-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) {
    return fail(Code::unavailable, fmt::format("cannot make the temporary folder '{}': {}", folder,
                                               std::generic_category().message(errno)));
  }
  std::unique_ptr<PostgresServer> made(new PostgresServer(folder));
  const passwd* const user = other_user();
  if (user != nullptr && chown(folder.c_str(), user->pw_uid, user->pw_gid) != 0) {
    return fail(Code::unavailable, "cannot give the temporary folder to 'nobody'");
  }
  const int initdb =
      start_process({programs / "initdb", "-D", folder + "/data", "-U", "katana", "-A", "trust",
                     "-E", "UTF8", "--no-locale", "-N", "--no-instructions"},
                    folder + "/log");
  if (initdb < 0 || wait_for(initdb) != 0) return failed("initdb failed", folder);
  made->process_ = start_process(
      {programs / "postgres", "-D", folder + "/data", "-k", folder, "-h", "", "-p", "5432", "-c",
       "fsync=off", "-c", "autovacuum=off", "-c", "shared_buffers=16MB", "-c", "max_connections=5"},
      folder + "/log");
  if (made->process_ < 0) return failed("cannot start postgres", folder);
  const auto give_up_at = std::chrono::steady_clock::now() + start_max;
  for (;;) {
    const auto session = database::postgres::BlockingSession::connect(made->options(), {});
    if (session) return made;
    if (session.error().code() != Code::unavailable) return std::unexpected(session.error());
    int status = 0;
    if (waitpid(made->process_, &status, WNOHANG) != 0) {
      made->process_ = 0;
      return failed("postgres ended", folder);
    }
    if (std::chrono::steady_clock::now() > give_up_at) return failed("postgres is slow", folder);
    std::this_thread::sleep_for(poll_interval);
  }
}

PostgresServer::~PostgresServer() {
  if (process_ > 0) {
    kill(process_, SIGQUIT);  // nothing of it is kept
    wait_for(process_);
  }
  std::error_code ignored;  // remains are in the folder for temporary files
  fs::remove_all(folder_, ignored);
}

database::postgres::Options PostgresServer::options() const {
  database::postgres::Options made;
  made.hosts = {{.name = folder_}};
  made.user = "katana";
  made.database = "postgres";
  return made;
}

}  // namespace katana::tool::sql

// SPDX-License-Identifier: Apache-2.0
