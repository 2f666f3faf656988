#include "katana/identity/sessions/form_token.hpp"

#include "katana/base/values/base64.hpp"
#include "katana/base/values/secrets.hpp"
#include "katana/http/forms/form_fields.hpp"
#include "katana/http/handlers/framework_problems.hpp"

namespace katana::sessions {

struct FormTokenField {
  std::optional<std::string> csrf_token;
};
KATANA_DESCRIBE(FormTokenField, (csrf_token, length(0, 256)))

namespace detail {

// Returns a random pad, and the secret XOR the pad, as base64url. Each pad is used once.
std::string mask_form_secret(Bytes secret) {
  std::string octets = random_octets(secret.size());
  for (std::size_t index = 0; index < secret.size(); ++index) {
    octets.push_back(static_cast<char>(octets[index] ^ secret[index]));
  }
  return encode_base64url(octets);
}

// True if the token hides this secret. A token of another size never does.
bool is_token_of(Bytes token, Bytes secret) {
  const auto octets = decode_base64url(token);
  if (secret.empty() || !octets) return false;
  std::string unmasked = octets->substr(octets->size() / 2);
  for (std::size_t index = 0; index < unmasked.size(); ++index) {
    unmasked[index] = static_cast<char>(unmasked[index] ^ (*octets)[index]);
  }
  return equal_in_constant_time(unmasked, secret);
}

}  // namespace detail

Task<Result<std::string>> form_token(FromContext<UserSession> session) {
  const Result<std::string> secret = co_await session->form_secret();
  if (!secret) co_return std::unexpected(secret.error());
  co_return detail::mask_form_secret(*secret);
}

Html form_token_field(Bytes token) {
  return html(R"(<input type="hidden" name="csrf_token" value="{}">)", token);
}

Task<std::optional<Reply>> require_form_token(SentFormToken sent,
                                              FromContext<UserSession> session) {
  if (sent.changes_nothing) co_return std::nullopt;
  const Result<std::string> secret = co_await session->known_form_secret();
  if (!secret) co_return problem(secret.error());
  if (detail::is_token_of(sent.value, *secret)) co_return std::nullopt;
  co_return problem(problem_types::csrf,
                    "The form has no token of this session, or an old one: load its page again. "
                    "Scripts send the token as X-CSRF-Token.");
}

}  // namespace katana::sessions

namespace katana::detail {

std::expected<sessions::SentFormToken, Refusal> Extractor<sessions::SentFormToken>::from(
    const RequestView& request, std::size_t) {
  sessions::SentFormToken sent;
  sent.changes_nothing =
      request.method() == http::Method::get || request.method() == http::Method::head ||
      request.method() == http::Method::options || request.method() == http::Method::trace;
  if (sent.changes_nothing) return sent;
  if (const auto field = request.field("X-CSRF-Token")) {
    sent.value = *field;
    return sent;
  }
  // A malformed form, or content of another type, has no token. The handler reports the mistake.
  auto form = Extractor<FormFields<sessions::FormTokenField>>::from(request, 0);
  if (form) sent.value = std::move(form->value.csrf_token).value_or("");
  return sent;
}

}  // namespace katana::detail

// SPDX-License-Identifier: Apache-2.0
