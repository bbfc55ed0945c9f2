/** The environment variables that configure the processes under test. */

export const testWebhookSecret = "whsec_secret-of-the-tests";

/** No outside service can be reached unless `variables` name it: the credentials are invalid and no server listens on the ports. */
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
