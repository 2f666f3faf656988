// Runs the npm package http-cache-tests against a proxy, and prints as JSON for each test its kind, the tests that it
// depends on, and what came of it: true, or why it failed.
//
//   node http_cache_suite.mjs PACKAGE_FOLDER BASE_URL
import path from 'node:path'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const [folder, base] = process.argv.slice(2)
const load = name => import(pathToFileURL(path.join(folder, name)))
const fetch = createRequire(path.join(path.resolve(folder), 'cli.mjs'))('node-fetch')

const { runTests, getResults } = await load('client/runner.mjs')
const { default: suites } = await load('tests/index.mjs')

await runTests(suites, fetch, false, base)
const results = getResults()
const report = {}
for (const suite of suites) {
  for (const test of suite.tests) {
    if (!(test.id in results)) continue
    report[test.id] = { suite: suite.id, kind: test.kind ?? 'required', needs: test.depends_on ?? [], result: results[test.id] }
  }
}
console.log(JSON.stringify(report))

// SPDX-License-Identifier: Apache-2.0
