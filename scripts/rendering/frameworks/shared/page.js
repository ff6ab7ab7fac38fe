// Small helpers that do not depend on where the data comes from.
import site from "./site.json";

export { site };

export const documentTitle = (page) =>
  page.path === "/" ? site.name : `${page.title} - ${site.name}`;

export const notFound = {
  path: "",
  title: "Page not found",
  blocks: [{ type: "p", text: "There is no such page in the almanac." }],
};
