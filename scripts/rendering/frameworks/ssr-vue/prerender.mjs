// Fills the built index.html once for every page.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { render } from "./server/server.js";

const shell = readFileSync("dist/index.html", "utf8");
const pages = JSON.parse(readFileSync("src/shared/all.json", "utf8"));
const escape = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

for (const page of Object.values(pages)) {
  const { title, html } = await render(page);
  const text = shell
    .replace("<!--title-->", () => escape(title))
    .replace("<!--app-->", () => html)
    .replace("<!--page-->", () => JSON.stringify(page).replaceAll("<", "\\u003c"));
  mkdirSync(`dist${page.path}`, { recursive: true });
  writeFileSync(`dist${page.path}/index.html`, text);
}
