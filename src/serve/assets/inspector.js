"use strict";

// Keys: 1 to 4 choose a view, j and k the next page and the one before, / the search.
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select");
  if ((typing && typing.type !== "radio") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/") {
    event.preventDefault();
    document.getElementById("find").focus();
    return;
  }
  // In a form of labels, a letter labels the block in focus, and the next one gets the focus.
  const block = event.target.closest("form.label li");
  const choice = block && block.querySelector(`input[value="${CSS.escape(event.key)}"]`);
  if (choice) {
    choice.checked = true;
    choice.dispatchEvent(new Event("change", { bubbles: true }));
    const next = block.nextElementSibling;
    (next ? next.querySelector("input:checked") : choice).focus();
    return;
  }
  const link = document.querySelector(`a[data-key="${CSS.escape(event.key)}"]`);
  if (link) link.click();
});

// A click on a block gives it the focus; a block has the color of its label.
for (const form of document.querySelectorAll("form.label")) {
  form.addEventListener("click", (event) => {
    const legend = event.target.closest("legend");
    if (legend) legend.parentElement.querySelector("input:checked").focus();
  });
  form.addEventListener("change", (event) => {
    event.target.closest("li").dataset.kind = event.target.parentElement.dataset.kind;
  });
}

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
