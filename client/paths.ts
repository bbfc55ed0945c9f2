/** Every address of the product (spec §2), so that none is written twice. */
export const paths = {
  home: "/",
  auth: "/auth",
  profile: "/profile",
  accountSection: "/profile/:section",
  aiModels: "/ai-models",
  pricing: "/pricing",
  about: "/about",
  contact: "/contact",
  marketing: "/marketing",
  contentCreation: "/content-creation",
  imageGeneration: "/image-generation",
  gettingStarted: "/getting-started",
  smallBusinessAi: "/small-business-ai",
  blog: "/blog",
  terms: "/terms",
  privacy: "/privacy",
  offline: "/offline",
  admin: "/admin",
  adminPlace: "/admin/*?",
  design: "/design",
} as const;

/** For people without an account: the sign-in form would greet them as if they had one. */
export const signUpPath = `${paths.auth}?mode=sign-up`;
export const recoverPath = `${paths.auth}?mode=recover`;
