// Fetches the data of one page at run time.
import { notFound } from "./page.js";

export async function getJson(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${response.status} for ${url}`);
  return response.json();
}

let lists;

export async function loadPage(path) {
  try {
    const slug = /^\/articles\/([\w-]+)$/.exec(path)?.[1];
    if (slug) return await getJson(`/data/articles/${slug}.json`);
    lists ??= getJson("/data/index.json");
    return (await lists)[path] ?? notFound;
  } catch {
    lists = undefined;
    return notFound;
  }
}
