import { defineConfig } from 'vite';

export default defineConfig({
  build: {
    target: 'baseline-widely-available',
    // Every browser of the last years preloads modules by itself.
    modulePreload: { polyfill: false },
  },
});
