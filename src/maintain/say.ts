/**
 * Words for skills: what a tool is for, in one sentence that may stand in a skill.
 *
 * Texts of upstreams are data. Where a tool's own texts speak to the model or hide something (the scan's grave findings), only its name
 * is said: such words are no description, and a skill would carry them on.
 */
import { isGrave, scanTool } from "../catalog/scan.js";
import type { Tool } from "../model/tool.js";

/** Do its texts only describe? */
export function isHonest(tool: Tool): boolean {
  return !scanTool(tool).some(isGrave);
}

/** One sentence about the tool, without angle brackets, at most `most` characters. */
export function sentenceAbout(tool: Tool, most: number): string {
  const said = isHonest(tool) ? firstSentence(tool.description) || (tool.title ?? "") : "";
  return shortened(plain(said.replace(/`/g, "'")) || `${capital(spoken(tool.name))}.`, most);
}

/** `cancel_order`, `cancelOrder` → `cancel order`. */
export function spoken(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/[^A-Za-z0-9]+/g, " ")
    .trim()
    .toLowerCase();
}

export function capital(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

export function shortened(text: string, most: number): string {
  const points = [...text];
  return points.length <= most ? text : `${points.slice(0, most - 1).join("")}…`;
}

function firstSentence(text: string): string {
  const line = text.split("\n").find((part) => part.trim() !== "") ?? "";
  return /^(.*?[.!?])(\s|$)/.exec(line.trim())?.[1] ?? line.trim();
}

/** The format's descriptions have no angle brackets. */
function plain(text: string): string {
  return text.replace(/</g, "(").replace(/>/g, ")").trim();
}
