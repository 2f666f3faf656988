// ProcessRules: gives up the rights that the settings of a program do not need. These are root, its
// umask, core dumps, files, TCP ports and system calls.
//
//   enter()   once the configuration is read, before the program has a thread or an open file
//   finish_start()  once it has started: gives up the rights that only a start needs
//
// Owns       the identity, and the lines of its report.
// Thread     one: the one that starts the program, while there is no other.
// Allocates  yes.
// Fails      with the setting, its value and the remedy. A rule that this kernel cannot enforce
//            is a warning, not a failure.
// Invariant  with process.sandbox off and process.user empty the process keeps its rights.
#pragma once

#include <string>
#include <vector>

#include "katana/app/part.hpp"
#include "katana/app/sandbox/landlock.hpp"
#include "katana/app/sandbox/privileges.hpp"
#include "katana/app/sandbox/system_calls.hpp"
#include "katana/app/settings.hpp"
#include "katana/base/system/result.hpp"

namespace katana::app {

// Needs of the program that the settings do not show.
struct ProcessNeeds {
  std::string config_file = {};          // is read again at SIGHUP; empty: none
  std::vector<std::string> reads = {};   // of ApplicationOptions
  std::vector<std::string> writes = {};  // likewise
  bool database = false;                 // the program has drivers
  bool connections = false;              // it has a client
  PartNeeds parts = {};                  // of Part::add_needs(), from all parts together
};

// Absolute paths, each once. A file is named by its folder, because it may be replaced.
sandbox::LandlockRules file_rules_of(const ApplicationSettings& settings,
                                     const ProcessNeeds& needs);
sandbox::CallRules call_rules_of(const ApplicationSettings& settings, const ProcessNeeds& needs);
// The folder of crash reports: crash.folder, or that of a file of the log, or the state folder of
// the service manager (STATE_DIRECTORY, systemd.exec(5)). Empty: standard error, or no report.
std::string crash_folder_of(const ApplicationSettings& settings);
// Some listener has a port that only root may bind.
bool needs_root_to_bind(const ApplicationSettings& settings);

// Fails where enter() would fail, as far as that is known without entering.
Result<void> check_process(const ProcessSettings& process);

class ProcessRules {
 public:
  // See above; once.
  Result<void> enter(const ApplicationSettings& settings, const ProcessNeeds& needs);
  // REQUIRES enter(). Other threads exist by now: the new rules hold in each of them.
  Result<void> finish_start();

  // For the log, in whole sentences: the rules that are enforced, and facts for the operator.
  const std::vector<std::string>& report() const noexcept { return report_; }
  const std::vector<std::string>& warnings() const noexcept { return warnings_; }
  // No other program can be started that could enter the same rules.
  bool refuses_programs() const noexcept { return mode_ == Sandbox::on || !user_.empty(); }

 private:
  Result<void> become(const ApplicationSettings& settings);
  Result<void> restrict(const ApplicationSettings& settings, const ProcessNeeds& needs);
  void tell_files(const sandbox::LandlockRules& rules, const sandbox::LandlockReport& enforced);

  Sandbox mode_ = Sandbox::off;
  std::string user_;  // of process.user; empty: the process stays who it is
  sandbox::Identity identity_;
  sandbox::CallRules calls_;
  bool filtered_ = false;
  std::vector<std::string> report_;
  std::vector<std::string> warnings_;
};

}  // namespace katana::app

// SPDX-License-Identifier: Apache-2.0
