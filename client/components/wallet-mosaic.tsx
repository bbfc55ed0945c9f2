import { Lock } from "lucide-react";
import { useTranslation } from "react-i18next";
import { useFormat } from "#client/lib/use-format.ts";
import { useSentences } from "#client/lib/use-sentences.ts";
import type { GrantKind } from "#domain/credits.ts";
import { spendableKinds } from "#domain/credits.ts";
import { classNames } from "./class-names.ts";
import { columnsOfTiles, columnsSize } from "./tile-field.ts";
import type { FieldGrant } from "./wallet-field.ts";
import { creditsPerTile, inSpendingOrder, tilesOf, warmth } from "./wallet-field.ts";
import styles from "./wallet-mosaic.module.css";

interface WalletGrant extends FieldGrant {
  id: string;
  kind: GrantKind;
}

interface WalletMosaicProps {
  grants: readonly WalletGrant[];
  /** Business time from the server, which decides what expires soon. */
  now: Date;
  /** When a plan that is not renewed ends, and its credits with it. */
  planEndsAt?: string | null;
  /** Without a plan some kinds of grants are locked: they stay, but can't be spent. */
  hasPlan?: boolean;
}

const rows = 5;

/**
 * Says until when a grant is valid. A plan's credits are replaced when the next ones arrive; their own expiry is a day later,
 * in case a renewal takes long. If no more credits come they expire with the plan, which for an annual plan can be months
 * later.
 */
function useUntil(planEndsAt: string | null): (grant: WalletGrant) => string {
  const { t } = useTranslation("wallet");
  const { date } = useFormat();
  return ({ kind, expiresAt }) => {
    if (kind !== "plan") return t("until", { date: date(expiresAt) });
    const isLast = planEndsAt !== null && Date.parse(planEndsAt) <= Date.parse(expiresAt);
    return isLast ? t("until", { date: date(planEndsAt) }) : t("untilPlan", { date: date(expiresAt) });
  };
}

/**
 * The wallet as a mosaic: every grant is a field of tiles, numbered in the order of spending. What expires first is at the edge in a
 * warmer colour; spent tiles are outlines. Grants that are locked come last and have no number.
 */
export function WalletMosaic({ grants, now, planEndsAt = null, hasPlan = true }: WalletMosaicProps) {
  const { t } = useTranslation("wallet");
  const format = useFormat();
  const sentences = useSentences();
  const perTile = creditsPerTile(grants);
  const until = useUntil(planEndsAt);
  const kinds = spendableKinds(hasPlan, true);
  const isLocked = ({ kind }: WalletGrant) => !kinds.includes(kind);
  const ordered = inSpendingOrder(grants);
  const open = ordered.filter((grant) => !isLocked(grant));
  // A locked grant with nothing left, for example because it was taken back, is not shown.
  const locked = ordered.filter((grant) => isLocked(grant) && grant.remaining > 0);
  if (open.length + locked.length === 0) return null;
  return (
    <figure className={styles.wallet}>
      <ol className={styles.fields}>
        {[...open, ...locked].map((grant, place) => (
          <li key={grant.id} className={classNames(styles.grant, isLocked(grant) && styles.locked)}>
            <Field grant={grant} perTile={perTile} now={now} />
            <p className={styles.kind}>
              {isLocked(grant) && <Lock className={styles.lock} size={14} aria-hidden="true" />}
              {!isLocked(grant) && open.length > 1 && <span className={styles.place}>{place + 1}</span>}
              {t(`kind.${grant.kind}`)}
            </p>
            <p className={styles.text}>
              {t("remaining", { remaining: format.number(Math.max(0, grant.remaining)), credits: format.number(grant.credits) })}
            </p>
            {grant.held > 0 && <p className={styles.text}>{t("held", { held: format.number(grant.held) })}</p>}
            <p className={styles.text}>{until(grant)}</p>
            {isLocked(grant) && <p className={styles.text}>{t("locked")}</p>}
            {grant.kind === "trial" && !hasPlan && <p className={styles.text}>{t("smallOnly")}</p>}
          </li>
        ))}
      </ol>
      <figcaption className={styles.scale}>
        {sentences(t("scale", { count: perTile, formatted: format.number(perTile) }), open.length > 1 && t("order"))}
      </figcaption>
    </figure>
  );
}

function Field({ grant, perTile, now }: { grant: WalletGrant; perTile: number; now: Date }) {
  const tiles = tilesOf(grant, perTile);
  const spent = tiles.all - tiles.free - tiles.held;
  const { width, height } = columnsSize(tiles.all, rows);
  return (
    <svg
      className={classNames(styles.field, styles[warmth(grant.expiresAt, now)])}
      viewBox={`0 0 ${width} ${height}`}
      width={width * 1.5}
      height={height * 1.5}
      aria-hidden="true"
    >
      <path className={styles.spent} d={columnsOfTiles(spent, rows)} />
      <path className={styles.held} d={columnsOfTiles(tiles.held, rows, spent)} />
      <path className={styles.left} d={columnsOfTiles(tiles.free, rows, spent + tiles.held)} />
    </svg>
  );
}
