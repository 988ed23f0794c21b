// Bundles the extension and its webview into dist/.
import { build } from "esbuild";

const production = !process.argv.includes("--debug");
const common = { bundle: true, minify: production, sourcemap: production ? false : "inline", logLevel: "warning" };

await Promise.all([
  build({
    ...common,
    entryPoints: ["src/extension.ts"],
    outfile: "dist/extension.cjs",
    platform: "node",
    target: "node20",
    format: "cjs",
    external: ["vscode"],
  }),
  build({
    ...common,
    entryPoints: { webview: "webview/main.ts", "webview-style": "webview/style.css" },
    outdir: "dist",
    platform: "browser",
    target: "chrome120",
    format: "iife",
  }),
]);
