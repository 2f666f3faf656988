// What does a session cost a request? The figure is from the cookie's value to the principal and
// back to the fields of the reply, as the middleware does it. The parts of it are measured as well:
// the encryption of a cookie, the hash of an id.
#include <memory>
#include <string>
#include <vector>

#include "katana/base/values/base64.hpp"
#include "katana/identity/sessions/memory_store.hpp"
#include "katana/identity/sessions/session_manager.hpp"
#include "katana/identity/sessions/user_session.hpp"
#include "lab/micro/micro.hpp"

namespace {

using namespace katana;
using namespace katana::sessions;

struct Cart {
  std::vector<std::int64_t> items;
};
KATANA_DESCRIBE(Cart, items)

template <class T>
T finished(Task<T> task) {
  micro::expect(task.start(), "a call that waits for nothing");
  return task.result();
}

std::shared_ptr<sessions::detail::SessionManager> manager_with(bool in_cookies) {
  auto manager = std::make_shared<sessions::detail::SessionManager>();
  if (in_cookies) {
    const std::string secrets[] = {std::string(32, 'k')};
    manager->sealer = *CookieSealer::make(secrets, manager->options.cookie_name);
  } else {
    manager->store = std::make_shared<MemorySessionStore>();
  }
  return manager;
}

// The cookie's value of a user who has logged in and has something in the cart.
std::string cookie_of(const std::shared_ptr<sessions::detail::SessionManager>& manager) {
  UserSession session(manager, {});
  auth::PrincipalFacts facts;
  facts.id = "4711";
  facts.issuer = "shop";
  facts.name = "Ann Example";
  facts.roles = {"reader"};
  micro::expect(finished(session.log_in(facts)).has_value(), "login");
  const Cart cart{{1, 2, 3}};
  micro::expect(finished(session.set(cart)).has_value(), "set");
  Reply reply;
  micro::expect(session.finish(reply).has_value(), "Set-Cookie");
  const std::string fields(reply.fields());
  const std::size_t from = fields.find("__Host-session=") + 15;
  return fields.substr(from, fields.find(';', from) - from);
}

micro::Subject request_of(const std::string& name, bool in_cookies, std::uint64_t operations) {
  auto manager = manager_with(in_cookies);
  return {name, [=, cookie = cookie_of(manager)] {
            return micro::time_operations(operations, [&] {
              for (std::uint64_t count = 0; count < operations; ++count) {
                UserSession session(manager, cookie);
                micro::expect(finished(session.principal())->has_value(), "a principal");
                Reply reply;
                micro::expect(session.finish(reply).has_value(), "fields");
                micro::use(reply);
              }
            });
          }};
}

}  // namespace

int main(int count, char** arguments) {
  micro::Suite suite("sessions", count, arguments);
  const std::uint64_t operations = suite.operations(20'000);
  const auto in_cookie = manager_with(true);
  const std::string cookie = cookie_of(in_cookie);
  const std::string sealed = *decode_base64url(cookie);
  const crypto::Aead aead(std::string(32, 'k'));
  const std::string sealed_alone = aead.seal(std::string(sealed.size() - 40, 'p'), "");
  const std::string question = "a session found, its principal, and the reply's fields";
  const auto* request = suite.ask(
      {question, "ns"}, {request_of("memory store", false, operations),
                         request_of("cookie", true, operations),
                         {"not asked for",
                          [&] {
                            return micro::time_operations(operations, [&] {
                              for (std::uint64_t at = 0; at < operations; ++at) {
                                UserSession session(in_cookie, cookie);
                                Reply reply;
                                micro::expect(session.finish(reply).has_value(), "fields");
                                micro::use(reply);
                              }
                            });
                          }},
                         {"XAES-256-GCM alone",
                          [&] {
                            return micro::time_operations(operations, [&] {
                              for (std::uint64_t at = 0; at < operations; ++at) {
                                micro::expect(aead.open(sealed_alone, "").has_value(), "opened");
                              }
                            });
                          }},
                         {"SHA-256 alone", [&] {
                            return micro::time_operations(operations, [&] {
                              for (std::uint64_t at = 0; at < operations; ++at) {
                                micro::use(crypto::sha256(Bytes(cookie).substr(0, 43)));
                              }
                            });
                          }}});
  static_cast<void>(request);
  return suite.finish();
}

// SPDX-License-Identifier: Apache-2.0
