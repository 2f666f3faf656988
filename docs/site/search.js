// The search of the site, in the place of the theme's worker: it speaks the theme's messages.
//
// The theme builds an index of all words in the browser, which took seconds for each page that was opened. This worker
// reads the texts when a reader goes to the search field, and looks through them: milliseconds for some megabytes.
//
// Messages  {type: 0} is answered with {type: 1}; {type: 2, data: query} with {type: 3, data: {items, suggest}}.
//           {type: "prepare"} (iframe-worker.js) has no answer: a query is near.
// Texts     search/texts.js (tools/site_parts/search.py): var __texts = [[page, boost, tags, [anchor, title, text,
//           anchor, …]], …]; the anchor of the page itself is empty.
"use strict";

const GROUPS_MAX = 50;  // pages of an answer
const SECTIONS_MAX = 10;  // of a page
const EXCERPT = 190;  // characters of a text that a result shows
const COUNT_MAX = 8;  // more occurrences of a word in a text say no more
const WEIGHT = {tag: 40, title: 12, text: 1};
const OF_PREFIX = 0.5;  // what the beginning of a longer word is worth
const OF_PAGE = 1.4;  // a page before its sections
const LENGTH_MEAN = 600;  // characters of a text

let pages = null;
let entry_count = 0;

// Most pages lack a word of a query: `all` tells so at once, and their sections are not looked at.
function read(texts) {
  return texts.map(([path, boost, tags, sections]) => {
    const page = {path, boost, entries: [], all: [...tags, ...sections].join("\n").toLowerCase()};
    for (let at = 0; at < sections.length; at += 3) {
      const [anchor, title, text] = sections.slice(at, at + 3);
      page.entries.push({page, title, text, is_page: !anchor, location: anchor ? `${path}#${anchor}` : path,
                         tags: anchor ? [] : tags, fields: null});
    }
    entry_count += page.entries.length;
    return page;
  });
}

function fields_of(entry) {
  return entry.fields ??= {tag: entry.tags.join("\n").toLowerCase(), title: entry.title.toLowerCase(),
                           text: entry.text.toLowerCase()};
}

// A word without what its forms differ in: "migrations" and "migrate" begin with the stem of either.
function stem(word) {
  const short = word.replace(/(?:ations?|ies|ing|ed|es|s|e)$/, "");
  return /[siu]s$/.test(word) || short.length < 4 || !/^[a-z]+$/.test(word) ? word : short;
}

// "a phrase" is one term; other words are one each, and a word of two parts is each part, too.
function terms_of(query) {
  const terms = [];
  for (const [, phrase, word] of query.toLowerCase().matchAll(/"([^"]+)"|([^\s"]+)/g)) {
    if (phrase) {
      terms.push({word: phrase.trim(), stem: phrase.trim()});
      continue;
    }
    for (const part of word.split(/[^\p{L}\p{N}_+#.-]+/u)) {
      const bare = part.replace(/^[+.-]+|[.-]+$/g, "");
      if (bare) terms.push({word: bare, stem: stem(bare)});
    }
  }
  return terms.filter(({word}, at) => terms.findIndex((other) => other.word === word) === at);
}

// Letters and digits of texts in lower case; a pattern for each occurrence would take most of the time.
function is_letter(text, at) {
  const code = text.charCodeAt(at);  // NaN outside of the text
  return code >= 97 && code <= 122 || code >= 48 && code <= 57 || code >= 0xc0 && code < 0x2000;
}

// How much a field has of a term, from 0 to COUNT_MAX; where it stands first.
function found(text, {word, stem}, anywhere) {
  let count = 0, first = -1;
  for (let at = text.indexOf(stem); at >= 0 && count < COUNT_MAX; at = text.indexOf(stem, at + stem.length)) {
    if (!anywhere && is_letter(text, at - 1)) continue;
    if (first < 0) first = at;
    count += text.startsWith(word, at) && !is_letter(text, at + word.length) ? 1 : OF_PREFIX;
  }
  return {count, first};
}

function score_of_field(name, text, count) {
  if (!count) return 0;
  if (name === "text") return WEIGHT.text * 3 * count / (count + 0.5 + 1.5 * text.length / LENGTH_MEAN);
  return WEIGHT[name] * Math.min(count, 1) / (name === "title" ? 1 + text.length / 60 : 1);
}

// [entry, score, place in its text], or null.
function hit_of(entry, term, anywhere) {
  const fields = fields_of(entry);
  let score = 0, place = -1;
  for (const name of ["tag", "title", "text"]) {
    const {count, first} = found(fields[name], term, anywhere);
    score += score_of_field(name, fields[name], count);
    if (name === "text") place = first;
  }
  return score ? [entry, score, place] : null;
}

// Entry -> {score, terms: {word: found}, places: where in the text}, of those that have a term.
function matches(terms) {
  const result = new Map();
  for (const term of terms) {
    for (const anywhere of [false, true]) {  // within words only where no word begins so
      const hits = [];
      for (const page of pages) {
        if (!page.all.includes(term.stem)) continue;
        for (const entry of page.entries) {
          const hit = hit_of(entry, term, anywhere);
          if (hit) hits.push(hit);
        }
      }
      const rarity = Math.log(1 + entry_count / (1 + hits.length));
      for (const [entry, score, place] of hits) {
        const match = result.get(entry) ?? {score: 0, terms: {}, places: []};
        match.score += score * rarity;
        match.terms[term.word] = true;
        if (place >= 0) match.places.push(place);
        result.set(entry, match);
      }
      if (hits.length) break;
    }
  }
  return result;
}

function ranked(terms) {
  const whole = terms.map(({word}) => word).join(" ");
  const result = matches(terms);
  for (const [entry, match] of result) {
    const share = Object.keys(match.terms).length / terms.length;
    if (fields_of(entry).tag.split("\n").includes(whole)) match.score += 1000;
    if (terms.length > 1 && entry.fields.title.includes(whole)) match.score *= 2;
    if (terms.length > 1 && entry.fields.text.includes(whole)) match.score *= 1.3;
    match.score *= share * share * (entry.is_page ? OF_PAGE : 1) * entry.page.boost;
    for (const {word} of terms) match.terms[word] ??= false;
  }
  return result;
}

const escaped = (text) => text.replace(/[&<>]/g, (letter) => ({"&": "&amp;", "<": "&lt;", ">": "&gt;"})[letter]);

function marked(text, terms) {
  const stems = terms.map(({stem}) => stem.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  if (!stems.length) return escaped(text);
  const one = new RegExp(`(?<![\\p{L}\\p{N}])(?:${stems.join("|")})[\\p{L}\\p{N}]*`, "giu");
  let out = "", end = 0;
  for (const match of text.matchAll(one)) {
    out += escaped(text.slice(end, match.index)) + `<mark>${escaped(match[0])}</mark>`;
    end = match.index + match[0].length;
  }
  return out + escaped(text.slice(end));
}

function excerpt(text, place) {
  let begin = place > EXCERPT / 2 ? text.lastIndexOf(" ", place - EXCERPT / 3) + 1 : 0;
  if (begin < 0) begin = 0;
  const end = text.length - begin <= EXCERPT ? text.length : text.lastIndexOf(" ", begin + EXCERPT);
  return (begin ? "… " : "") + text.slice(begin, Math.max(end, begin)) + (end < text.length ? " …" : "");
}

function shown(entry, match, terms) {
  const text = excerpt(entry.text, Math.min(...(match.places.length ? match.places : [0])));
  return {location: entry.location, title: marked(entry.title, terms), text: text && `<p>${marked(text, terms)}</p>`,
          score: match.score, terms: match.terms};
}

function suggested(terms) {
  const last = terms[terms.length - 1].word;
  const count = new Map();
  for (const entry of pages.flatMap(({all, entries}) => all.includes(last) ? entries : [])) {
    const {title} = fields_of(entry);
    if (!title.includes(last)) continue;
    for (const word of title.match(/[\p{L}\p{N}_]+/gu)) {
      if (word.startsWith(last)) count.set(word, (count.get(word) ?? 0) + entry.page.boost);
    }
  }
  const best = [...count].sort((one, other) => other[1] - one[1])[0];
  return best ? [...terms.slice(0, -1).map(({word}) => word), best[0]] : [];
}

function search(terms) {
  const groups = new Map();
  for (const [entry, match] of [...ranked(terms)].sort((one, other) => other[1].score - one[1].score)) {
    const {page} = entry;
    if (!groups.has(page) && groups.size === GROUPS_MAX) continue;
    if (!groups.has(page)) groups.set(page, []);
    if (groups.get(page).length < SECTIONS_MAX) groups.get(page).push([entry, match]);
  }
  const items = [...groups.values()].map((group) => {
    const page = group[0][0].page.entries[0];
    if (!group.some(([entry]) => entry === page)) group.push([page, {score: 0, terms: {}, places: []}]);
    return group.map(([entry, match]) => shown(entry, match, terms));
  });
  return {items, suggest: suggested(terms)};
}

let prepared = null;
async function prepare() {
  await importScripts("../search/texts.js");
  pages = read(self.__texts);
}

async function answer({type, data}) {
  if (type === 0) return {type: 1};
  const terms = terms_of(data);
  if (!terms.length) return {type: 3, data: {items: []}};  // the theme asks so for each page that is opened
  await (prepared ??= prepare());
  return {type: 3, data: search(terms)};
}

let newest = null;
addEventListener("message", async ({data}) => {
  if (data.type === "prepare") return void (prepared ??= prepare());
  newest = data;
  await new Promise((done) => setTimeout(done));
  if (newest === data) postMessage(await answer(data));  // a query that another one follows needs no answer
});

// SPDX-License-Identifier: Apache-2.0
