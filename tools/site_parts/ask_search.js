// Asks the search of a built site: node ask_search.js SITE QUERY… prints {query: [location, …]}.
// The worker of the site's pages runs as it is; it needs messages both ways and its index.
const fs = require("fs"), path = require("path"), vm = require("vm");
const [site, ...queries] = process.argv.slice(2);
const scripts = path.join(site, "assets/javascripts/workers");
const name = fs.readdirSync(scripts).find(each => /^search\.[^/]*\.js$/.test(each));
const index = JSON.parse(fs.readFileSync(path.join(site, "search/search_index.json"), "utf8"));

const listeners = [], waiting = [];
const scope = {
  console, TextEncoder, TextDecoder, URL, performance, setTimeout, clearTimeout,
  location: {href: "http://localhost/assets/javascripts/workers/" + name},
  addEventListener: (kind, listener) => kind === "message" && listeners.push(listener),
  postMessage: message => waiting.shift()(message),
  importScripts: (...files) => files.forEach(file =>
    vm.runInContext(fs.readFileSync(path.resolve(scripts, file), "utf8"), scope)),
};
scope.self = scope.window = scope.globalThis = scope;
vm.createContext(scope);
vm.runInContext(fs.readFileSync(path.join(scripts, name), "utf8"), scope);

const tell = message => new Promise(done => {
  waiting.push(done);
  for (const listener of listeners) listener({data: message});
});

(async () => {
  await tell({type: 0, data: {config: index.config, docs: index.docs, options: {suggest: false}}});
  const found = {};
  for (const query of queries) {
    const reply = await tell({type: 2, data: query});
    const items = reply.data.items ?? reply.data;
    found[query] = items.map(group => group[0].location);
  }
  process.stdout.write(JSON.stringify(found));
})().catch(error => { console.error(String(error)); process.exit(1); });
