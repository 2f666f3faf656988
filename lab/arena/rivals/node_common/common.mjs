// What the rivals on Node share: their flags, and the data set.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import cluster from 'node:cluster';

const number = { type: 'string', default: '0' };
const text = { type: 'string', default: '' };

// Flags that every server of the arena has; a port that is 0 is not listened on.
export function readFlags() {
  const options = { h1: number, 'h1-tls': number, h2c: number, tls: number, threads: { type: 'string', default: '1' },
    static: text, dataset: text, cert: text, key: text };
  const { values } = parseArgs({ options });
  const pem = values.cert ? { cert: readFileSync(values.cert), key: readFileSync(values.key) } : {};
  return { h1: Number(values.h1), h1Tls: Number(values['h1-tls']), h2c: Number(values.h2c), tls: Number(values.tls),
    threads: Number(values.threads), static: values.static, pem,
    items: values.dataset ? JSON.parse(readFileSync(values.dataset, 'utf8')) : [] };
}

// One thread serves in this process; more are processes, as Node's documents have it.
export function run(threads, serve) {
  if (threads === 1 || cluster.isWorker) return serve();
  for (let started = 0; started < threads; ++started) cluster.fork();
}

export function answer(items, count, m) {
  const chosen = items.slice(0, count);
  return { items: chosen.map((item) => ({ ...item, total: item.price * item.quantity * m })), count: chosen.length };
}

// SPDX-License-Identifier: Apache-2.0
