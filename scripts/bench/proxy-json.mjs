// A minimal pass-through proxy, stdio to stdio, that parses each message and gives it an id of its own, as every multiplexing proxy must.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const [command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const waiting = new Map();
let next = 0;
createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.id !== undefined && message.method !== undefined) {
    waiting.set(++next, message.id);
    message.id = next;
  }
  child.stdin.write(`${JSON.stringify(message)}\n`);
});
createInterface({ input: child.stdout }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.id !== undefined && message.method === undefined) {
    const id = waiting.get(message.id);
    waiting.delete(message.id);
    message.id = id;
  }
  process.stdout.write(`${JSON.stringify(message)}\n`);
});
process.stdin.on("end", () => child.kill());
child.on("exit", (code) => process.exit(code ?? 0));
