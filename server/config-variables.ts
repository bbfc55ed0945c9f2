/**
 * What an admin may see of the environment. Only the variables listed here are shown with their values. Every other one counts as a secret: the
 * panel only says whether it is set. So the value of a variable that somebody forgets to list here is not shown.
 */
import { providers } from "#domain/models.ts";
import { apiPoolSize, type Config } from "./config.ts";

export interface Variable {
  name: string;
  isSet: boolean;
  isSecret: boolean;
  value: string | null;
}

type Shown = string | number | undefined;

/** Protocol, host and port: path, query and user may hold a key. */
function placeOf(address: string | URL | undefined): Shown {
  if (address === undefined) return undefined;
  const { protocol, host } = new URL(address);
  return `${protocol}//${host}`;
}

const list = (items: readonly string[]) => (items.length === 0 ? undefined : items.join(", "));
const asGiven =
  (name: string) =>
  ({ environment }: Config) =>
    environment.text(name);

const shown: Readonly<Record<string, (config: Config) => Shown>> = {
  NODE_ENV: asGiven("NODE_ENV"),
  HOST: ({ host }) => host,
  PORT: ({ port }) => port,
  PUBLIC_URL: ({ publicUrl }) => publicUrl.origin,
  TRUSTED_PROXIES: ({ trustedProxies }) => list(trustedProxies),
  CONNECTIONS_PER_ADDRESS: ({ connectionsPerAddress }) => connectionsPerAddress,
  DRAIN_TIMEOUT_SECONDS: ({ drainTimeoutMs }) => drainTimeoutMs / 1_000,
  LOG_LEVEL: ({ logLevel }) => logLevel,
  DATABASE_URL: ({ databaseUrl }) => placeOf(databaseUrl),
  DATABASE_POOL_SIZE: ({ databasePoolSize }) => databasePoolSize ?? apiPoolSize,
  REDIS_URL: ({ redisUrl }) => placeOf(redisUrl),
  ADMIN_EMAILS: ({ adminEmails }) => list(adminEmails),
  STRIPE_TAX: ({ stripe }) => stripe.tax,
  STRIPE_API_URL: ({ stripe }) => placeOf(stripe.apiUrl),
  SMTP_URL: ({ mail }) => placeOf(mail.smtpUrl),
  MAIL_FROM: ({ mail }) => mail.from,
  CONTACT_EMAIL: ({ contactEmail }) => contactEmail,
  POSTAL_ADDRESS: ({ postalAddress }) => postalAddress,
  GOOGLE_CLIENT_ID: ({ google }) => google?.clientId,
  GOOGLE_ISSUER: ({ google }) => placeOf(google?.issuer),
  ...Object.fromEntries(
    providers.map((provider) => [`${provider.toUpperCase()}_BASE_URL`, ({ models }: Config) => placeOf(models[provider]?.baseUrl)]),
  ),
  MODELS_FILE: asGiven("MODELS_FILE"),
  OWN_MODELS_FILE: asGiven("OWN_MODELS_FILE"),
  DATA_DIR: asGiven("DATA_DIR"),
  STORAGE_DIR: ({ storageDir, storageBucket }) => (storageBucket ? undefined : storageDir),
  STORAGE_S3_BUCKET: ({ storageBucket }) => storageBucket?.name,
  STORAGE_S3_ENDPOINT: ({ storageBucket }) => placeOf(storageBucket?.endpoint),
  STORAGE_S3_REGION: ({ storageBucket }) => storageBucket?.region,
  STORAGE_S3_PATH_STYLE: ({ storageBucket }) => storageBucket && (storageBucket.pathStyle ? "on" : "off"),
  SANDBOX_URL: ({ sandbox }) => placeOf(sandbox?.url),
  SANDBOX_GOOGLE_URL: ({ google, sandbox }) => (sandbox ? placeOf(google?.issuer) : undefined),
  CLIENT_DIR: ({ clientDir }) => clientDir,
  WORKER_HEALTH_FILE: ({ workerHealthFile }) => workerHealthFile,
  TESSERA_FAULT_POINT: ({ faultPoint }) => faultPoint,
};

/** The variables that this process has read, with the values in use, sorted by name. */
export function describeVariables(config: Config): Variable[] {
  const byName = [...config.environment.asked].sort(([one], [other]) => (one < other ? -1 : 1));
  return byName.map(([name, isSet]) => {
    const value = Object.hasOwn(shown, name) ? shown[name]?.(config) : undefined;
    return { name, isSet, isSecret: !Object.hasOwn(shown, name), value: value === undefined ? null : String(value) };
  });
}
