import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { formatBytes } from "#client/lib/format-bytes.ts";
import type { Room } from "#client/offline/kept-pages.ts";
import { readRoom } from "#client/offline/kept-pages.ts";
import styles from "./room.module.css";

const tiles = 24;

/** How much of the available storage is used, as a row of tiles; at least one is filled if anything is kept. */
function RoomTiles({ room }: { room: Room }) {
  const laid = Math.ceil((room.usedBytes / room.quotaBytes) * tiles);
  return (
    <svg className={styles.tiles} viewBox={`0 0 ${tiles * 10 - 1} 9`} aria-hidden="true">
      {[...Array(tiles).keys()].map((index) => (
        <rect key={index} x={index * 10} width="9" height="9" className={index < laid ? styles.laid : styles.open} />
      ))}
    </svg>
  );
}

/** The storage used; undefined until the browser has answered, null if it does not tell. A change of `of` reads it again. */
export function useRoom(of: unknown): Room | null | undefined {
  const [room, setRoom] = useState<Room | null>();
  useEffect(() => {
    if (of === undefined) return;
    readRoom().then(
      (found) => setRoom(found && found.quotaBytes > 0 ? found : null),
      () => setRoom(null),
    );
  }, [of]);
  return room;
}

export function RoomLine({ room }: { room: Room }) {
  const { t, i18n } = useTranslation("offline");
  const used = formatBytes(room.usedBytes, i18n.language);
  const quota = formatBytes(room.quotaBytes, i18n.language);
  return (
    <div className={styles.room}>
      <RoomTiles room={room} />
      <p>{t("room.used", { used, quota })}</p>
      <p className={styles.note}>{t(room.persisted ? "room.persisted" : "room.temporary")}</p>
    </div>
  );
}
