import { defineConfig } from 'vite';

export default defineConfig({
  build: {
    target: 'baseline-widely-available',
    // No polyfill, because every supported browser preloads modules natively.
    modulePreload: { polyfill: false },
  },
});
