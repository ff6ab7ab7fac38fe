import Alpine from "alpinejs";
import { loadPage } from "./shared/load.js";
import { documentTitle, site } from "./shared/page.js";

Alpine.data("almanac", () => ({
  site,
  page: null,

  init() {
    this.go();
  },

  async go() {
    const path = location.pathname;
    this.page = null;
    const page = await loadPage(path);
    if (path !== location.pathname) return;
    document.title = documentTitle(page);
    this.page = page;
  },

  follow(event) {
    const link = event.target.closest("a[href]");
    if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    history.pushState(null, "", link.href);
    scrollTo(0, 0);
    this.go();
  },
}));

Alpine.start();
