// Users over SQLite by fastify and better-sqlite3, which is synchronous: one connection, each statement prepared once.
// Content is validated, and replies are written, by JSON schemas, as fastify's documents recommend.
//   node server.mjs --port PORT --database FILE
import Database from 'better-sqlite3';
import Fastify from 'fastify';
import { parseArgs } from 'node:util';

const { values: flags } = parseArgs({ options: { port: { type: 'string' }, database: { type: 'string' } } });

const database = new Database(flags.database);
database.pragma('busy_timeout = 5000');
database.pragma('journal_mode = WAL');
database.pragma('synchronous = FULL');
database.pragma('cache_size = -8192');
database.exec('CREATE TABLE IF NOT EXISTS users (id INTEGER PRIMARY KEY, name TEXT NOT NULL, '
  + 'email TEXT NOT NULL UNIQUE) STRICT');
const find = database.prepare('SELECT id, name, email FROM users WHERE id = ?');
const list = database.prepare('SELECT id, name, email FROM users WHERE id > ? ORDER BY id LIMIT ?');
const add = database.prepare('INSERT INTO users (name, email) VALUES (?, ?)');

const integer = { type: 'integer' };
const string = { type: 'string' };
const user = { type: 'object', properties: { id: integer, name: string, email: string } };
const findSchema = {
  params: { type: 'object', required: ['id'], properties: { id: integer } },
  response: { 200: user },
};
const listSchema = {
  querystring: { type: 'object', properties: { after: { type: 'integer', minimum: 0, default: 0 },
    limit: { type: 'integer', minimum: 1, maximum: 100, default: 20 } } },
  response: { 200: { type: 'object', properties: { users: { type: 'array', items: user },
    next: { type: ['integer', 'null'] } } } },
};
const addSchema = {
  body: { type: 'object', required: ['name', 'email'], properties: {
    name: { type: 'string', minLength: 1, maxLength: 100 },
    email: { type: 'string', maxLength: 200, pattern: '@' } } },
  response: { 201: user },
};
const healthSchema = { response: { 200: { type: 'object', properties: { status: string } } } };

const app = Fastify();

app.get('/health', { schema: healthSchema }, (_, reply) => reply.send({ status: 'pass' }));

app.get('/users/:id', { schema: findSchema }, (request, reply) => {
  const found = find.get(request.params.id);
  if (found === undefined) return reply.code(404).send({ error: 'There is no such user.' });
  return reply.send(found);
});

app.get('/users', { schema: listSchema }, (request, reply) => {
  const { after, limit } = request.query;
  const users = list.all(after, limit + 1); // one more says whether there is another page
  const hasMore = users.length > limit;
  if (hasMore) users.pop();
  return reply.send({ users, next: hasMore ? users.at(-1).id : null });
});

app.post('/users', { schema: addSchema }, (request, reply) => {
  const { name, email } = request.body;
  try {
    const { lastInsertRowid: id } = add.run(name, email);
    return reply.code(201).header('Location', `/users/${id}`).send({ id, name, email });
  } catch (error) {
    if (error.code !== 'SQLITE_CONSTRAINT_UNIQUE') throw error;
    return reply.code(409).send({ error: 'Another user has this e-mail address.' });
  }
});

await app.listen({ port: Number(flags.port), host: '127.0.0.1' });

// SPDX-License-Identifier: Apache-2.0
