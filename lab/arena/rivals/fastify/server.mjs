// fastify with its compress, static and websocket plugins; an instance for each port. JSON by its schema serializer.
import compress from '@fastify/compress';
import files from '@fastify/static';
import websocket from '@fastify/websocket';
import Fastify from 'fastify';
import { setTimeout } from 'node:timers/promises';
import { constants } from 'node:zlib';

import { answer, readFlags, run } from '../node_common/common.mjs';

const integer = { type: 'integer' };
const string = { type: 'string' };
const item = { type: 'object', properties: { id: integer, name: string, category: string, price: integer,
  quantity: integer, active: { type: 'boolean' }, tags: { type: 'array', items: string },
  rating: { type: 'object', properties: { score: integer, count: integer } }, total: integer } };
const jsonSchema = {
  params: { type: 'object', properties: { count: integer } },
  querystring: { type: 'object', properties: { m: { type: 'integer', default: 1 } } },
  response: { 200: { type: 'object', properties: { items: { type: 'array', items: item }, count: integer } } },
};
const sumSchema = { querystring: { type: 'object', required: ['a', 'b'], properties: { a: integer, b: integer } } };

function plain(reply, value) {
  return reply.type('text/plain').send(String(value));
}

async function routes(app, flags) {
  const sum = (request, reply) => plain(reply, request.query.a + request.query.b + Number(request.body ?? 0));
  app.addContentTypeParser('*', { parseAs: 'string' }, (_, body, done) => done(null, body));
  app.get('/baseline11', { schema: sumSchema }, sum);
  app.post('/baseline11', { schema: sumSchema }, sum);
  app.get('/baseline2', { schema: sumSchema }, sum);
  app.get('/pipeline', (_, reply) => plain(reply, 'ok'));
  app.get('/delay/:ms', async (request, reply) => {
    await setTimeout(Number(request.params.ms));
    return plain(reply, request.params.ms);
  });
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body));
    scope.post('/echo', (request, reply) => reply.type('application/octet-stream').send(request.body ?? ''));
  });
  app.register(async (scope) => {
    // The quality is that of the plugin's documents: Node's own default, 11, is for files that are compressed once.
    await scope.register(compress, { brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } } });
    scope.get('/json/:count', { schema: jsonSchema },
      async (request) => answer(flags.items, request.params.count, request.query.m));
  });
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_, payload, done) => done(null, payload));
    scope.post('/upload', { bodyLimit: 64 << 20 }, async (request, reply) => {
      let size = 0;
      for await (const piece of request.body) size += piece.length;
      return plain(reply, size);
    });
  });
  app.register(files, { root: flags.static, prefix: '/static/', preCompressed: true });
  if (app.initialConfig.http2) return;
  await app.register(websocket);
  app.register(async (scope) => {
    scope.get('/ws', { websocket: true }, (socket) => {
      socket.on('message', (message, binary) => socket.send(message, { binary }));
    });
  });
}

const flags = readFlags();

async function listen(port, options) {
  if (port === 0) return;
  const app = Fastify(options);
  await routes(app, flags);
  await app.listen({ port, host: '127.0.0.1' });
}

run(flags.threads, () => Promise.all([
  listen(flags.h1, {}),
  listen(flags.h1Tls, { https: flags.pem }),
  listen(flags.h2c, { http2: true }),
  listen(flags.tls, { http2: true, https: { ...flags.pem, allowHTTP1: true } }),
]));

// SPDX-License-Identifier: Apache-2.0
