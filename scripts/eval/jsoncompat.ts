/**
 * The `jsoncompat` package, asked from outside.
 *
 * Every question costs it about a megabyte that it never gives back, and after some three thousand it fails on everything. So it
 * lives in a thread of its own that is replaced in time; the caller waits for the answer as for any function.
 */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from "node:worker_threads";

/** Who reads: what a `deserializer` took it must go on taking; what a `serializer` wrote others must go on understanding. */
export type Role = "deserializer" | "serializer";

const QUESTIONS_PER_THREAD = 300;
const PATIENCE_MS = 60_000;

const THREAD = `
const { workerData } = require("node:worker_threads");
const { readFileSync } = require("node:fs");
const { port, turn, module, wasm } = workerData;
const ready = import(module).then((oracle) => (oracle.initSync({ module: readFileSync(wasm) }), oracle));
port.on("message", async ([before, after, role]) => {
  let answer;
  try {
    answer = { accepts: (await ready).check_compat(before, after, role) };
  } catch (fault) {
    answer = { fault: String(fault), broken: fault instanceof WebAssembly.RuntimeError };
  }
  port.postMessage(answer);
  Atomics.store(turn, 0, 1);
  Atomics.notify(turn, 0);
});`;

interface Answer {
  readonly accepts?: boolean;
  readonly fault?: string;
  /** It failed, instead of refusing a schema. */
  readonly broken?: boolean;
}

class Thread {
  asked = 0;
  readonly #port: MessagePort;
  readonly #turn = new Int32Array(new SharedArrayBuffer(4));
  readonly #worker: Worker;

  constructor() {
    const { port1, port2 } = new MessageChannel();
    const file = createRequire(import.meta.url).resolve("jsoncompat");
    this.#port = port1;
    this.#port.unref();
    this.#worker = new Worker(THREAD, {
      eval: true,
      workerData: { port: port2, turn: this.#turn, module: pathToFileURL(file).href, wasm: file.replace(/\.js$/, "_bg.wasm") },
      transferList: [port2],
    });
    this.#worker.unref();
  }

  ask(before: string, after: string, role: Role): Answer {
    this.asked += 1;
    Atomics.store(this.#turn, 0, 0);
    this.#port.postMessage([before, after, role]);
    if (Atomics.wait(this.#turn, 0, 0, PATIENCE_MS) === "timed-out") return { fault: "no answer in a minute", broken: true };
    return receiveMessageOnPort(this.#port)?.message as Answer;
  }

  end(): void {
    this.#port.close();
    void this.#worker.terminate();
  }
}

let thread: Thread | undefined;

/**
 * Does the oracle hold that `after` is compatible with `before`? undefined where it cannot read one of the schemas.
 *
 * @throws Error where it failed by itself: that is no opinion about the schemas.
 */
export function asksJsoncompat(before: string, after: string, role: Role): boolean | undefined {
  if (thread !== undefined && thread.asked >= QUESTIONS_PER_THREAD) {
    thread.end();
    thread = undefined;
  }
  thread ??= new Thread();
  const { accepts, fault, broken } = thread.ask(before, after, role);
  if (broken !== true) return accepts;
  thread.end();
  thread = undefined;
  throw new Error(`jsoncompat failed (${fault ?? "for no reason given"}) on ${before} → ${after}`);
}
