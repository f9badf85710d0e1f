import js from '@eslint/js';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import ts from 'typescript-eslint';
import config from './svelte.config.js';

export default ts.config(
  { ignores: ['dist', 'src/api/schema.d.ts'] },
  js.configs.recommended,
  ts.configs.strict,
  svelte.configs.recommended,
  { languageOptions: { globals: { ...globals.browser, ...globals.node } } },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: ts.parser, extraFileExtensions: ['.svelte'], svelteConfig: config } },
  },
  {
    rules: {
      // TypeScript knows what is defined.
      'no-undef': 'off',
      // Addresses are the app's own; there is no base path to resolve.
      'svelte/no-navigation-without-resolve': 'off',
      // Plain maps are meant where they are used: who shows them watches a counter or a raw value instead.
      'svelte/prefer-svelte-reactivity': 'off',
      // A space as an expression is kept where Svelte would trim one.
      'svelte/no-useless-mustaches': 'off',
    },
  },
);
