import { defineConfig } from "vitest/config";

export default defineConfig({
  // Django serves what is built here under STATIC_URL.
  base: "/static/",
  build: {
    outDir: "dist",
    emptyOutDir: true,
    manifest: "manifest.json",
    // The Content Security Policy allows no inline script: nothing is turned into one.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: {
      input: {
        site: "src/site.ts",
        chat: "src/chat.ts",
        latency: "src/latency.ts",
      },
    },
  },
  test: { environment: "jsdom", include: ["tests/**/*.test.ts"] },
});
