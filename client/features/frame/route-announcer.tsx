import { useEffect, useState } from "react";
import { useLocation } from "wouter";
import { VisuallyHidden } from "#client/components/visually-hidden.tsx";

/**
 * Announces the title of a new page. The heading gets the focus too, but not every screen reader announces a focus change made
 * by a script. It says nothing on the first page, which the browser announces.
 */
export function RouteAnnouncer() {
  const [location] = useLocation();
  const [arrival, setArrival] = useState({ location, title: "" });

  useEffect(() => {
    if (location === arrival.location) return;
    // The title changes once the page's chunk is loaded. If two pages have the same title, it never changes.
    const settle = () => setArrival({ location, title: document.title });
    const watcher = new MutationObserver(settle);
    watcher.observe(document.head, { childList: true, subtree: true, characterData: true });
    const timer = setTimeout(settle, 1_500);
    return () => {
      watcher.disconnect();
      clearTimeout(timer);
    };
  }, [location, arrival.location]);

  return (
    <div role="status">
      <VisuallyHidden>{arrival.title}</VisuallyHidden>
    </div>
  );
}
