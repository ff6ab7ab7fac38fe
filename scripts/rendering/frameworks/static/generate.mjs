// Writes every page as plain HTML without any script: what the other sites should show.
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const read = (name) => JSON.parse(readFileSync(join("src/shared", name), "utf8"));
const site = read("site.json");
const pages = Object.values(read("all.json"));

const marks = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const esc = (text) => text.replace(/[&<>"]/g, (mark) => marks[mark]);
const element = (name) => (inner) => `<${name}>${inner}</${name}>`;
const many = (list, make) => list.map(make).join("\n");
const anchor = ({ href, title }) => `<a href="${esc(href)}">${esc(title)}</a>`;
const links = (list) => `<ul>\n${many(list, (l) => `<li>${anchor(l)}</li>`)}\n</ul>`;
const row = (cell) => (cells) => `<tr>${cells.map(esc).map(element(cell)).join("")}</tr>`;

const block = {
  p: (b) => `<p>${esc(b.text)}</p>`,
  h2: (b) => `<h2>${esc(b.text)}</h2>`,
  ul: (b) => `<ul>\n${many(b.items, (i) => `<li>${esc(i)}</li>`)}\n</ul>`,
  table: (b) =>
    `<table>\n<thead>${row("th")(b.head)}</thead>\n<tbody>\n${many(b.rows, row("td"))}\n</tbody>\n</table>`,
  teasers: (b) =>
    `<ul class="teasers">\n${many(b.items, (i) => `<li><h3>${anchor(i)}</h3><p>${esc(i.teaser)}</p></li>`)}\n</ul>`,
};

const html = (page) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${esc(page.path === "/" ? site.name : `${page.title} - ${site.name}`)}</title>
<link rel="stylesheet" href="/style.css">
</head>
<body>
<header data-part="template">
<a href="/">${esc(site.name)}</a>
<p>${esc(site.tagline)}</p>
</header>
<nav data-part="template">
${links(site.nav)}
</nav>
<div class="columns">
<div class="content">
<main data-part="main">
<h1>${esc(page.title)}</h1>
${page.byline ? `<p class="byline">${esc(page.byline)}</p>\n` : ""}${many(page.blocks, (b) => block[b.type](b))}
</main>
${page.related ? `<section data-part="template">
<h2>${esc(site.relatedTitle)}</h2>
${links(page.related)}
</section>
` : ""}</div>
<aside data-part="template">
<h2>${esc(site.popularTitle)}</h2>
${links(site.popular)}
</aside>
</div>
<footer data-part="template">
${many(site.footer, (line) => `<p>${esc(line)}</p>`)}
</footer>
</body>
</html>
`;

for (const page of pages) {
  const file = page.path === "/" ? "dist/index.html" : `dist${page.path}/index.html`;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, html(page));
}
copyFileSync("src/shared/style.css", "dist/style.css");
