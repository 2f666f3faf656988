// An OpenID provider of a test's own, by the package oidc-provider, on loopback: everybody may log in, whatever their
// password, and "ada" is an editor.
//
//     node provider.mjs PORT REDIRECT_URI
import Provider from "oidc-provider";

const [port, redirectUri] = process.argv.slice(2);
const issuer = `http://localhost:${port}`;
const provider = new Provider(issuer, {
  clients: [
    {
      client_id: "shop",
      client_secret: "a secret of the test",
      redirect_uris: [redirectUri],
      post_logout_redirect_uris: [new URL("/login", redirectUri).href],
    },
  ],
  claims: { openid: ["sub"], profile: ["name", "roles"] },
  conformIdTokenClaims: false, // claims are in the ID token, as most providers have them
  pkce: { required: () => true },
  cookies: { keys: ["a key of the test"] },
  features: { devInteractions: { enabled: true }, rpInitiatedLogout: { enabled: true } },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, name: `User ${id}`, roles: id === "ada" ? ["editor"] : [] }),
  }),
});
provider.listen(Number(port), "127.0.0.1", () => console.log(`${issuer} is ready`));

// SPDX-License-Identifier: Apache-2.0
