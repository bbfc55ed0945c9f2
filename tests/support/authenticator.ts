/** A passkey in software: makes and signs what an authenticator and a browser would, and can be told to lie. */
import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import type { Assertion, Registration, RegistrationOptions, SignInOptions } from "#contract/auth/passkeys.ts";

type Cbor = number | string | Buffer | Map<number | string, Cbor>;

function head(major: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(major << 5) | length]);
  if (length < 256) return Buffer.from([(major << 5) | 24, length]);
  return Buffer.from([(major << 5) | 25, length >> 8, length & 0xff]);
}

/** The part of CBOR (RFC 8949) that attestations and COSE keys need. */
function encode(value: Cbor): Buffer {
  if (typeof value === "number") return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === "string") return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  return Buffer.concat([head(5, value.size), ...[...value].flatMap(([key, item]) => [encode(key), encode(item)])]);
}

const sha256 = (data: string | Buffer) => createHash("sha256").update(data).digest();
const base64url = (data: string | Buffer) => Buffer.from(data).toString("base64url");
const flags = { present: 0x01, verified: 0x04, mayBeBackedUp: 0x08, backedUp: 0x10, attested: 0x40 };

/** What differs from an honest answer. */
export interface Lies {
  origin?: string;
  rpId?: string;
  /** The person was there, but did not show the device who they are. */
  unverified?: boolean;
  crossOrigin?: boolean;
  /** The signature counter; by default it increases, or stays 0 for an authenticator that doesn't count. */
  counter?: number;
  challenge?: string;
  userHandle?: string;
  /** The format of the attestation; by default there is none. */
  format?: string;
  type?: string;
}

export interface SoftPasskey {
  id: string;
  register(options: RegistrationOptions, lies?: Lies): Registration;
  sign(options: SignInOptions, lies?: Lies): Assertion;
}

interface Kind {
  /** The origin that a browser would send is the page's. */
  origin: string;
  counts?: boolean;
  synced?: boolean;
  transports?: string[];
}

export function createPasskey({ origin, counts = false, synced = false, transports = ["internal"] }: Kind): SoftPasskey {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { x = "", y = "" } = publicKey.export({ format: "jwk" });
  const id = randomBytes(16);
  let userHandle = base64url(randomBytes(16));
  let counter = 0;

  const clientData = (type: string, challenge: string, lies: Lies) =>
    Buffer.from(
      JSON.stringify({
        type: lies.type ?? type,
        challenge: lies.challenge ?? challenge,
        origin: lies.origin ?? origin,
        crossOrigin: lies.crossOrigin ?? false,
      }),
    );
  function authenticatorData(rpId: string, lies: Lies, attested = Buffer.alloc(0)): Buffer {
    if (counts) counter += 1;
    const count = Buffer.alloc(4);
    count.writeUInt32BE(lies.counter ?? counter);
    const set = [
      flags.present,
      lies.unverified ? 0 : flags.verified,
      synced ? flags.mayBeBackedUp | flags.backedUp : 0,
      attested.length > 0 ? flags.attested : 0,
    ].reduce((sum, flag) => sum | flag);
    return Buffer.concat([sha256(lies.rpId ?? rpId), Buffer.from([set]), count, attested]);
  }

  return {
    id: base64url(id),
    register(options, lies = {}) {
      userHandle = options.user.id;
      // A COSE key for ES256 (RFC 9053, §2.1 and §7.1).
      const key = encode(
        new Map<number, Cbor>([
          [1, 2],
          [3, -7],
          [-1, 1],
          [-2, Buffer.from(x, "base64url")],
          [-3, Buffer.from(y, "base64url")],
        ]),
      );
      const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, key]);
      const attestation = new Map<string, Cbor>([
        ["fmt", lies.format ?? "none"],
        ["attStmt", new Map()],
        ["authData", authenticatorData(options.rp.id, lies, attested)],
      ]);
      const response = {
        clientDataJSON: base64url(clientData("webauthn.create", options.challenge, lies)),
        attestationObject: base64url(encode(attestation)),
        transports,
      };
      return { id: base64url(id), rawId: base64url(id), type: "public-key", response };
    },
    sign(options, lies = {}) {
      const client = clientData("webauthn.get", options.challenge, lies);
      const data = authenticatorData(options.rpId, lies);
      const signature = sign("sha256", Buffer.concat([data, sha256(client)]), privateKey);
      const response = {
        clientDataJSON: base64url(client),
        authenticatorData: base64url(data),
        signature: base64url(signature),
        userHandle: lies.userHandle ?? userHandle,
      };
      return { id: base64url(id), rawId: base64url(id), type: "public-key", response };
    },
  };
}
