import { css, html, LitElement } from "lit";

const kinds = {
  p: (b) => html`<p>${b.text}</p>`,
  h2: (b) => html`<h2>${b.text}</h2>`,
  ul: (b) => html`<ul>${b.items.map((item) => html`<li>${item}</li>`)}</ul>`,
  table: (b) => html`<table>
    <thead><tr>${b.head.map((cell) => html`<th>${cell}</th>`)}</tr></thead>
    <tbody>
      ${b.rows.map((row) => html`<tr>${row.map((cell) => html`<td>${cell}</td>`)}</tr>`)}
    </tbody>
  </table>`,
  teasers: (b) => html`<ul class="teasers">
    ${b.items.map((item) => html`<li>
      <h3><a href=${item.href}>${item.title}</a></h3>
      <p>${item.teaser}</p>
    </li>`)}
  </ul>`,
};

class GaBlock extends LitElement {
  static properties = { block: { attribute: false } };
  static styles = css`
    :host { display: block; }
    th, td { border: 1px solid #bbb; padding: 0.3rem 0.6rem; text-align: left; }
  `;

  render() {
    return kinds[this.block.type](this.block);
  }
}

customElements.define("ga-block", GaBlock);
