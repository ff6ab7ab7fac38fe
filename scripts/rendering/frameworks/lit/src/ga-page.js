import { css, html, LitElement, nothing } from "lit";
import { loadPage } from "./shared/load.js";
import { documentTitle, site } from "./shared/page.js";
import "./ga-block.js";
import "./ga-links.js";

class GaPage extends LitElement {
  static properties = { path: {}, page: { state: true } };
  static styles = css`
    :host { display: block; flex: 3; max-width: 46rem; }
    .byline { color: #666; font-style: italic; }
  `;

  async willUpdate(changed) {
    if (!changed.has("path")) return;
    const { path } = this;
    this.page = undefined;
    const page = await loadPage(path);
    if (path !== this.path) return;
    document.title = documentTitle(page);
    this.page = page;
  }

  render() {
    const { page } = this;
    if (!page) return nothing;
    return html`
      <main data-part="main">
        <h1>${page.title}</h1>
        ${page.byline ? html`<p class="byline">${page.byline}</p>` : nothing}
        ${page.blocks.map((block) => html`<ga-block .block=${block}></ga-block>`)}
      </main>
      ${page.related
        ? html`<section data-part="template">
            <h2>${site.relatedTitle}</h2>
            <ga-links .items=${page.related}></ga-links>
          </section>`
        : nothing}
    `;
  }
}

customElements.define("ga-page", GaPage);
