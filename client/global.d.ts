/** Set by vite.config.ts. */
declare const __DESIGN_PAGE__: boolean;
