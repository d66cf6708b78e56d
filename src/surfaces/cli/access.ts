/**
 * Access: how a CLI verb reaches STEWARD.
 *
 * Every verb speaks `/v1`. Where a daemon runs on the home, it is asked; where none does, one is composed for the length of the verb
 * (with the home's lock, without a public address). So a verb is written once and means the same in both cases.
 */
import type { JsonValue } from "../../model/json.js";
import { FAULTS, type FaultCode } from "../../model/fault.js";
import type { Foresight } from "../../model/foresight.js";
import type { Problem } from "../../model/problem.js";
import type { CatalogComparison } from "../../world/compare.js";
import type { Print } from "../../host/print.js";

export interface Access {
  /** Answers the parsed body; throws a CliFault for problem answers. */
  ask(method: "GET" | "POST", path: string, body?: JsonValue): Promise<JsonValue>;
  /** The same for long work: `tell` hears its `progress` until the answer is there. */
  follow(
    method: "GET" | "POST",
    path: string,
    body: JsonValue | undefined,
    tell: (progress: JsonValue) => void,
  ): Promise<JsonValue>;
  askText(path: string): Promise<string>;
  /** Whether a daemon was there already. */
  readonly running: boolean;
  readonly url: string;
  readonly home: string;
  close(): Promise<void>;
}

export interface AccessNeeds {
  /** The verb calls or lists upstreams: without a daemon they must be started for it. */
  readonly upstreams: boolean;
}

/** What the composition gives the CLI; the CLI itself opens no home and starts no daemon. */
export interface CliPorts {
  readonly print: Print;
  readonly version: string;
  /** The folder that relative paths are meant from. */
  readonly cwd: string;
  openAccess(home: string | undefined, needs: AccessNeeds): Promise<Access>;
  /** Runs the daemon until it is stopped; resolves with the exit code. */
  serve(options: ServeFlags): Promise<number>;
  stdio(options: { home?: string; own: boolean; direct: boolean }): Promise<number>;
  /** Prepares a home; answers what was done, line by line. */
  init(options: { home?: string; from?: string[]; dryRun: boolean }): Promise<readonly string[]>;
  /** Moves the sample ecosystem; answers the version before and after. */
  evolve(options: { home?: string; to?: number }): Promise<Evolved>;
  doctor(options: { home?: string }): Promise<readonly DoctorLine[]>;
  /** What the library would be like against something else; reads the home and starts nothing but the servers named there. */
  check(options: CheckFlags): Promise<CheckAnswer>;
  /** Two sides, each a version of the home or a catalog file. */
  compare(options: CompareFlags): Promise<Comparison>;
  /** Skill folders of others, below folders or in git repositories; without sources the places that clients keep theirs in. */
  findSkills(options: { sources: readonly string[]; ref?: string }): Promise<FoundSkills>;
  /** Asks the person at the terminal; undefined where nobody sits at one. */
  confirm(question: string): Promise<boolean | undefined>;
  /** A text file; a name ending in `.gz` is unpacked. */
  readText(path: string): Promise<string>;
  /** Writes one file where the user says; throws where it cannot. */
  writeText(path: string, text: string): Promise<void>;
  /** Brings a client's skill folder to exactly these skills of ours; leaves everything else in it alone. */
  handOut(
    path: string,
    skills: Readonly<Record<string, Readonly<Record<string, string>>>>,
    /** As given by `--home`: nothing is handed out into it. */
    home: string | undefined,
  ): Promise<HandedOut>;
}

/** What became of a move of the sample shop. */
export interface Evolved {
  /** Versions of the shop. */
  readonly before: number;
  readonly after: number;
  readonly last: number;
  /** Where a daemon runs: its catalog versions before and after, and what came of listing the servers that follow the move. */
  readonly catalog?: {
    readonly from: number;
    readonly to: number;
    readonly results: readonly { readonly label: string; readonly ok: boolean; readonly reason?: string }[];
  };
}

export interface ServeFlags {
  readonly home?: string;
  readonly port?: number;
  readonly host?: string;
  /** Where the port is taken, another one will do. */
  readonly anyPort: boolean;
  readonly starter: boolean;
  readonly logLevel?: string;
}

export interface CheckFlags {
  readonly home?: string;
  /** Path of an mcpServers file or a catalog file, or the number of a version. */
  readonly against: string;
  /** Label of a catalog file's tools that name no server. */
  readonly label?: string;
  /** Upstreams that are not named stay as they are. */
  readonly keepOthers: boolean;
}

export interface CheckAnswer extends Foresight {
  readonly against: string;
  readonly home: string;
  /** Servers that could not be listed: their tools count as they are in the catalog. */
  readonly unlisted: readonly { readonly label: string; readonly reason: string }[];
  readonly problems: readonly Problem[];
}

export interface CompareFlags {
  readonly home?: string;
  /** Path of a catalog file, or the number of a version; `to` absent: the present version. */
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly label?: string;
}

export interface Comparison extends CatalogComparison {
  readonly from: string;
  readonly to: string;
  readonly problems: readonly Problem[];
}

export interface FoundSkills {
  /** In the order found: earlier ones win. `origin` says where it comes from, a repository with its commit. */
  readonly folders: readonly {
    readonly folder: string;
    readonly origin: string;
    readonly files: Readonly<Record<string, string>>;
  }[];
  /** What was passed over, and why. */
  readonly problems: readonly Problem[];
  /** Where was looked. */
  readonly looked: readonly string[];
}

export interface HandedOut {
  readonly written: readonly string[];
  /** Handed out before and not among these: taken away again. */
  readonly removed: readonly string[];
  /** Folders that are not ours, or that somebody changed since: left as they are. */
  readonly problems: readonly Problem[];
}

export interface DoctorLine {
  readonly ok: boolean | "warn";
  readonly what: string;
  readonly text: string;
}

/** A problem answer of `/v1`, or a wrong use: shown as one line, with its exit code. */
export class CliFault extends Error {
  readonly exit: number;
  readonly problem: JsonValue | undefined;
  constructor(message: string, exit = 1, problem?: JsonValue) {
    super(message);
    this.name = "CliFault";
    this.exit = exit;
    this.problem = problem;
  }
}

/** Asked rightly, and refused for what the home or the rights are like. */
const REFUSED: ReadonlySet<string> = new Set<FaultCode>([
  "call-cancelled",
  "approval-stale",
  "edit-refused",
  "skill-pinned",
  "unauthorized",
  "forbidden",
  "host-refused",
]);

/** What was asked could not be meant (a wrong value, a name of nothing) or is for the operator to set right: usage. All else failed. */
export function exitOf(code: string | undefined): number {
  const entry = Object.entries(FAULTS).find(([known]) => known === code);
  if (entry === undefined || REFUSED.has(entry[0])) return EXIT.failed;
  return entry[1].blame === "caller" ? EXIT.usage : EXIT.failed;
}

export const EXIT = Object.freeze({ fine: 0, failed: 1, usage: 2, review: 10, inactive: 11, safety: 12 });
