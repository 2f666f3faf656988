// Node alone: node:http, node:https and node:http2, without a framework. Of the arena's profiles, those that need no
// compression, files or WebSocket.
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import { setTimeout } from 'node:timers/promises';

import { answer, readFlags, run } from '../node_common/common.mjs';

const flags = readFlags();

function send(response, status, type, content) {
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(content) });
  response.end(content);
}

async function bodyOf(request) {
  const pieces = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function delay(response, ms) {
  await setTimeout(ms);
  send(response, 200, 'text/plain', String(ms));
}

async function sum(request, response, query) {
  let total = Number(query.get('a')) + Number(query.get('b'));
  if (request.method === 'POST') total += Number(await bodyOf(request));
  const wrong = Number.isNaN(total);
  send(response, wrong ? 400 : 200, 'text/plain', wrong ? 'numbers are wanted' : String(total));
}

async function upload(request, response) {
  let size = 0;
  for await (const piece of request) size += piece.length;
  send(response, 200, 'text/plain', String(size));
}

async function route(request, response) {
  const url = new URL(request.url, 'http://localhost');
  switch (url.pathname) {
    case '/baseline11':
    case '/baseline2': return sum(request, response, url.searchParams);
    case '/pipeline': return send(response, 200, 'text/plain', 'ok');
    case '/upload': return upload(request, response);
    case '/echo': return send(response, 200, 'application/octet-stream', await bodyOf(request));
  }
  if (url.pathname.startsWith('/delay/')) return delay(response, Number(url.pathname.slice('/delay/'.length)));
  if (!url.pathname.startsWith('/json/')) return send(response, 404, 'text/plain', 'not found');
  const count = Number(url.pathname.slice('/json/'.length));
  const content = answer(flags.items, count, Number(url.searchParams.get('m') ?? 1));
  return send(response, 200, 'application/json', JSON.stringify(content));
}

async function handle(request, response) {
  try {
    await route(request, response);
  } catch {
    response.destroy(); // the peer broke its body off
  }
}

function listen(port, make) {
  if (port !== 0) make().listen(port, '127.0.0.1');
}

run(flags.threads, () => {
  listen(flags.h1, () => http.createServer(handle));
  listen(flags.h1Tls, () => https.createServer(flags.pem, handle));
  listen(flags.h2c, () => http2.createServer(handle));
  listen(flags.tls, () => http2.createSecureServer({ ...flags.pem, allowHTTP1: true }, handle));
});

// SPDX-License-Identifier: Apache-2.0
