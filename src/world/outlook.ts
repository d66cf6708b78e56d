/** What a maintenance run would lead to, decided as it would be and kept nowhere. */
import type { Event } from "../model/event.js";
import type { MaintenanceReport } from "../model/maintenance.js";
import { decide } from "./decide.js";
import { applyChange } from "./known.js";
import type { Known, World } from "./world.js";

export interface Outlook {
  readonly report: MaintenanceReport;
  /** Library and standings after it; graph and indexes are still those of `world`, which is left as it is. */
  readonly after: World;
}

export function outlookOf(world: World, event: Extract<Event, { kind: "maintenance-proposed" }>): Outlook {
  const { changes, answer } = decide(world, event);
  const { library, standings } = changes.reduce<Known>(applyChange, world);
  return { report: answer["report"] as unknown as MaintenanceReport, after: { ...world, library, standings } };
}
