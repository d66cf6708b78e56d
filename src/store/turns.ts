/** Turns: what runs one after the other, in the order it was asked for. A failure of one does not keep the next from running. */
export interface Turns {
  inTurn<Result>(run: () => Promise<Result>): Promise<Result>;
}

export function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  return {
    inTurn(run) {
      const result = last.then(run);
      last = result.catch(() => undefined);
      return result;
    },
  };
}
