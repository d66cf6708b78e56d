/**
 * All routes of `/v1`.
 *
 * Owns: the table; each row is one operation.
 * Speaks: schemas of model/ for bodies, of answers.ts for answers.
 * Never: more than one operation in a row, or anything an operation should decide.
 */
import type { Route } from "./route.js";
import { catalogRoutes } from "./routes-catalog.js";
import { facadeRoutes } from "./routes-facade.js";
import { skillRoutes } from "./routes-skills.js";
import { workRoutes } from "./routes-work.js";

/** Every route below `/v1`, except the OpenAPI document itself. */
export const ROUTES: readonly Route[] = [...facadeRoutes, ...catalogRoutes, ...skillRoutes, ...workRoutes];
