// Node: undici (HTTP/1.1, and HTTP/2 over TLS) and ws. The packages are in the folder that is the third argument.
import { createRequire } from "node:module";

const [plain, secure, folder] = process.argv.slice(2);
const require = createRequire(folder + "/");
const { Agent, request } = require("undici");
const WebSocket = require("ws");

function check(holds, what) {
  if (!holds) {
    console.error(what);
    process.exit(1);
  }
}

async function ask(url, agent, name) {
  await Promise.all(Array.from({ length: 30 }, async (_, number) => {
    const content = Buffer.alloc(number * 5000, number);
    const reply = await request(url + "/echo", { method: "POST", body: content, dispatcher: agent });
    const echoed = Buffer.from(await reply.body.arrayBuffer());
    check(reply.statusCode === 200 && echoed.equals(content), `${name}: ${number}`);
  }));
  await agent.close();
  console.log(name, "30 echoes");
}

function talk(url, name) {
  return new Promise((resolve) => {
    const socket = new WebSocket(url, { rejectUnauthorized: false });
    let heard = 0;
    socket.on("open", () => {
      for (let number = 0; number < 100; ++number) socket.send("x".repeat(number * 500));
    });
    socket.on("message", (data) => {
      check(data.length === heard * 500, `${name}: message ${heard}`);
      if (++heard === 100) socket.close(1000, "enough");
    });
    socket.on("error", (error) => check(false, `${name}: ${error}`));
    socket.on("close", (code) => {
      check(heard === 100 && code === 1000, `${name}: ${heard} messages, ${code}`);
      console.log(name, "100 messages");
      resolve();
    });
  });
}

const connect = { rejectUnauthorized: false };
await ask(plain, new Agent(), "undici h1");
await ask(secure, new Agent({ connect }), "undici h1 tls");
await ask(secure, new Agent({ connect, allowH2: true }), "undici h2 tls");
await talk(plain.replace("http", "ws") + "/ws", "ws");
await talk(secure.replace("http", "ws") + "/ws", "ws tls");
