/** Help of the measures: what a script's header says is what `--help` says, and no option is taken that it does not name. */
import { readFileSync } from "node:fs";

/** The text of a script's first comment, without its marks. */
export function headerOf(path: string): string {
  const comment = /\/\*\*([\s\S]*?)\*\//.exec(readFileSync(path, "utf8"))?.[1] ?? "";
  return comment
    .split("\n")
    .map((line) => line.replace(/^ ?\*? ?/, "").trimEnd())
    .join("\n")
    .trim();
}

export function wantsHelp(args: readonly string[]): boolean {
  return args.includes("--help") || args.includes("-h");
}

/** The first option that a header does not name; undefined where it names all. */
export function unknownOption(args: readonly string[], header: string): string | undefined {
  const named = new Set(header.match(/--[a-z][a-z-]*/g) ?? []);
  return args.map((arg) => arg.replace(/=.*$/, "")).find((arg) => /^--?[a-z]/.test(arg) && !named.has(arg));
}

/** Whoever reads stdout may stop early (`| head`): what is left need not be measured, and that is no failure. */
export function endWithReader(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
}
