// By openapi-typescript and openapi-fetch.
import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

const client = createClient<paths>({ baseUrl: process.argv[2] });
const ada: components["schemas"]["NewUser"] = { name: "Ada Lovelace", email: "ts@example.org" };

const added = await client.POST("/api/users", { body: ada });
assert.equal(added.response.status, 201);
const user: components["schemas"]["User"] = added.data!;
assert.equal(user.name, ada.name);

const got = await client.GET("/api/users/{id}", { params: { path: { id: user.id } } });
assert.deepEqual(got.data, user);

const page = await client.GET("/api/users", { params: { query: { limit: 100 } } });
assert.ok(page.data!.users.some((each) => each.id === user.id));

const again = await client.POST("/api/users", { body: ada });
assert.equal(again.response.status, 409);
const problem: components["schemas"]["Problem"] = again.error!;
assert.equal(problem.type, "/problems/email-taken");
console.log("typescript: created, got, listed, refused");

// SPDX-License-Identifier: Apache-2.0
