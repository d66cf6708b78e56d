/**
 * The view's id: the same question on the same basis in the same place of the same episode is the same view.
 */
import { canonicalJson, sha256 } from "../catalog/canonical.js";
import type { ViewId } from "../model/ids.js";
import type { JsonValue } from "../model/json.js";
import type { Basis, ViewRecord, ViewRequest } from "../model/view.js";

export interface ViewIdentity {
  readonly basis: Basis;
  readonly request: ViewRequest;
  readonly before: ViewRecord["before"];
  /** Only where the caller named it: it then shows in the body. */
  readonly episode: string | undefined;
}

export function viewId(identity: ViewIdentity): ViewId {
  const { basis, request, before, episode } = identity;
  // Members that are undefined are not part of the question; JSON drops them.
  const parts = JSON.parse(JSON.stringify({ basis, request, before, episode })) as JsonValue;
  return `vw_${sha256(canonicalJson(parts)).slice(0, 20)}` as ViewId;
}
