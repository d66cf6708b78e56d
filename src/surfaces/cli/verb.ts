/** What every verb is built on: the program, the ports, and access to a daemon. */
import type { Command } from "commander";
import type { Access, AccessNeeds, CliPorts } from "./access.js";

export interface Verbs {
  readonly program: Command;
  readonly ports: CliPorts;
  /** Wants JSON on stdout. */
  json(): boolean;
  home(): string | undefined;
  /** Runs a verb with access and remembers its exit code (the highest wins). */
  withAccess(needs: AccessNeeds, work: (access: Access) => Promise<number | void>): Promise<void>;
  exit(code: number): void;
}
