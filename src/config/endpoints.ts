/**
 * Addresses and models of configured endpoints: what could never be asked is refused as it is read, not at each need.
 */

/** What an endpoint of an OpenAI-style API is configured by, variables filled in. */
export interface EndpointTexts {
  readonly baseUrl: string;
  readonly model: string;
}

/** What is wrong by member, with the way out; empty where a request can be made of it. */
export function endpointMistakes({ baseUrl, model }: EndpointTexts): { member: keyof EndpointTexts; text: string }[] {
  const wrong = addressMistake(baseUrl);
  return [
    ...(wrong === undefined ? [] : [{ member: "baseUrl" as const, text: wrong }]),
    ...(model.trim() === "" ? [{ member: "model" as const, text: "It is empty; name the model that the endpoint serves." }] : []),
  ];
}

const SHAPE = 'write the endpoint\'s base, as in "http://127.0.0.1:11434/v1"';

/** Never quotes the address: it may hold a password. */
function addressMistake(text: string): string | undefined {
  const unset = /\$\{[^}]*\}/.exec(text)?.[0];
  if (unset !== undefined) return `${unset} has no value; set the variable, or give a default as in \${NAME:-value}.`;
  if (!URL.canParse(text)) return `It is no address; ${SHAPE}.`;
  const { protocol, username, password, search, hash } = new URL(text);
  if (protocol !== "http:" && protocol !== "https:")
    return `It begins with ${protocol}; only http and https are asked; ${SHAPE}.`;
  if (username !== "" || password !== "")
    return "It holds a user or a password; put the key into a variable and name that in apiKeyEnv.";
  if (search !== "" || hash !== "") return `It goes on behind the path (? or #), which requests are appended to; ${SHAPE}.`;
  return undefined;
}
