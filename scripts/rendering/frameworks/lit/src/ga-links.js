import { html, LitElement } from "lit";

class GaLinks extends LitElement {
  static properties = { items: { attribute: false } };

  render() {
    return html`<ul>
      ${this.items.map((item) => html`<li><a href=${item.href}>${item.title}</a></li>`)}
    </ul>`;
  }
}

customElements.define("ga-links", GaLinks);
