import js from "@eslint/js";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist/", "node_modules/"] },
  js.configs.recommended,
  {
    files: ["**/*.ts"],
    extends: [...tseslint.configs.strictTypeChecked, ...tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: { project: ["./tsconfig.json", "./webview/tsconfig.json", "./test/browser/tsconfig.json"], tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      "max-lines": ["error", { max: 300, skipBlankLines: true, skipComments: true }],
      "max-lines-per-function": ["error", { max: 60, skipBlankLines: true, skipComments: true }],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
      "@typescript-eslint/no-unused-vars": ["error", { varsIgnorePattern: "^_$", argsIgnorePattern: "^_$" }],
      // Ports are interfaces whose methods are written as methods; none of them uses `this`.
      "@typescript-eslint/unbound-method": "off",
      "no-restricted-properties": [
        "error",
        { property: "innerHTML", message: "Text of an agent never becomes HTML." },
        { property: "outerHTML", message: "Text of an agent never becomes HTML." },
        { property: "insertAdjacentHTML", message: "Text of an agent never becomes HTML." },
      ],
    },
  },
  // Control characters are what this file is about.
  { files: ["webview/pure/ansi.ts"], rules: { "no-control-regex": "off" } },
  {
    files: ["test/**/*.ts"],
    rules: {
      "@typescript-eslint/no-floating-promises": "off",
      "@typescript-eslint/no-non-null-assertion": "off",
      "max-lines-per-function": "off",
    },
  },
  {
    files: ["scripts/*.mjs", "test/support/*.mjs"],
    languageOptions: { globals: { process: "readonly", console: "readonly", URL: "readonly" } },
  },
);
