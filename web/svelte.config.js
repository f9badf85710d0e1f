import { vitePreprocess } from '@sveltejs/vite-plugin-svelte';

export default {
  preprocess: vitePreprocess(),
  compilerOptions: {
    runes: true,
    // The published pages' style shades cells whose class begins with `s`; so do Svelte's own names.
    cssHash: ({ hash, css }) => `app-${hash(css)}`,
  },
};
