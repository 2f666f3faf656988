// Asks the search of a built site: node ask_search.js SITE QUERY… prints {query: [location, …]}.
// The worker of the site's pages runs as it is; it needs messages both ways and its texts.
const fs = require("fs"), path = require("path"), vm = require("vm");
const [site, ...queries] = process.argv.slice(2);
const worker = path.join(site, "site/search.js");

const listeners = [], waiting = [];
const run = (file) => vm.runInContext(fs.readFileSync(file, "utf8"), scope);
const scope = {
  setTimeout,
  addEventListener: (kind, listener) => kind === "message" && listeners.push(listener),
  postMessage: (message) => waiting.shift()(message),
  importScripts: (...files) => files.forEach((file) => run(path.resolve(path.dirname(worker), file))),
};
scope.self = scope;
vm.createContext(scope);
run(worker);

const tell = (message) => new Promise((done) => {
  waiting.push(done);
  for (const listener of listeners) listener({data: message});
});

(async () => {
  await tell({type: 0, data: {}});
  const found = {};
  for (const query of queries) {
    const reply = await tell({type: 2, data: query});
    found[query] = reply.data.items.map((group) => group[0].location);
  }
  process.stdout.write(JSON.stringify(found));
})().catch((error) => { console.error(String(error)); process.exit(1); });

// SPDX-License-Identifier: Apache-2.0
