import { defineConfig } from 'vite';

export default defineConfig({
  build: {
    target: 'baseline-widely-available',
    // Every supported browser preloads modules natively.
    modulePreload: { polyfill: false },
  },
});
