/** The environment the tests' processes are configured from. */

export const testWebhookSecret = "whsec_secret-of-the-tests";

/** Nothing outside is reached unless `variables` name it: the credentials are of no use and the addresses answer nobody. */
export function testEnvironment(database: { applicationUrl: string }, variables: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  return {
    DATABASE_URL: database.applicationUrl,
    SECRET_KEY: "a key of the tests, long enough to sign with",
    STRIPE_SECRET_KEY: "sk_test_of_the_tests",
    STRIPE_WEBHOOK_SECRET: testWebhookSecret,
    STRIPE_API_URL: "http://127.0.0.1:9",
    SMTP_URL: "smtp://127.0.0.1:9",
    PUBLIC_URL: "http://127.0.0.1:3000",
    LOG_LEVEL: "silent",
    ...variables,
  };
}
