import { useEffect, useState } from "react";
import { useLocation } from "wouter";
import { VisuallyHidden } from "#client/components/visually-hidden.tsx";

/**
 * Says the title of the page one has come to. The heading takes the focus as well, but not every screen reader speaks a
 * focus that nobody moved. Silent on the first page, which the browser announces itself.
 */
export function RouteAnnouncer() {
  const [location] = useLocation();
  const [arrival, setArrival] = useState({ location, title: "" });

  useEffect(() => {
    if (location === arrival.location) return;
    // The title follows once the page's chunk is there; a page that shares the former's title never changes it.
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
