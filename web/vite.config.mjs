import { defineConfig } from "vite";

export default defineConfig({
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    // Inside the package that embeds it, so that the package builds by itself.
    outDir: "../crates/ramus-web/dist",
    emptyOutDir: true,
    target: "es2022",
    // These know `light-dark()`, with which every colour is written once.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: { output: { codeSplitting: false } },
  },
});
