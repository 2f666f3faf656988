#include "katana/observe/audit/verify.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "katana/observe/audit/audit_event.hpp"

namespace katana::audit {
namespace {

constexpr Bytes begun = R"("action":"audit.file_begun")";
constexpr Bytes previous = R"("previous":")";

class Verification {
 public:
  Verification(Bytes key, const AuditHead& anchor) : chain_(key), anchor_(anchor) {}

  Result<void> read(const std::string& path) {
    path_ = path;
    line_ = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) {
      return fail(Code::not_found, fmt::format("'{}': {}", path, std::strerror(errno)));
    }
    std::string text;
    while (std::getline(file, text)) {
      ++line_;
      if (file.eof()) return wrong("the last line was cut off");
      if (auto right = check(text); !right) return right;
    }
    if (file.bad()) return wrong("it cannot be read");
    return line_ == 0 ? wrong("it is empty") : Result<void>();
  }

  Result<VerifiedAudit> finish() const {
    if (anchor_.next > verified_.head.next) {
      return wrong(
          fmt::format("it ends with line {}, and the anchor is {}: what follows was cut "
                      "off",
                      verified_.head.next - 1, anchor_.next - 1));
    }
    if (anchor_.next != 0 && anchor_.next <= verified_.first) {
      return wrong(fmt::format("it begins with line {}, and the anchor is {}: add the files before",
                               verified_.first, anchor_.next - 1));
    }
    return verified_;
  }

 private:
  std::unexpected<Error> wrong(const std::string& what) const {
    return fail(Code::data_loss, fmt::format("'{}', line {}: {}", path_, line_, what));
  }

  Result<void> check(Bytes text) {
    const auto line = parse_line(text);
    if (!line) return wrong("it is no line of an audit log");
    AuditHead& head = verified_.head;
    if (line_ == 1) {
      if (auto right = check_begin(*line); !right) return right;
    }
    if (line->number != head.next) {
      return wrong(
          fmt::format("its number is {}, and {} would follow: lines are missing, added or "
                      "moved",
                      line->number, head.next));
    }
    if (chain_.link(head.chain, line->text) != line->chain) {
      return wrong("its chain is not that of what stands in it, or the key is another one");
    }
    head = {line->number + 1, line->chain};
    if (anchor_.next == head.next && anchor_ != head) {
      return wrong("its chain is not that of the anchor: the log was written anew");
    }
    return {};
  }

  // A file names the digest that it continues; for the first file nothing else is known.
  Result<void> check_begin(const AuditLine& line) {
    const std::size_t at = line.text.find(previous);
    std::optional<crypto::Sha256> before;
    if (line.text.find(begun) != Bytes::npos && at != Bytes::npos) {
      before = parse_digest(line.text.substr(at + previous.size(), 43));
    }
    if (!before) return wrong("it does not begin as a file of an audit log does");
    if (!started_) {
      verified_ = {line.number, {line.number, *before}};
      if (line.number == 0 && *before != crypto::Sha256()) return wrong("line 0 has a line before");
    } else if (*before != verified_.head.chain) {
      return wrong("it does not go on from the file before it");
    }
    started_ = true;
    return {};
  }

  const AuditChain chain_;
  const AuditHead anchor_;  // next 0: there is none
  std::string path_;
  std::uint64_t line_ = 0;
  bool started_ = false;
  VerifiedAudit verified_;
};

}  // namespace

Result<VerifiedAudit> verify_audit(std::span<const std::string> files, Bytes key,
                                   const std::optional<AuditHead>& anchor) {
  if (files.empty()) return fail(Code::invalid_argument, "name the files of the log, oldest first");
  Verification verification(key, anchor.value_or(AuditHead{}));
  for (const std::string& file : files) {
    if (auto right = verification.read(file); !right) return std::unexpected(right.error());
  }
  return verification.finish();
}

}  // namespace katana::audit

// SPDX-License-Identifier: Apache-2.0
