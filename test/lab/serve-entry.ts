import { runLabVerb } from "../../src/lab/serve.js";

process.exitCode = await runLabVerb(process.argv.slice(2));
