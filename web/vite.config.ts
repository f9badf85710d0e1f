import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

// `cardscope` embeds the built files: its build script names the folder. The server's policy forbids inline scripts and data: URLs
// of anything but pictures, so nothing is inlined.
export default defineConfig({
  plugins: [svelte()],
  build: {
    outDir: process.env.CARDSCOPE_WEB_OUT ?? 'dist',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  // `npm run dev` beside `cardscope serve`; the style of the published pages lies outside of this folder.
  server: {
    fs: { allow: ['..'] },
    proxy: { '/api': process.env.CARDSCOPE_API ?? 'http://127.0.0.1:7373' },
  },
});
