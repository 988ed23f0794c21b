// Lets tests import the module "vscode": a thin stand-in of the parts of the editor's API that they call.
import { registerHooks } from "node:module";

const standIn = new URL("./vscode.ts", import.meta.url).href;

registerHooks({
  resolve(specifier, context, next) {
    return specifier === "vscode" ? { url: standIn, shortCircuit: true } : next(specifier, context);
  },
});
