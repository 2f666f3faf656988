#include "katana/net/tls/identity.hpp"

#include <fmt/format.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

namespace katana::tls {

std::string lower_case(Bytes text) {
  std::string made(text);
  for (char& letter : made) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return made;
}

namespace {

constexpr std::size_t file_bytes_max = 1024 * 1024;
constexpr int soon_days = 14;

std::string text_of(const ASN1_STRING* text) {
  const auto* const octets = ASN1_STRING_get0_data(text);
  return lower_case(
      {reinterpret_cast<const char*>(octets), static_cast<std::size_t>(ASN1_STRING_length(text))});
}

std::vector<std::string> names_of(X509* certificate) {
  std::vector<std::string> names;
  auto* const alternatives = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int index = 0; index < sk_GENERAL_NAME_num(alternatives); ++index) {
    const GENERAL_NAME* const each = sk_GENERAL_NAME_value(alternatives, index);
    if (each->type == GEN_DNS) names.push_back(text_of(each->d.dNSName));
  }
  GENERAL_NAMES_free(alternatives);
  if (!names.empty()) return names;
  X509_NAME* const subject = X509_get_subject_name(certificate);
  const int position = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (position >= 0) {
    names.push_back(text_of(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, position))));
  }
  return names;
}

// Never asks for a pass phrase: a server starts without a person there.
int no_pass_phrase(char*, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

Result<OwnedKey> read_key(Bytes text, const std::string& source) {
  bool asked = false;
  OwnedKey key(PEM_read_bio_PrivateKey(reader_of(text).get(), nullptr, no_pass_phrase, &asked));
  if (key != nullptr) return key;
  const std::string reason = last_error();
  if (asked) {
    return fail(Code::invalid_argument,
                fmt::format("private key '{}' has a pass phrase: write it without one "
                            "(openssl pkey -in FILE -out NEW), readable by the server only",
                            source));
  }
  return fail(
      Code::invalid_argument,
      fmt::format("private key '{}' has no key in PEM form (-----BEGIN PRIVATE KEY-----): {}",
                  source, reason));
}

void note_validity(const Identity& identity, std::vector<std::string>& notes) {
  const X509* const certificate = identity.certificate.get();
  int days = 0, rest = 0;
  if (X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0) {
    notes.push_back(fmt::format("certificate '{}' is not valid yet", identity.source));
  }
  if (ASN1_TIME_diff(&days, &rest, nullptr, X509_get0_notAfter(certificate)) != 1) return;
  if (days < 0 || rest < 0) {
    notes.push_back(fmt::format("certificate '{}' is out of date since {} days: clients refuse it",
                                identity.source, -days));
  } else if (days < soon_days) {
    notes.push_back(
        fmt::format("certificate '{}' is valid for {} days more", identity.source, days));
  }
}

void note_order(const Identity& identity, std::vector<std::string>& notes) {
  X509* below = identity.certificate.get();
  for (const OwnedCertificate& above : identity.chain) {
    if (X509_check_issued(above.get(), below) != X509_V_OK) {
      notes.push_back(
          fmt::format("the chain in '{}' is not in order: each certificate should be "
                      "followed by the one that signed it",
                      identity.source));
      return;
    }
    below = above.get();
  }
}

}  // namespace

Result<std::string> read_file(const std::string& file, const char* what) {
  std::ifstream input(file, std::ios::binary);
  if (!input) {
    return fail(Code::not_found,
                fmt::format("{} '{}' cannot be read ({}): give the path of a PEM file that this "
                            "user may read",
                            what, file, std::generic_category().message(errno)));
  }
  std::string text(file_bytes_max + 1, '\0');
  input.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (input.bad()) {
    return fail(Code::invalid_argument,
                fmt::format("{} '{}' cannot be read: give the path of a PEM file", what, file));
  }
  text.resize(static_cast<std::size_t>(input.gcount()));
  if (text.size() > file_bytes_max) {
    return fail(Code::invalid_argument,
                fmt::format("{} '{}' has more than {} bytes: it is no PEM file", what, file,
                            file_bytes_max));
  }
  return text;
}

Result<std::vector<OwnedCertificate>> read_certificates(Bytes text, const std::string& source) {
  std::vector<OwnedCertificate> found;
  const OwnedBio reader = reader_of(text);
  bool asked = false;
  while (X509* const certificate =
             PEM_read_bio_X509(reader.get(), nullptr, no_pass_phrase, &asked)) {
    found.emplace_back(certificate);
  }
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  const std::string reason = last_error();
  if (found.empty() && at_end) {
    return fail(Code::invalid_argument,
                fmt::format("no PEM certificate (-----BEGIN CERTIFICATE-----) in '{}': "
                            "if it is DER, convert it (openssl x509 -inform DER -in FILE -out NEW)",
                            source));
  }
  if (!at_end) {
    return fail(Code::invalid_argument,
                fmt::format("certificate '{}', number {} in it, is damaged: {}", source,
                            found.size() + 1, reason));
  }
  return found;
}

Result<Identity> load_identity(const Certificate& files, std::vector<std::string>& notes) {
  Identity identity;
  identity.source = files.chain_file.empty() ? "(given as text)" : files.chain_file;
  const std::string key_source = files.key_file.empty() ? identity.source : files.key_file;
  std::string chain_text = files.chain_text, key_text = files.key_text;
  if (!files.chain_file.empty()) {
    auto read = read_file(files.chain_file, "certificate");
    if (!read) return std::unexpected(read.error());
    chain_text = *std::move(read);
  }
  if (!files.key_file.empty()) {
    auto read = read_file(files.key_file, "private key");
    if (!read) return std::unexpected(read.error());
    key_text = *std::move(read);
  }
  auto certificates = read_certificates(chain_text, identity.source);
  if (!certificates) return std::unexpected(certificates.error());
  auto key = read_key(key_text, key_source);
  OPENSSL_cleanse(key_text.data(), key_text.size());
  if (!key) return std::unexpected(key.error());
  identity.certificate = std::move(certificates->front());
  identity.chain.assign(std::make_move_iterator(certificates->begin() + 1),
                        std::make_move_iterator(certificates->end()));
  identity.key = *std::move(key);
  if (X509_check_private_key(identity.certificate.get(), identity.key.get()) != 1) {
    ERR_clear_error();
    return fail(Code::invalid_argument,
                fmt::format("private key '{}' is not that of the certificate '{}'. The server's "
                            "certificate comes first in the file. Its key is the one that made the "
                            "signing request",
                            key_source, identity.source));
  }
  identity.names = names_of(identity.certificate.get());
  note_validity(identity, notes);
  note_order(identity, notes);
  return identity;
}

}  // namespace katana::tls

// SPDX-License-Identifier: Apache-2.0
