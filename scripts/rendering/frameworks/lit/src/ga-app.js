import { css, html, LitElement } from "lit";
import { site } from "./shared/page.js";
import "./ga-links.js";
import "./ga-page.js";

class GaApp extends LitElement {
  static properties = { path: { state: true } };
  static styles = css`
    header, nav, footer { display: block; padding: 0.5rem 2rem; }
    header { background: #5a4420; color: #fff; }
    header a { color: #fff; font-size: 1.8rem; }
    .columns { display: flex; gap: 2rem; padding: 1rem 2rem; }
    aside { flex: 1; }
  `;

  constructor() {
    super();
    this.path = location.pathname;
    addEventListener("popstate", () => { this.path = location.pathname; });
  }

  // Links sit in nested shadow roots: look along the whole way of the event.
  follow(event) {
    const link = event.composedPath().find((node) => node.localName === "a");
    if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    history.pushState(null, "", link.href);
    this.path = location.pathname;
    scrollTo(0, 0);
  }

  render() {
    return html`<div @click=${this.follow}>
      <header data-part="template">
        <a href="/">${site.name}</a>
        <p>${site.tagline}</p>
      </header>
      <nav data-part="template"><ga-links .items=${site.nav}></ga-links></nav>
      <div class="columns">
        <ga-page .path=${this.path}></ga-page>
        <aside data-part="template">
          <h2>${site.popularTitle}</h2>
          <ga-links .items=${site.popular}></ga-links>
        </aside>
      </div>
      <footer data-part="template">${site.footer.map((line) => html`<p>${line}</p>`)}</footer>
    </div>`;
  }
}

customElements.define("ga-app", GaApp);
