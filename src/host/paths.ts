/**
 * Names of files that come from outside: what may become a path below a folder of ours.
 *
 * One rule for every platform, since a home moves between them: what one system reads as a separator, a drive or a device is
 * refused on all.
 */

const PATH_CHARS = 400;
const DEPTH = 16;
const DEVICES = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?$/i;

/** Why a relative path may not be used, or undefined where it may. */
export function pathProblem(path: string): string | undefined {
  if (path === "") return "the name is empty";
  if (path.length > PATH_CHARS) return `the name has more than ${PATH_CHARS} characters`;
  if (path.includes("\\")) return "it has a backslash";
  if (path.startsWith("/")) return "it is absolute";
  if (/^[A-Za-z]:/.test(path)) return "it has a drive letter";
  if (/[\u0000-\u001f\u007f<>:"|?*]/.test(path)) return "it has a character that not every file system takes";
  if (/[\ud800-\udfff]/u.test(path)) return "it is not valid Unicode";
  const parts = path.split("/");
  if (parts.length > DEPTH) return `it is more than ${DEPTH} folders deep`;
  for (const part of parts) {
    if (part === "") return "it has an empty part";
    if (part === "." || part === "..") return "it leaves its folder";
    if (/[. ]$/.test(part)) return "a part ends in a dot or a space";
    if (DEVICES.test(part)) return `\`${part}\` is a device on Windows`;
  }
  return undefined;
}

/** Files whose name begins with a dot are other programs' business: version control, editors, our own temporary files. */
export function isDotPath(path: string): boolean {
  return path.split("/").some((part) => part.startsWith("."));
}
