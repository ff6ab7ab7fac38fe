// A router of a few lines: the path as state, and links that change it.
export const route = $state({ path: location.pathname });

addEventListener("popstate", () => { route.path = location.pathname; });

export function follow(event) {
  const link = event.target.closest("a[href]");
  if (!link || link.origin !== location.origin) return;
  if (event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  history.pushState(null, "", link.href);
  route.path = location.pathname;
  scrollTo(0, 0);
}
