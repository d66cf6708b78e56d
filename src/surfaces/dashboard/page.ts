/**
 * The dashboard at `/`: one page, no assets, nothing that `/v1` does not answer.
 *
 * Owns: its HTML, style and script, and the content policy that allows only these.
 * Speaks: `/v1` by fetch, with a token that the reader types in where the daemon wants one.
 * Never: builds HTML from data: names, texts and reasons come from other people's servers and are set as text only.
 */
import { createHash } from "node:crypto";

const STYLE = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); --soft: color-mix(in srgb, currentColor 62%, transparent); }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1.25rem; font: 15px/1.45 system-ui, sans-serif; }
header { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: baseline; }
h1 { font-size: 1.25rem; margin: 0; }
h2 { font-size: 1rem; margin: 1.75rem 0 .5rem; }
#line, .soft { color: var(--soft); }
form { margin-left: auto; }
input { font: inherit; padding: .15rem .4rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; white-space: pre-line; }
th { font-weight: 600; color: var(--soft); white-space: nowrap; }
td.n { text-align: right; font-variant-numeric: tabular-nums; }
.good::before, .bad::before, .warn::before { content: ""; display: inline-block; width: .6em; height: .6em; border-radius: 50%; margin-right: .45em; }
.good::before { background: #2a9d55; } .warn::before { background: #d29922; } .bad::before { background: #d1453b; }
.none { color: var(--soft); font-style: italic; }
#trouble { color: #d1453b; }
`;

const SCRIPT = `
"use strict";
const at = (id) => document.getElementById(id);
const visible = (text) => String(text ?? "").replace(/[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u2069\\ufeff]|[\\udb40][\\udc00-\\udc7f]/g, (c) => "\\\\u{" + c.codePointAt(0).toString(16) + "}");
let token = sessionStorage.getItem("token") ?? "";
async function ask(path) {
  const response = await fetch("/v1/" + path, { headers: token === "" ? {} : { authorization: "Bearer " + token } });
  if (response.status === 401) { at("login").hidden = false; throw new Error("A token is needed."); }
  const body = await response.json();
  if (!response.ok) throw new Error(body.detail ?? body.title ?? response.statusText);
  return body;
}
function fill(id, columns, rows) {
  const table = at(id);
  table.replaceChildren();
  if (rows.length === 0) { const none = document.createElement("caption"); none.className = "none"; none.textContent = "nothing yet"; table.append(none); return; }
  const head = table.createTHead().insertRow();
  for (const [name] of columns) { const cell = document.createElement("th"); cell.textContent = name; head.append(cell); }
  const body = table.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    for (const [, text, style] of columns) { const cell = line.insertCell(); cell.textContent = visible(text(row)); const name = style?.(row); if (name) cell.className = name; }
  }
}
const when = (time) => new Date(time).toLocaleString();
const number = () => "n";
const presence = { up: "good", idle: "good", connecting: "warn", away: "bad", parked: "bad", disabled: "soft" };
function why(standing) {
  if (standing.standing === "active" && !standing.needsReview) return standing.safeByUsage ? "safe by usage" : "";
  return standing.reasons.map((reason) => reason.rule + " " + reason.on + ": " + reason.text + (reason.way ? "\\n\\u2192 " + reason.way : "")).join("\\n") || (standing.because ?? "");
}
async function draw() {
  const [health, upstreams, versions, skills, reports] = await Promise.all([ask("health"), ask("upstreams").catch(() => []), ask("catalog/versions"), ask("skills"), ask("maintenance")]);
  at("line").textContent = visible((health.ready ? "ready" : "starting") + " \\u00b7 catalog " + health.catalog + " \\u00b7 library " + health.library + " \\u00b7 " + health.tools + " tools \\u00b7 " + health.skills.active + " skills active, " + health.skills.inactive + " inactive \\u00b7 since " + when(health.started));
  fill("problems", [["Where", (p) => p.where], ["Problem", (p) => p.text]], health.problems);
  fill("upstreams", [["Upstream", (u) => u.label], ["Presence", (u) => u.presence.state + (u.presence.reason ? ": " + u.presence.reason : ""), (u) => presence[u.presence.state]], ["Server", (u) => (u.server ? u.server.name + " " + u.server.version : "")], ["Era", (u) => u.era ?? ""], ["Calls", (u) => u.calls, number], ["Failures", (u) => u.failures, number]], upstreams);
  fill("catalog", [["Version", (v) => v.version, number], ["Time", (v) => (v.damaged ? "" : when(v.time))], ["Cause", (v) => (v.damaged ? "damaged: " + v.damaged : v.cause)], ["Tools", (v) => v.tools, number], ["Added", (v) => v.added, number], ["Removed", (v) => v.removed, number], ["Changed", (v) => v.changed, number]], [...versions].sort((a, b) => b.version - a.version).slice(0, 20));
  fill("skills", [["Skill", (s) => s.name], ["Tier", (s) => s.tier], ["Standing", (s) => s.standing.standing + (s.standing.needsReview ? ", needs review" : "") + (s.pinned ? ", pinned" : ""), (s) => (s.standing.standing === "active" ? (s.standing.needsReview ? "warn" : "good") : "bad")], ["Reason", (s) => why(s.standing)]], skills);
  fill("reports", [["Run", (r) => r.id], ["Time", (r) => when(r.at)], ["Mode", (r) => r.mode + (r.dryRun ? ", dry run" : "")], ["Applied", (r) => r.applied.length, number], ["Skipped", (r) => (r.skipped ?? []).length, number], ["Proposed", (r) => r.proposed.length, number], ["Refused", (r) => r.refused.length, number], ["Revived", (r) => r.revived.join(", ")], ["Still inactive", (r) => r.stillInactive.map((s) => s.skill + ": " + s.reason + (s.tried ? " " + s.tried : "") + (s.way ? " \\u2192 " + s.way : "")).join("\\n")]], reports.slice(0, 10));
}
async function turn() {
  try { await draw(); at("trouble").textContent = ""; at("login").hidden = true; } catch (error) { at("trouble").textContent = visible(error.message); }
}
at("login").addEventListener("submit", (event) => { event.preventDefault(); token = at("token").value.trim(); sessionStorage.setItem("token", token); void turn(); });
void turn();
setInterval(() => { if (!document.hidden) void turn(); }, 5000);
`;

const SECTIONS: readonly [string, string][] = [
  ["problems", "Problems"],
  ["upstreams", "Upstreams"],
  ["catalog", "Catalog"],
  ["skills", "Skills"],
  ["reports", "Maintenance"],
];

function hash(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

/** The page, and the Content-Security-Policy it is served with. */
export function dashboardPage(version: string): { readonly html: string; readonly policy: string } {
  const sections = SECTIONS.map(([id, title]) => `<h2>${title}</h2><table id="${id}"></table>`).join("\n");
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>STEWARD</title>
<style>${STYLE}</style>
</head>
<body>
<header><h1>STEWARD</h1><span class="soft">${version.replace(/[^\w.+-]/g, "")}</span><span id="line"></span>
<form id="login" hidden><label>Token <input id="token" type="password" autocomplete="off"></label> <button>Use</button></form></header>
<p id="trouble" role="alert"></p>
${sections}
<script>${SCRIPT}</script>
</body>
</html>
`;
  const policy = [
    "default-src 'none'",
    `script-src ${hash(SCRIPT)}`,
    `style-src ${hash(STYLE)}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
  return { html, policy };
}
