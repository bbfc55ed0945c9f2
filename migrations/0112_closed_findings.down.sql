drop index findings_closed;
