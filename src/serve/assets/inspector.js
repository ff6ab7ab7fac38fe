"use strict";

// Keys: 1 to 4 choose a view, j and k the next page and the one before, / the search.
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select");
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") {
    event.preventDefault();
    document.getElementById("find").focus();
    return;
  }
  const link = document.querySelector(`a[data-key="${CSS.escape(event.key)}"]`);
  if (link) link.click();
});

// A run at work: its counts, as the server sends them.
const live = document.querySelector("[data-live]");
if (live) {
  const events = new EventSource(live.dataset.live);
  events.onmessage = (message) => {
    const run = JSON.parse(message.data);
    for (const place of live.querySelectorAll("[data-count]")) {
      const n = run[place.dataset.count];
      if (typeof n === "number") place.textContent = n.toLocaleString("en-US");
    }
    if (run.outcome) {
      events.close();
      location.reload();
    }
  };
}
