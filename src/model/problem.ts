/**
 * Problems: imperfect input, as data beside the value that could still be read.
 *
 * Owns: the shape in which every room reports what it did not like.
 * Speaks: plain text for people.
 * Never: thrown; what cannot be answered at all is a Fault (fault.ts).
 */
export interface Problem {
  /** Stable machine name, kebab-case, e.g. `tool-without-name`. */
  readonly code: string;
  /** What it is about: a file, a tool key, a field path. */
  readonly where: string;
  /** One sentence: what is wrong and the way out. */
  readonly text: string;
}
