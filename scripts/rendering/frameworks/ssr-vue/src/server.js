import { renderToString } from "vue/server-renderer";
import { createMemoryHistory } from "vue-router";
import { makeApp } from "./app.js";
import { documentTitle } from "./shared/page.js";

export async function render(page) {
  const { app, router } = makeApp(page, createMemoryHistory());
  await router.push(page.path);
  return { title: documentTitle(page), html: await renderToString(app) };
}
