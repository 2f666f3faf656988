// The page of the chat server: one document, no other host, no library.
//
// A user who cannot see it gets every line read (role="log"). Without scripts, the page tells the
// user what to do instead. Messages of others become part of the document only as text.
#pragma once

namespace katana::chat {

inline constexpr char chat_page[] = R"html(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>KATANA chat</title>
<style>
  :root { color-scheme: light dark; --line: #8885; --soft: #8882; --accent: #0b62c4; }
  @media (prefers-color-scheme: dark) { :root { --accent: #6cb2ff; } }
  * { box-sizing: border-box; }
  body { margin: 0 auto; font: 1rem/1.5 system-ui, sans-serif; display: grid; gap: .75rem;
         min-height: 100dvh; grid-template-rows: auto 1fr auto; max-width: 48rem; padding: 1rem; }
  header { display: flex; align-items: baseline; gap: 1rem; flex-wrap: wrap; }
  h1 { font-size: 1.25rem; margin: 0; }
  #state { margin: 0; }
  #log { border: 1px solid var(--line); border-radius: .5rem; padding: .75rem; overflow-y: auto;
         min-height: 12rem; max-height: 75dvh; overflow-wrap: anywhere; }
  :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
  #log p { margin: 0; white-space: pre-wrap; }
  #log p.server { font-style: italic; }
  #log p.refused { font-weight: 600; }
  #log p.own { background: var(--soft); }
  form { display: grid; grid-template-columns: 1fr auto; gap: .5rem; }
  label { grid-column: 1 / -1; }
  input, button { font: inherit; padding: .5rem .75rem; border: 1px solid var(--line);
                  border-radius: .5rem; min-width: 0; }
  button { background: var(--accent); color: Canvas; border-color: transparent; cursor: pointer; }
  button[disabled] { opacity: .5; cursor: not-allowed; }
</style>
</head>
<body>
<header>
  <h1>KATANA chat</h1>
  <p id="state" role="status">Connecting…</p>
</header>
<main id="log" role="log" aria-label="What is said" tabindex="0"></main>
<form id="say">
  <label for="line">Your line (/join ROOM, /who, /nick NAME, /leave, /quit)</label>
  <input id="line" name="line" autocomplete="off" maxlength="2000" required autofocus>
  <button id="send" disabled>Send</button>
</form>
<noscript><p>This page needs JavaScript. The same chat is spoken in lines over TCP, for which
<code>nc</code> is enough.</p></noscript>
<script>
"use strict";
const log = document.getElementById("log"), state = document.getElementById("state");
const line = document.getElementById("line"), button = document.getElementById("send");
const linesMax = 1000;
let socket, wait = 500, over = false;

function show(text, kind) {
  const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
  const p = document.createElement("p");
  p.textContent = text;
  if (kind) p.className = kind;
  log.append(p);
  while (log.childElementCount > linesMax) log.firstElementChild.remove();
  if (atEnd) log.scrollTop = log.scrollHeight;
}

function connect() {
  const scheme = location.protocol === "https:" ? "wss://" : "ws://";
  socket = new WebSocket(scheme + location.host + "/chat");
  socket.onopen = () => {
    state.textContent = "Connected, in room lobby.";
    button.disabled = false;
    wait = 500;
  };
  socket.onmessage = (event) => {
    for (const text of event.data.split("\n")) {
      if (!text) continue;
      show(text, text.startsWith("* ") ? "server" : text.startsWith("! ") ? "refused" : "");
      const room = text.match(/^\* You are in room (.*)\.$/);
      if (room) state.textContent = "Connected, in room " + room[1] + ".";
    }
  };
  socket.onclose = (event) => {
    button.disabled = true;
    const why = event.reason ? " (" + event.reason + ")" : "";
    state.textContent = over ? "You have left. Reload the page to come back."
      : "Not connected" + why + ". Trying again…";
    if (!over) setTimeout(connect, wait);
    wait = Math.min(wait * 2, 15000);
  };
}

document.getElementById("say").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = line.value.trim();
  if (!text || socket.readyState !== WebSocket.OPEN) return;
  over = text === "/quit";
  socket.send(text);
  const isMessage = !text.startsWith("/") || text.startsWith("//");
  if (isMessage) show("you: " + text.replace(/^\/\//, "/"), "own");
  line.value = "";
  line.focus();
});
connect();
</script>
</body>
</html>
)html";

}  // namespace katana::chat

// SPDX-License-Identifier: Apache-2.0
