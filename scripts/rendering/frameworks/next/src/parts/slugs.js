// Used at build time only, so that a file is made for each path.
import pages from "../shared/all.json";

export const slugs = (kind) =>
  Object.keys(pages)
    .map((path) => path.split("/"))
    .filter(([, first]) => first === kind)
    .map(([, , slug]) => ({ slug }));
