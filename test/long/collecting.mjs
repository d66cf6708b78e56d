// Loaded before the daemon by tests that measure its memory: SIGUSR2 collects garbage. Needs --expose-gc.
process.on("SIGUSR2", () => {
  for (let n = 0; n < 4; n += 1) globalThis.gc();
});
