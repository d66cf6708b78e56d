/**
 * The scan's rules: what speaks to the model over the user's head.
 *
 * Owns: patterns with their severity and reason.
 * Speaks: one text, hidden characters removed, spaces joined.
 * Never: where a text stands or what becomes of the tool.
 *
 * Every gap in a pattern is bounded, so that an upstream's text costs linear time. Measured over 43,000 listed tools of public
 * catalogs: words that honest tools use (`always call this first`, `the assistant must …`) are notes; what none of them uses holds.
 */
export type ScanSeverity = "hold" | "note";

export type ScanCode =
  | "hidden-tags"
  | "hidden-direction"
  | "hidden-terminal"
  | "hidden-characters"
  | "override-instructions"
  | "keep-from-user"
  | "skip-consent"
  | "hidden-block"
  | "read-secrets"
  | "send-elsewhere"
  | "ask-context"
  | "steer-other-tool"
  | "call-first"
  | "prefer-itself"
  | "speaks-to-model";

export interface ScanRule {
  readonly code: ScanCode;
  readonly severity: ScanSeverity;
  readonly says: string;
  readonly pattern: RegExp;
}

/** Places that hold secrets and that no honest tool asks a model to read. */
const SECRET_PLACE = [
  String.raw`\.ssh\b`,
  String.raw`\bid_(?:rsa|dsa|ed25519|ecdsa)\b`,
  String.raw`\.aws[\\/]`,
  String.raw`[\\/]etc[\\/](?:passwd|shadow)\b`,
  String.raw`\.(?:netrc|npmrc|pypirc|pgpass|git-credentials|gnupg|htpasswd)\b`,
  String.raw`\.kube[\\/]config\b`,
  String.raw`\.(?:cursor|claude|codex)[\\/]`,
  String.raw`\b(?:mcp|claude_desktop_config)\.json\b`,
].join("|");
/** Secrets that honest tools take as parameters: asking for them counts only together with handing them over. */
const SECRET_THING = String.raw`(?<![\w.])\.env\b|\b(?:ssh|private|api|access) keys?\b|\bkeychain\b|\bpasswords?\b|\bcredentials\b|\benvironment variables\b`;
const TAKE =
  "(?:read|open|cat|load|fetch|get|copy|print|include|attach|append|pass|send|provide|supply|submit|upload|extract|find)";
const HAND_OVER = "(?:pass|send|include|provide|put|append|attach|submit|insert|write|paste|supply)";
const PERSON = "(?:user|human|operator|person|customer)s?";

export const SCAN_RULES: readonly ScanRule[] = [
  {
    code: "override-instructions",
    severity: "hold",
    says: "tells the model to set other instructions aside",
    pattern:
      /\b(?:ignore|disregard|forget|override|bypass)\b[^.]{0,40}\b(?:previous|prior|above|earlier|preceding|other|system|your|all|any)\b[^.]{0,30}\b(?:instructions?|prompts?|guidelines|directives|guardrails|safety rules)\b|\byou are now\b[^.]{0,40}\b(?:mode|unrestricted|jailbroken|free|called|an?)\b|\b(?:developer|god|dan) mode\b[^.]{0,20}\b(?:enabled|on|active)\b|\bdo anything now\b|\bnew (?:system )?instructions\s*:/i,
  },
  {
    code: "keep-from-user",
    severity: "hold",
    says: "tells the model to keep something from the user",
    pattern: new RegExp(
      String.raw`\b(?:do not|don'?t|never|must not|should not|without|avoid)\s+(?:\w+ly\s+)?(?:tell|inform|notify|alert|warn|mention|reveal|disclose|show|say|report)(?:ing)?\b[^.]{0,60}\b${PERSON}\b` +
        String.raw`|\b(?:keep|hide|conceal)\b[^.]{0,40}\bfrom (?:the |your )?${PERSON}\b` +
        String.raw`|\b(?:silently|secretly|covertly|quietly|discreetly)\s+(?:also\s+)?(?:send|copy|forward|include|add|read|call|pass|upload|bcc|append|post|fetch|execute|run)\b` +
        String.raw`|\b${PERSON} (?:must not|should not|does not need to|need not|is not to) (?:know|see|be told|notice)\b`,
      "i",
    ),
  },
  {
    code: "skip-consent",
    severity: "hold",
    says: "tells the model not to ask the user",
    pattern: new RegExp(
      String.raw`\b(?:do not|don'?t|never)\s+(?:ask|request|seek|wait for|require)\b[^.]{0,40}\b(?:${PERSON}\b[^.]{0,30}\b)?(?:permission|confirmation|approval|consent)\b`,
      "i",
    ),
  },
  {
    code: "hidden-block",
    severity: "hold",
    says: "opens a block that only a model reads",
    pattern:
      /<\/?\s*(?:important|system|secret|hidden|admin|critical|assistant)(?:\s[^>]{0,40})?>|<\|(?:im_start|im_end|system|user|assistant|endoftext)\|?>|\[\/?(?:INST|SYSTEM|SYS)\]|<<\/?SYS>>|<!--[^>]{0,400}\b(?:must|always|never|ignore|call|read|send|tool)\b/i,
  },
  {
    code: "read-secrets",
    severity: "hold",
    says: "asks the model to read or hand over secrets",
    pattern: new RegExp(
      String.raw`\b${TAKE}\b[^;]{0,80}(?:${SECRET_PLACE})|\b${TAKE}\b[^.]{0,60}(?:${SECRET_THING})[^.]{0,30}(?:[.;,]?\s*(?:and|then|to)\s+)${HAND_OVER}\b[^.]{0,60}\b(?:as|in|into|to|with|here|it|them|parameter|argument|field)\b`,
      "i",
    ),
  },
  {
    code: "send-elsewhere",
    severity: "hold",
    says: "tells the model to send something elsewhere as well",
    pattern:
      /\b(?:also|always|must|additionally|secretly|in addition|every time|automatically)\b[^.;]{0,40}\b(?:send|forward|bcc|cc|copy|post|upload|transmit|e-?mail)\b[^;]{0,60}(?:\bhttps?:\/\/|[\w.+-]{1,64}@[\w-]{1,64}\.\w)/i,
  },
  {
    code: "ask-context",
    severity: "hold",
    says: "asks for the conversation or the model's own instructions",
    pattern: new RegExp(
      String.raw`\b${HAND_OVER}\b[^.]{0,60}\b(?:your (?:system|initial|hidden|own|original|full|entire|current|internal) (?:\w+ )?(?:prompts?|instructions)|the system prompt|(?:entire|full|whole|complete) (?:conversation|chat)(?: history)?|all (?:previous|prior|earlier) (?:messages|tool results)|(?:names|list) of (?:all )?(?:your|the other|other) tools)\b`,
      "i",
    ),
  },
  {
    code: "call-first",
    severity: "note",
    says: "asks to be called before others",
    pattern: /\b(?:always|must|should)\b[^.]{0,30}\b(?:call|use|run|invoke|execute)(?:ed|d)?\b[^.]{0,60}\b(?:first|before)\b/i,
  },
  {
    code: "prefer-itself",
    severity: "note",
    says: "asks to be used in place of other tools",
    pattern:
      /\binstead of\b[^.]{0,40}\btools?\b|\b(?:do not|don'?t|never) (?:use|call)\b[^.]{0,30}\bother\b[^.]{0,20}\btools?\b/i,
  },
  {
    code: "speaks-to-model",
    severity: "note",
    says: "speaks to the model",
    pattern: /\b(?:assistant|AI|model|LLM|agent|claude|gpt|copilot)\s+(?:must|should|shall|has to|needs to|is required to)\b/i,
  },
];
